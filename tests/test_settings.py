"""Settings of the environment: their defaults, and the errors for bad ones."""

import re
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click import ClickException
from helpers import (
    PROJECT,
    close,
    copy_project,
    create_application,
    create_key,
    database_url,
    run_command,
    run_sql,
    side_by_side,
    subprocess_args,
)
from sqlalchemy import make_url

import settings
from app import create_app
from models import db
from settings import SettingsError, load_environment, read_settings

COMMANDS = ["app.py", "seed.py", "-m flask keys list"]  # as they follow "python"
WRITING_COMMANDS = ["app.py", "seed.py", "-m flask keys create Acme"]


def test_defaults() -> None:
    assert read_settings({}) == {
        "DATABASE_URL": "sqlite:///articles.db",
        "HOST": "127.0.0.1",
        "PORT": 8000,
        "THREADS": 4,
        "CACHE_MB": 64,
        "CORS_ORIGINS": (),
        "LOG_LEVEL": "info",
    }


def test_empty_and_other_variables_do_not_count() -> None:
    assert read_settings({"PORT": "", "HOST": "", "DATABASE_URL": "", "PATH": "/bin"}) == read_settings({})


def test_applications_keep_their_databases_apart(database: Path) -> None:
    apps = [create_application(database.with_name(name)) for name in ("a.db", "b.db")]
    for app, customer in zip(apps, ("Acme", "Bolt"), strict=True):
        create_key(app, customer)
    listed = [run_command(app, "keys", "list").stdout for app in apps]
    assert ["Acme" in listed[0], "Bolt" in listed[0]] == [True, False]
    assert ["Acme" in listed[1], "Bolt" in listed[1]] == [False, True]
    for app in apps:
        close(app)


@pytest.mark.slow
@pytest.mark.sqlite
def test_default_database_is_a_file_beside_the_application(database: Path, tmp_path: Path) -> None:
    copy = copy_project(tmp_path)
    arguments = subprocess_args(database, str(copy / "seed.py"), "--articles", "0", DATABASE_URL="")
    result = subprocess.run(**arguments | {"cwd": tmp_path}, timeout=30)
    assert result.returncode == 0, result.stderr
    assert (copy / "instance/articles.db").stat().st_size > 0


