"""Settings of the environment: their defaults, and the errors for bad ones."""

import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from click import ClickException
from helpers import PROJECT, copy_project, database_url, side_by_side, subprocess_args
from sqlalchemy import make_url

import settings
from app import create_app
from models import db
from settings import SettingsError, load_environment, read_settings

COMMANDS = ["app.py", "seed.py", "-m flask keys list"]  # as they follow "python"


def test_variables_that_are_empty_or_missing_have_defaults():
    assert read_settings({}) == {
        "DATABASE_URL": "sqlite:///articles.db",
        "HOST": "127.0.0.1",
        "PORT": 8000,
        "THREADS": 4,
        "CACHE_MB": 64,
        "CORS_ORIGINS": (),
        "SITE_URL": "",
        "TIMEZONE": UTC,
        "LOG_LEVEL": "info",
    }
    assert read_settings({"PORT": "", "HOST": "", "DATABASE_URL": "", "PATH": "/bin"}) == read_settings({})


@pytest.fixture
def env_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of the `.env` that this process reads, in an empty folder."""
    path = tmp_path / ".env"
    monkeypatch.setattr(settings, "ENV_FILE", path)
    monkeypatch.delenv("FLASK_SKIP_DOTENV")
    return path


def test_env_file_gives_what_is_not_set(env_file, monkeypatch):
    lines = [b"\xef\xbb\xbfHOST=::1", b"# comment", b"", b"export PORT = 1 # one", b"THREADS='2'", b"CACHE_MB="]
    env_file.write_bytes(b"\r\n".join(lines))
    monkeypatch.setenv("PORT", "9")
    monkeypatch.setenv("THREADS", "")
    changed = {"HOST": "::1", "PORT": 9, "THREADS": 2}
    assert read_settings(load_environment()) == read_settings({}) | changed


UNREADABLE = {
    b"PORT 8000": ", line 1, ",
    b"PORT=1\n\n\nHOST\nTHREADS=2": ", line 4, ",
    b"HOST=x\r\n\r\n'PORT=secret\r\n": ", line 3, ",
    b"# PORT\nHOST=PORT\nPORT\n": ", line 3, ",
    b'PORT=1\nHOST="secret\n': ", line 2, ",
    "PORT=1\n# Größe secret".encode("latin-1"): " cannot be read (it is not UTF-8 text)",
    "PORT=1\n".encode("utf-16"): " cannot be read (it is not UTF-8 text)",
    None: " cannot be read (",
}


@pytest.mark.parametrize(("content", "message"), UNREADABLE.items())
def test_env_file_with_a_mistake_is_refused(env_file, content, message):
    """Without content it is a folder."""
    if content is None:
        env_file.mkdir()
    else:
        env_file.write_bytes(content)
    with pytest.raises(ClickException) as raised:
        create_app()
    assert raised.value.message.startswith(f"{env_file}{message}")
    assert "secret" not in raised.value.message
    assert "\n" not in raised.value.message


def test_other_names_are_allowed_in_env_file(env_file):
    names = "SOURCE_API_KEY DEMO_KEY FLASK_APP FLASK_DEBUG POSTGRES_PASSWORD DATABASE_USER DB_HOST TEST_DATABASE_URL TZ"
    env_file.write_text("".join(f"{name}=x\n" for name in names.split()))
    assert read_settings(load_environment()) == read_settings({})


def test_configuration_is_checked_as_the_environment_is(database, monkeypatch):
    monkeypatch.setenv("THREADS", "9")
    url = database_url(database)
    for name in ("DATABASE_URL", "SQLALCHEMY_DATABASE_URI"):
        for config in (
            {
                "CACHE_MB": "7",
                "PORT": "1",
                "CORS_ORIGINS": "https://a.example, http://[::1]:80,http://b",
                "THREADS": "",
            },
            {
                "CACHE_MB": 7,
                "PORT": 1,
                "THREADS": "",
                "CORS_ORIGINS": ["https://a.example", "http://[::1]:80", "http://b"],
            },
        ):
            app = create_app({name: url, "TESTING": True} | config)
            found = {setting: app.config[setting] for setting in ("CACHE_MB", "PORT", "CORS_ORIGINS", "THREADS")}
            origins = ["https://a.example", "http://[::1]:80", "http://b"]
            assert found == {"CACHE_MB": 7, "PORT": 1, "CORS_ORIGINS": origins, "THREADS": 9}
            assert app.config["TESTING"]
            with app.app_context():
                assert db.engine.url == make_url(url)


def test_env_example_holds_each_default(env_file):
    example = (PROJECT / ".env.example").read_text("utf-8")
    env_file.write_text(example)
    assert read_settings(load_environment()) == read_settings({})
    env_file.write_text(re.sub(r"^#(?=[A-Z])", "", example, flags=re.MULTILINE))
    values = read_settings(load_environment())
    assert list(values) == list(read_settings({}))
    assert values.pop("CORS_ORIGINS") == ["https://www.example.com", "http://localhost:3000"]
    assert values == {name: value for name, value in read_settings({}).items() if name != "CORS_ORIGINS"}


def run_all(programs: Iterable[dict[str, Any]]) -> list[subprocess.CompletedProcess[str]]:
    """Run programs side by side; return what they printed, and their exit statuses."""
    return list(side_by_side(lambda program: subprocess.run(**program, timeout=30), programs))


def assert_error(result: subprocess.CompletedProcess[str], *words: str) -> None:
    """Check that a command failed with one clear line."""
    assert (result.returncode, result.stdout) == (1, "")
    assert re.fullmatch("Error: .*\n", result.stderr)
    assert all(word in result.stderr for word in words), result.stderr
    assert "secret" not in result.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the project."""
    return copy_project(tmp_path)


