"""Settings: defaults, precedence, and the errors for invalid values."""

import logging
import os
import re
import socket
import subprocess
import sys
from datetime import UTC

import pytest
from click import ClickException
from click.testing import CliRunner
from helpers import PROJECT, copy_project, database_url, run_command, side_by_side, subprocess_args
from sqlalchemy import make_url

import settings
from app import create_app, main
from models import db
from settings import SettingsError, load_environment, read_settings

COMMANDS = ["app.py", "seed.py", "-m flask keys list"]  # arguments of python


@pytest.fixture
def env_file(tmp_path, monkeypatch):
    """The path of a `.env`, not yet written, that this process reads."""
    path = tmp_path / ".env"
    monkeypatch.setattr(settings, "ENV_FILE", path)
    monkeypatch.delenv("FLASK_SKIP_DOTENV")
    settings._read_env_file.cache_clear()
    return path


def test_missing_and_empty_variables_have_defaults():
    assert read_settings({"PORT": "", "HOST": "", "DATABASE_URL": "", "PATH": "/bin"}) == {
        "DATABASE_URL": "sqlite:///articles.db",
        "HOST": "127.0.0.1",
        "PORT": 8000,
        "THREADS": 4,
        "CACHE_MB": 64,
        "CORS_ORIGINS": (),
        "SITE_URL": "",
        "CUSTOMER": "",
        "TIMEZONE": UTC,
        "LOG_LEVEL": "info",
    }


def test_env_file_supplies_unset_variables(env_file, monkeypatch):
    lines = [
        b"\xef\xbb\xbfHOST=::1",
        b"# comment",
        b"",
        b"export PORT = 1 # one",
        b"THREADS='2'",
        b"CACHE_MB=",
        b"TZ=x",
    ]
    env_file.write_bytes(b"\r\n".join(lines))
    monkeypatch.setenv("PORT", "9")
    monkeypatch.setenv("THREADS", "")
    before = dict(os.environ)
    changed = {"HOST": "::1", "PORT": 9, "THREADS": 2}
    assert read_settings(load_environment()) == read_settings({}) | changed
    assert os.environ == before


def test_malformed_line_of_env_file_is_a_warning(env_file, caplog):
    env_file.write_text("PORT 8000\nTHREADS\nHOST=::1\n")
    for _ in range(2):
        assert read_settings(load_environment()) == read_settings({}) | {"HOST": "::1"}
    assert [(record.levelno, "line 1" in record.message) for record in caplog.records] == [(logging.WARNING, True)]


def test_env_file_in_another_encoding_is_an_error(env_file):
    for content in ("PORT=1\n# Größe secret".encode("latin-1"), "PORT=1\n".encode("utf-16")):
        env_file.write_bytes(content)
        with pytest.raises(ClickException) as raised:
            create_app()
        assert str(env_file) in raised.value.message
        assert not re.search("secret|\n", raised.value.message)


def test_configuration_is_validated_like_the_environment(database, monkeypatch):
    monkeypatch.setenv("THREADS", "9")
    origins = ["https://a.example:80", "http://[::1]:443", "http://b"]
    as_text = {"CACHE_MB": "7", "CORS_ORIGINS": "https://a.example:80, http://[::1]:443,http://b", "THREADS": ""}
    for name, config in (
        ("DATABASE_URL", as_text),
        ("SQLALCHEMY_DATABASE_URI", {"CACHE_MB": 7, "CORS_ORIGINS": origins}),
    ):
        app = create_app({name: database_url(database), "TESTING": True} | config)
        found = [app.config[setting] for setting in ("CACHE_MB", "CORS_ORIGINS", "THREADS", "TESTING")]
        assert found == [7, origins, 9, True]
        with app.app_context():
            assert db.engine.url == make_url(database_url(database))