@pytest.fixture
def env_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of the `.env` that this process reads, in an empty folder."""
    path = tmp_path / ".env"
    monkeypatch.setattr(settings, "ENV_FILE", path)
    monkeypatch.delenv("FLASK_SKIP_DOTENV")
    return path


def test_env_file_gives_what_is_not_set(env_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [b"\xef\xbb\xbfHOST=::1", b"# comment", b"", b"export PORT = 1 # one", b"THREADS='2'", b"CACHE_MB="]
    env_file.write_bytes(b"\r\n".join(lines))
    monkeypatch.setenv("PORT", "9")
    monkeypatch.setenv("THREADS", "")
    changed = {"HOST": "::1", "PORT": 9, "THREADS": 2}
    assert read_settings(load_environment()) == read_settings({}) | changed


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"PORT 8000", 1),
        (b"PORT=1\n\n\nHOST\nTHREADS=2", 4),
        (b"HOST=x\r\n\r\n'PORT=secret\r\n", 3),
        (b"# PORT\nHOST=PORT\nPORT\n", 3),
        (b'PORT=1\nHOST="secret\n', 2),
        ("PORT=1\n# Größe secret".encode("latin-1"), 2),
        ("PORT=1\n".encode("utf-16"), 1),
    ],
)
def test_unreadable_line_of_env_file_is_named(env_file: Path, content: bytes, line: int) -> None:
    env_file.write_bytes(content)
    with pytest.raises(ClickException) as raised:
        load_environment()
    assert raised.value.message.startswith(f"{env_file}, line {line}, ")
    assert "secret" not in raised.value.message
    assert "\n" not in raised.value.message


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("DATABSE_URL", "DATABASE_URL"),
        ("DATABASE_URI", "DATABASE_URL"),
        ("CORS_ORIGIN", "CORS_ORIGINS"),
        ("LOGLEVEL", "LOG_LEVEL"),
        ("PROT", "PORT"),
        ("port", "PORT"),
        ("THREAD", "THREADS"),
    ],
)
def test_name_close_to_a_setting_is_refused(env_file: Path, name: str, setting: str) -> None:
    env_file.write_text(f"HOST=x\n{name}=secret")
    with pytest.raises(ClickException) as raised:
        create_app()
    assert f"{env_file}: {name} is not a setting: did you mean {setting}?" in raised.value.message
    assert "secret" not in raised.value.message


def test_other_names_are_allowed_in_env_file(env_file: Path) -> None:
    names = "SOURCE_API_KEY DEMO_KEY FLASK_APP FLASK_DEBUG POSTGRES_PASSWORD DATABASE_USER DB_HOST TEST_DATABASE_URL TZ"
    env_file.write_text("".join(f"{name}=x\n" for name in names.split()))
    assert read_settings(load_environment()) == read_settings({})


def test_env_file_that_is_a_folder_is_an_error(env_file: Path) -> None:
    env_file.mkdir()
    with pytest.raises(ClickException, match=r"\.env cannot be read \("):
        create_app()


def test_configuration_is_checked_as_the_environment_is(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADS", "9")
    url = database_url(database)
    for name in ("DATABASE_URL", "SQLALCHEMY_DATABASE_URI"):
        for config in (
            {"CACHE_MB": "7", "PORT": "1", "CORS_ORIGINS": "https://a.example, https://b.example", "THREADS": ""},
            {"CACHE_MB": 7, "PORT": 1, "CORS_ORIGINS": ["https://a.example", "https://b.example"]},
        ):
            app = create_app({name: url, "TESTING": True} | config)
            found = {setting: app.config[setting] for setting in ("CACHE_MB", "PORT", "CORS_ORIGINS", "THREADS")}
            origins = ["https://a.example", "https://b.example"]
            assert found == {"CACHE_MB": 7, "PORT": 1, "CORS_ORIGINS": origins, "THREADS": 9}
            assert app.config["TESTING"]
            with app.app_context():
                assert db.engine.url == make_url(url)


def test_env_example_holds_each_default(env_file: Path) -> None:
    example = (PROJECT / ".env.example").read_text("utf-8")
    env_file.write_text(example)
    assert read_settings(load_environment()) == read_settings({})
    env_file.write_text(re.sub(r"^#(?=[A-Z])", "", example, flags=re.MULTILINE))
    values = read_settings(load_environment())
    assert list(values) == list(read_settings({}))
    assert values.pop("CORS_ORIGINS") == ["https://www.example.com", "http://localhost:3000"]
    assert values == {name: value for name, value in read_settings({}).items() if name != "CORS_ORIGINS"}


@pytest.fixture
def run_copy(database: Path, tmp_path: Path) -> Callable[..., Any]:
    """Run programs of a copy of the project side by side, in another folder, with a `.env` in each of both folders."""
    copy, elsewhere = copy_project(tmp_path), tmp_path / "elsewhere"
    elsewhere.mkdir()

    def run(own: str, other: str, *commands: str, folder: Path = elsewhere, **environment: str) -> Any:
        (copy / ".env").write_text(own)
        (elsewhere / ".env").write_text(other)
        programs = []
        for command in commands:
            option, *others = command.split()
            arguments = [option if option == "-m" else str(copy / option), *others]
            program = subprocess_args(database, *arguments)
            changed = program["env"] | {"FLASK_APP": str(copy / "app.py")}
            for name in ("DATABASE_URL", "PORT", "FLASK_SKIP_DOTENV"):
                del changed[name]
            programs.append(program | {"cwd": folder, "env": changed | environment})
        return list(side_by_side(lambda program: subprocess.run(**program, timeout=30), programs))

    run.copy = copy  # type: ignore[attr-defined]
    return run


@pytest.mark.sqlite
@pytest.mark.slow
def test_every_program_reads_env_file_from_anywhere(run_copy: Callable[..., Any], tmp_path: Path) -> None:
    own = f"DATABASE_URL=sqlite:///{tmp_path}/own.db\nPORT=x"
    for result in run_copy(own, "", *COMMANDS):
        assert_error((result.returncode, result.stdout, result.stderr), ["PORT"])
    (result,) = run_copy(own, "", "seed.py --articles 0", PORT="9000")
    assert (result.returncode, result.stderr.splitlines()[0]) == (0, f"Created the database {tmp_path}/own.db.")
    assert ":9000/" in result.stdout


@pytest.mark.sqlite
@pytest.mark.slow
def test_variable_that_is_set_wins_whoever_has_set_it(run_copy: Callable[..., Any], tmp_path: Path) -> None:
    url = f"DATABASE_URL=sqlite:///{tmp_path}/{{}}.db"
    given = tmp_path / "given.env"
    given.write_text(url.format("given"))
    create = "flask keys create Acme"
    cases = {  # Flask sets the variables of a file in the working folder, and of the one that is named
        "own": run_copy(url.format("own"), "", f"-m {create}"),
        "other": run_copy(url.format("own"), url.format("other"), f"-m {create}"),
        "given": run_copy(url.format("own"), url.format("other"), f"-m flask -e {given} keys create Acme"),
        "set": run_copy(
            url.format("own"), url.format("other"), f"-m {create}", DATABASE_URL=url.format("set").partition("=")[2]
        ),
    }
    for name, (result,) in cases.items():
        assert f"Created the database {tmp_path}/{name}.db." in result.stderr


@pytest.mark.slow
def test_unreadable_env_line_is_a_short_error_of_flask(run_copy: Callable[..., Any]) -> None:
    """Flask's command line, which reads the file first, prints its own line."""
    copy = run_copy.copy  # type: ignore[attr-defined]
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
    ({"DATABASE_URL": "articles.db"}, ["DATABASE_URL", "sqlite:////path/to/articles.db"]),
    ({"DATABASE_URL": "oracle9://x"}, ["DATABASE_URL"]),
    ({"DATABASE_URL": "mysql://user:secret@db/x"}, ["DATABASE_URL", "'MySQLdb'", "Install it, or use SQLite"]),
    ({"DATABASE_URL": "postgresql+psycopg2://user:secret@db/x"}, ["'psycopg2'", "pip install -r requirements-postgre"]),
    ({"DATABASE_URL": "sqlite://"}, ["DATABASE_URL", "must be a file", "sqlite:////path/to/articles.db"]),
    ({"DATABASE_URL": "sqlite:///:memory:"}, ["DATABASE_URL", "must be a file"]),
    ({"DATABASE_URL": "sqlite:///file:x?mode=memory&uri=true"}, ["DATABASE_URL", "must be a file"]),
    ({"DATABASE_URL": "postgresql+psycopg://user:secret@db:port/x"}, ["DATABASE_URL"]),
]
BAD_SETTINGS += [({"CACHE_MB": value}, ["CACHE_MB"]) for value in ("x", -1, 1.5, None, True, [1])]
BAD_SETTINGS += [({"CORS_ORIGINS": value}, ["CORS_ORIGINS"]) for value in ("x", ["x"], 5, [None])]
BAD_SETTINGS += [({"HOST": 5}, ["HOST"]), ({"DATABASE_URL": 5}, ["DATABASE_URL"])]
BAD_SETTINGS += [({"SQLALCHEMY_DATABASE_URI": "x"}, ["DATABASE_URL"])]