@pytest.fixture
def run_copy(copy: Path, database: Path, tmp_path: Path) -> Callable[..., Any]:
    """Run programs of the copy side by side, in another folder, with a `.env` in each of both folders."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def run(own: str, other: str, *commands: str, folder: Path = elsewhere, **environment: str) -> Any:
        (copy / ".env").write_text(own)
        (elsewhere / ".env").write_text(other)
        programs = []
        for command in commands:
            option, *others = command.split()
            program = subprocess_args(database, option if option == "-m" else str(copy / option), *others)
            for name in ("DATABASE_URL", "PORT", "FLASK_SKIP_DOTENV"):
                del program["env"][name]
            program["env"] |= {"FLASK_APP": str(copy / "app.py")} | environment
            programs.append(program | {"cwd": folder})
        return run_all(programs)

    return run


@pytest.mark.sqlite
@pytest.mark.slow
def test_every_program_reads_env_file_from_anywhere(run_copy, tmp_path):
    own = f"DATABASE_URL=sqlite:///{tmp_path}/own.db\nPORT=x"
    for result in run_copy(own, "", *COMMANDS):
        assert_error(result, "PORT")
    (result,) = run_copy(own, "", "seed.py --articles 0", PORT="9000")
    assert (result.returncode, result.stderr.splitlines()[0]) == (0, f"Created the database {tmp_path}/own.db.")
    assert ":9000/" in result.stdout


@pytest.mark.sqlite
@pytest.mark.slow
def test_variable_that_is_set_wins_whoever_has_set_it(run_copy, tmp_path):
    """Flask sets the variables of a file in the working folder, and of the one that is named."""
    url = f"sqlite:///{tmp_path}/{{}}.db"
    own, other, given = (f"DATABASE_URL={url.format(name)}" for name in ("own", "other", "given"))
    (tmp_path / "given.env").write_text(given)
    create = "-m flask keys create Acme"
    cases = {
        "own": run_copy(own, "", create),
        "other": run_copy(own, other, create),
        "given": run_copy(own, other, f"-m flask -e {tmp_path}/given.env keys create Acme"),
        "set": run_copy(own, other, create, DATABASE_URL=url.format("set")),
    }
    for name, (result,) in cases.items():
        assert f"Created the database {tmp_path}/{name}.db." in result.stderr


@pytest.mark.slow
def test_unreadable_env_line_is_a_short_error_of_flask(run_copy, copy):
    """Flask's command line, which reads the file first, prints its own line."""
    for result in run_copy("HOST=x\nPORT 1\n", "", *COMMANDS, folder=copy):
        assert result.returncode == 1
        assert result.stderr.count("\n") <= 2
        assert f"Error: {copy / '.env'}, line 2, cannot be read." in result.stderr