def test_env_example_lists_each_default(env_file):
    example = (PROJECT / ".env.example").read_text("utf-8")
    env_file.write_text(example)
    assert read_settings(load_environment()) == read_settings({})
    settings._read_env_file.cache_clear()
    env_file.write_text(re.sub(r"^#(?=[A-Z])", "", example, flags=re.MULTILINE))
    values = read_settings(load_environment())
    assert list(values) == list(read_settings({}))
    assert values | {"CORS_ORIGINS": ()} == read_settings({})


def run_all(programs):
    """Run programs concurrently; return their results."""
    return list(side_by_side(lambda program: subprocess.run(**program, timeout=30), programs))


def assert_error(result, *words):
    """Check that a command failed with a one-line error."""
    assert (result.returncode, result.stdout) == (1, "")
    assert re.fullmatch("Error: .*\n", result.stderr)
    assert all(word in result.stderr for word in words), result.stderr
    assert "secret" not in result.stderr


@pytest.mark.sqlite
@pytest.mark.slow
def test_every_program_reads_env_file_from_anywhere(database, tmp_path):
    """Set variables take precedence, even if Flask set them from a `.env` in the working folder."""
    copy = copy_project(tmp_path)

    def program(command, **environment):
        option, *others = command.split()
        found = subprocess_args(database, option if option == "-m" else str(copy / option), *others)
        for name in ("DATABASE_URL", "PORT", "FLASK_SKIP_DOTENV"):
            del found["env"][name]
        return found | {"cwd": tmp_path, "env": found["env"] | {"FLASK_APP": str(copy / "app.py")} | environment}

    (copy / ".env").write_text(f"DATABASE_URL=sqlite:///{tmp_path}/own.db\nPORT=x")
    for result in run_all(map(program, COMMANDS)):
        assert_error(result, "PORT")
    (copy / ".env").write_text(f"PORT 1\nDATABASE_URL=sqlite:///{tmp_path}/own.db")
    (result,) = run_all([program("seed.py --articles 0", PORT="9000")])
    warning, created, *_ = result.stderr.splitlines()
    assert (result.returncode, created) == (0, f"Created the database {tmp_path}/own.db.")
    assert "line 1" in warning
    assert ":9000/" in result.stdout
    (result,) = run_all([program("-m flask keys list") | {"cwd": copy}])
    assert result.stderr.count("line 1") == 1
    create = "-m flask keys create Acme"
    (tmp_path / ".env").write_text(f"DATABASE_URL=sqlite:///{tmp_path}/other.db\nPORT=1")
    set_one = program(create, DATABASE_URL=f"sqlite:///{tmp_path}/set.db", PORT="1")
    for name, result in zip(("other", "set"), run_all([program(create), set_one]), strict=True):
        assert f"Created the database {tmp_path}/{name}.db." in result.stderr