@pytest.mark.parametrize(("config", "words"), BAD_SETTINGS, ids=str)
def test_bad_setting_is_a_one_line_error(config: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(SettingsError) as raised:
        create_app(config)
    assert all(word in raised.value.message for word in words), raised.value.message
    assert "\n" not in raised.value.message
    assert "secret" not in raised.value.message


def run_all(database: Path, *cases: tuple[str, dict[str, str]]) -> list[tuple[int, str, str]]:
    """Run `python ARGUMENTS` with an environment for each case; return exit statuses and both outputs."""
    programs = [subprocess_args(database, *arguments.split(), **environment) for arguments, environment in cases]
    results = side_by_side(lambda program: subprocess.run(**program, timeout=30), programs)
    return [(result.returncode, result.stdout, result.stderr) for result in results]


def test_every_program_names_what_it_cannot_use_in_one_line(database: Path) -> None:
    hosts = ("no such host", "192.0.2.1", "x" * 300, "é..x")
    cases = [(arguments, {"PORT": "x", "THREADS": "x"}) for arguments in COMMANDS]
    cases += [("app.py", {"HOST": host}) for host in hosts]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        *results, port_in_use = run_all(database, *cases, ("app.py", {"PORT": str(port)}))
    for result, words in zip(results, [["PORT", "THREADS"]] * 3 + [["HOST", host[:50]] for host in hosts], strict=True):
        assert_error(result, words)
    reason = f"Cannot listen on HOST 127.0.0.1, PORT {port}: Address already in use."
    advice = "Set PORT to a free port, or HOST to an address of this machine."
    assert port_in_use == (1, "", f"Error: {reason} {advice}\n")


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_postgresql_urls_mean_psycopg_3(scheme: str) -> None:
    pytest.importorskip("psycopg")
    app = create_app({"DATABASE_URL": f"{scheme}://user@127.0.0.1:1/articles"})
    with app.app_context():
        assert db.engine.url.get_backend_name() == "postgresql"
        assert db.engine.driver == "psycopg"


@pytest.mark.slow
def test_instance_folder_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    copy = copy_project(tmp_path)
    (copy / "instance").touch()
    arguments = subprocess_args(tmp_path, str(copy / "app.py"), DATABASE_URL="")
    result = subprocess.run(**arguments, timeout=30)
    assert_error((result.returncode, result.stdout, result.stderr), ["DATABASE_URL", f"the folder {copy / 'instance'}"])


def assert_error(result: tuple[int, str, str], words: list[str]) -> None:
    """Check that a command failed with one clear line."""
    status, printed, error = result
    assert status == 1
    assert printed == ""
    assert error.startswith("Error: ")
    assert error.count("\n") == 1
    assert error.endswith("\n")
    assert all(word in error for word in words), error
    assert "secret" not in error


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["/no/such/folder", "/proc"])
def test_folder_without_room_for_the_database_is_named(database: Path, folder: str) -> None:
    environment = {"DATABASE_URL": f"sqlite:///{folder}/articles.db"}
    for result in run_all(database, *((arguments, environment) for arguments in WRITING_COMMANDS)):
        words = ["articles.db cannot be created in the folder", f"{folder} (", "Set DATABASE_URL"]
        assert_error(result, words)


@pytest.mark.slow
@pytest.mark.sqlite
def test_database_of_another_program_is_left_alone(database: Path) -> None:
    run_sql(database, "CREATE TABLE article (id INTEGER PRIMARY KEY, name TEXT)")
    before = database.read_bytes()
    for result in run_all(database, *((arguments, {}) for arguments in WRITING_COMMANDS)):
        words = [f"{database} is another program's database. Set DATABASE_URL to another one"]
        assert_error(result, words)
    assert database.read_bytes() == before
    assert list(database.parent.iterdir()) == [database]