BAD_SETTINGS = [
    ({"PORT": "eighty"}, ["PORT", "0 to 65535"]),
    ({"PORT": "65536"}, ["PORT", "0 to 65535"]),
    ({"THREADS": "0"}, ["THREADS", "1 to 64"]),
    ({"THREADS": "x", "PORT": "x"}, ["THREADS", "PORT"]),
    ({"LOG_LEVEL": "loud"}, ["LOG_LEVEL", "debug, info, warning, error"]),
    ({"SITE_URL": "www.example.com"}, ["SITE_URL", "http or https URL"]),
    ({"TIMEZONE": "Berlin"}, ["TIMEZONE", "Europe/Berlin"]),
    *(
        ({"DATABASE_URL": url}, ["DATABASE_URL", "SQLite file", "sqlite:////path/to/articles.db", "postgresql://"])
        for url in (
            "articles.db",
            "oracle9://x",
            "mysql://user:secret@db/x",
            "sqlite+aiosqlite:///articles.db",
            "postgresql+psycopg2://user:secret@db/x",
            "postgresql+psycopg://user:secret@db:port/x",
            "sqlite://",
            "sqlite:///:memory:",
            "sqlite:///file:x?mode=memory&uri=true",
            "sqlite:///articles.db?timeout=secret",
        )
    ),
]
BAD_SETTINGS += [({"CACHE_MB": value}, ["CACHE_MB"]) for value in ("x", -1, 1.5, None, True, [1])]
BAD_SETTINGS += [({"CORS_ORIGINS": value}, ["CORS_ORIGINS"]) for value in ("x", ["x"], 5, [None])]
BAD_SETTINGS += [
    ({"CORS_ORIGINS": origin}, ["CORS_ORIGINS: Must be origins as in https://www.example.com"])
    for origin in ("*", "www.example.com", "https://a.example/", "https://A.example", "https://*.example.com", ",")
]
BAD_SETTINGS += [({"HOST": 5}, ["HOST"]), ({"DATABASE_URL": 5}, ["DATABASE_URL"])]
BAD_SETTINGS += [({"SQLALCHEMY_DATABASE_URI": "x"}, ["DATABASE_URL"])]


@pytest.mark.parametrize(("config", "words"), BAD_SETTINGS, ids=str)
def test_bad_setting_is_a_one_line_error(config, words):
    with pytest.raises(SettingsError) as raised:
        create_app(config)
    assert all(word in raised.value.message for word in words), raised.value.message
    assert "\n" not in raised.value.message
    assert not re.search("secret|install", raised.value.message)


def test_missing_driver_for_postgresql_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SettingsError, match=r"DATABASE_URL: [^\n]* pip install -r requirements-postgresql.txt$"):
        create_app({"DATABASE_URL": "postgresql://user:secret@db/x"})


def test_every_program_names_what_it_cannot_use_in_one_line(database):
    bad_hosts = ("no such host", "192.0.2.1", "x" * 300, "é..x")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        cases = [(command, {"PORT": "x", "THREADS": "x"}, ["PORT", "THREADS"]) for command in COMMANDS]
        cases += [("app.py", {"HOST": host}, ["HOST", host[:50]]) for host in bad_hosts]
        reason = f"Cannot listen on HOST 127.0.0.1, PORT {port}: Address already in use."
        advice = "Set PORT to a free port, or HOST to an address of this machine."
        cases += [("app.py", {"PORT": str(port)}, [f"Error: {reason} {advice}\n"])]
        results = run_all(subprocess_args(database, *command.split(), **variables) for command, variables, _ in cases)
    for result, (_, _, words) in zip(results, cases, strict=True):
        assert_error(result, *words)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["/no/such/folder", "/proc"])
def test_folder_without_room_for_the_database_is_named(database, folder):
    url, commands = f"sqlite:///{folder}/articles.db", ("app.py", "seed.py", "-m flask keys create Acme")
    for result in run_all(subprocess_args(database, *args.split(), DATABASE_URL=url) for args in commands):
        assert_error(result, f"articles.db cannot be created in the folder {folder} (", "Set DATABASE_URL")


@pytest.mark.slow
@pytest.mark.sqlite
def test_default_database_is_a_file_beside_the_application(copy, database, tmp_path):
    def run(*arguments):
        program = subprocess_args(database, str(copy / arguments[0]), *arguments[1:], DATABASE_URL="")
        return subprocess.run(**program | {"cwd": tmp_path}, timeout=30)

    (copy / "instance").touch()  # a file in the place of the folder
    assert_error(run("app.py"), "DATABASE_URL", f"the folder {copy / 'instance'}")
    (copy / "instance").unlink()
    assert run("seed.py", "--articles", "0").returncode == 0
    assert (copy / "instance/articles.db").stat().st_size > 0


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_postgresql_urls_mean_psycopg_3(scheme):
    pytest.importorskip("psycopg")
    app = create_app({"DATABASE_URL": f"{scheme}://user@127.0.0.1:1/articles"})
    with app.app_context():
        assert (db.engine.url.get_backend_name(), db.engine.driver) == ("postgresql", "psycopg")