INVALID_SETTINGS = [
    ({"PORT": "eighty"}, ["PORT", "eighty", "0 to 65535"]),
    ({"PORT": "65536"}, ["PORT", "65536", "0 to 65535"]),
    ({"THREADS": "0"}, ["THREADS='0'", "1 to 64"]),
    ({"THREADS": "x", "PORT": "y"}, ["THREADS='x'", "PORT='y'"]),
    ({"LOG_LEVEL": "loud"}, ["LOG_LEVEL", "loud", "debug, info, warning, error"]),
    ({"SITE_URL": "www.example.com"}, ["SITE_URL", "www.example.com", "http or https URL"]),
    ({"TIMEZONE": "Berlin"}, ["TIMEZONE", "'Berlin'", "Europe/Berlin"]),
    *(
        (
            {"DATABASE_URL": url},
            [
                f"DATABASE_URL='{url.partition(':')[0]}",
                "SQLite file",
                "sqlite:////path/to/articles.db",
                "postgresql://",
            ],
        )
        for url in (
            *("articles.db", "mysql://user:secret@db/x", "mysql://user:sec/ret:secret@@db/x", "mysql:user:secret@db"),
            *("postgresql+psycopg2://user:secret@db/x", "postgresql+psycopg://user:secret@db:port/x"),
            *("sqlite+aiosqlite:///articles.db", "sqlite://", "sqlite:///:memory:"),
            *("sqlite:///file:x?mode=memory&uri=true", "sqlite:///articles.db?timeout=secret"),
            "sqlite:///articles.db?mode=ro",
        )
    ),
    *(({"CACHE_MB": value}, ["CACHE_MB", repr(value)]) for value in ("x", -1, 1.5, None)),
    *(
        ({"CORS_ORIGINS": origins}, ["CORS_ORIGINS", repr(origins)])
        for origins in ("*", "www.example.com", "https://a.example/", "https://A.example", "https://a:080", ",", ["x"])
    ),
    *(
        ({"CORS_ORIGINS": f"https://b.example,{origin}"}, ["CORS_ORIGINS", origin, "default port"])
        for origin in ("https://a.example:443", "http://a.example:80", "http://[::1]:80")
    ),
    ({"HOST": 5}, ["HOST", "5"]),
    ({"LOG_LEVEL": "a\nb" + "c" * 10_000}, ["LOG_LEVEL", r"a\nb"]),
    ({"SQLALCHEMY_DATABASE_URI": "x"}, ["DATABASE_URL"]),
]


@pytest.mark.parametrize(("config", "words"), INVALID_SETTINGS, ids=str)
def test_invalid_setting_is_a_one_line_error(config, words):
    with pytest.raises(SettingsError) as raised:
        create_app(config)
    assert all(word in raised.value.message for word in words), raised.value.message
    assert not re.search("secret|install|\n", raised.value.message)
    assert len(raised.value.message) < 500


def test_missing_postgresql_driver_error_names_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SettingsError, match=r"DATABASE_URL: [^\n]* pip install -r requirements-postgresql.txt$"):
        create_app({"DATABASE_URL": "postgresql://user:secret@db/x"})


def test_every_program_reports_invalid_settings_in_one_line(database):
    programs = [subprocess_args(database, *command.split(), PORT="x", THREADS="x") for command in COMMANDS]
    for result in run_all(programs):
        assert_error(result, "PORT", "THREADS")


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        *(({"HOST": host}, ["HOST", host]) for host in ("no such host", "192.0.2.1", "é..x")),
        ({}, ["HOST 127.0.0.1, PORT ", ": Address already in use."]),
    ],
)
def test_unusable_address_is_a_one_line_error(database, monkeypatch, variables, words):
    monkeypatch.setattr("app.log_to_stderr", lambda _level: None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = {"PORT": str(listener.getsockname()[1]), "DATABASE_URL": database_url(database)}
        result = CliRunner().invoke(main, env=taken | variables)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert all(word in result.stderr for word in words), result.stderr


def test_missing_database_folder_is_a_one_line_error():
    app = create_app({"DATABASE_URL": "sqlite:////no/such/folder/articles.db"})
    result = run_command(app, "keys", "create", "Acme")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert all(words in result.stderr for words in ("in the folder /no/such/folder (", "Set DATABASE_URL"))


@pytest.mark.slow
@pytest.mark.sqlite
def test_default_database_is_in_the_instance_folder(database, tmp_path):
    copy = copy_project(tmp_path)
    program = subprocess_args(database, str(copy / "seed.py"), "--articles", "0", DATABASE_URL="") | {"cwd": tmp_path}
    assert subprocess.run(**program, timeout=30).returncode == 0
    assert (copy / "instance/articles.db").stat().st_size > 0


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_postgresql_urls_select_psycopg_3(scheme):
    pytest.importorskip("psycopg")
    app = create_app({"DATABASE_URL": f"{scheme}://user@127.0.0.1:1/articles"})
    with app.app_context():
        assert (db.engine.url.get_backend_name(), db.engine.driver) == ("postgresql", "psycopg")
