"""Settings: defaults, precedence, and the errors for invalid values."""

import os
import re
import socket
import subprocess
import sys

import pytest
from click.testing import CliRunner
from flask.cli import cli
from helpers import PROJECT, assert_rejected, copy_project, database_url
from sqlalchemy import make_url

import seed
import settings
from app import create_app, main
from models import db
from settings import SettingsError, load_environment, read_settings
from storage.engine import engine_options


@pytest.fixture
def env_file(tmp_path, monkeypatch):
    """The path of a `.env`, not yet written, that this process reads."""
    path = tmp_path / ".env"
    monkeypatch.setattr(settings, "ENV_FILE", path)
    monkeypatch.delenv("FLASK_SKIP_DOTENV")
    settings._read_env_file.cache_clear()
    return path


def test_env_file_supplies_unset_variables(env_file, monkeypatch):
    lines = "\ufeffHOST=::1", "# comment", "", "export PORT = 1 # one", "THREADS='2'", "CACHE_MB=", "TZ=x"
    env_file.write_bytes("\r\n".join(lines).encode())
    monkeypatch.setenv("PORT", "9")
    monkeypatch.setenv("THREADS", "")
    before = dict(os.environ)
    assert read_settings(load_environment()) == read_settings({}) | {"HOST": "::1", "PORT": 9, "THREADS": 2}
    assert os.environ == before


@pytest.mark.parametrize("content", [b'# Settings\nDATABASE_URL="sqlite:////live.db\n', "PORT=1\n".encode("utf-16")])
def test_unreadable_env_file_is_an_error(env_file, content):
    """Otherwise, a default could take the place of a setting, and name another database."""
    env_file.write_bytes(content)
    with pytest.raises(SettingsError, match=re.escape(str(env_file))):
        create_app()


ORIGINS = ["https://a.example:80", "http://[::1]:443", "http://my_host", "capacitor://localhost"]
ORIGINS += ["chrome-extension://abcdefghijklmnop", "safari-web-extension://0A1B2C3D-4E5F", "app://localhost:3000"]
CONFIGURATIONS = {
    "DATABASE_URL": {"CACHE_MB": "7", "CORS_ORIGINS": ", ".join(ORIGINS), "THREADS": ""},
    "SQLALCHEMY_DATABASE_URI": {"CACHE_MB": 7, "CORS_ORIGINS": ORIGINS},
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_configuration_is_validated_like_the_environment(database, monkeypatch, name):
    monkeypatch.setenv("THREADS", "9")
    monkeypatch.setenv("CACHE_MB", "1")
    monkeypatch.setenv("DATABASE_URL", "sqlite:///other.db")
    flask_settings = {"TESTING": True, "SQLALCHEMY_ENGINE_OPTIONS": {"pool_recycle": 60}}
    app = create_app({name: database_url(database)} | flask_settings | CONFIGURATIONS[name])
    names = "CACHE_MB", "CORS_ORIGINS", "THREADS", "TESTING"
    assert [app.config[setting] for setting in names] == [7, ORIGINS, 9, True]
    with app.app_context():
        assert db.engine.url == make_url(database_url(database))
        assert db.engine.pool._recycle == 60


def test_env_example_lists_each_default(env_file):
    example = (PROJECT / ".env.example").read_text("utf-8")
    env_file.write_text(example)
    assert read_settings(load_environment()) == read_settings({})
    settings._read_env_file.cache_clear()
    env_file.write_text(re.sub(r"^#(?=[A-Z])", "", example, flags=re.MULTILINE))
    assert re.findall(r"^([A-Z_]+)=", env_file.read_text(), re.MULTILINE) == list(read_settings({}))
    assert read_settings(load_environment()) | {"CORS_ORIGINS": ()} == read_settings({})


# Invalid settings

DATABASE = ["sqlite:////path/to/articles.db", "postgresql://"]  # what the error suggests
DATABASE_URLS = [
    "articles.db",
    "mysql://user:sec/ret:secret@@db/x",
    "postgresql+psycopg://user:secret@db:port/x",
    "sqlite:///:memory:",
    "sqlite:///articles.db?mode=ro&password=secret",
]
INVALID_ORIGINS = ["*", "www.example.com", "https://a.example/", "https://A.example", "https://a:080", ["x"]]
INVALID_ORIGINS += ["null", "file://", "file://localhost", "capacitor://a/", "https://a.example:443", "http://[::1]:80"]
INVALID_SETTINGS = [
    ({"PORT": "65536"}, ["PORT", "65536", "0 to 65535"]),
    ({"THREADS": "x", "PORT": "y"}, ["THREADS='x'", "PORT='y'"]),
    ({"CACHE_MB": 1.5}, ["CACHE_MB", "1.5"]),
    ({"LOG_LEVEL": "a\nb" + "c" * 10_000}, ["LOG_LEVEL", r"a\nb"]),
    ({"SITE_URL": "www.example.com"}, ["SITE_URL", "www.example.com", "http"]),
    ({"TIMEZONE": "Berlin"}, ["TIMEZONE", "'Berlin'", "Europe/Berlin"]),
    ({"HOST": 5}, ["HOST", "5"]),
    *(({"DATABASE_URL": url}, [f"DATABASE_URL='{url.partition(':')[0]}", *DATABASE]) for url in DATABASE_URLS),
    *(({"CORS_ORIGINS": origins}, ["CORS_ORIGINS", repr(origins)]) for origins in INVALID_ORIGINS),
]


@pytest.mark.parametrize(("config", "words"), INVALID_SETTINGS, ids=str)
def test_invalid_settings_are_errors_of_one_line_each(config, words):
    with pytest.raises(SettingsError) as raised:
        create_app(config)
    assert all(word in raised.value.message for word in words), raised.value.message
    assert not re.search("secret|install", raised.value.message)
    assert len(raised.value.message.splitlines()) == len(config)
    assert len(raised.value.message) < 500


@pytest.mark.parametrize(
    ("program", "arguments"), [(main, []), (seed.main, []), (cli, ["--app", str(PROJECT / "app.py"), "keys", "list"])]
)
def test_every_program_reports_all_invalid_settings(program, arguments):
    result = CliRunner().invoke(program, arguments, env={"PORT": "x", "THREADS": "y"})
    assert_rejected(result, "PORT='x'", "THREADS='y'")


@pytest.mark.parametrize("host", ["no such host", "127.0.0.1"])
def test_unusable_address_is_a_one_line_error(database, monkeypatch, host):
    monkeypatch.setattr("app.log_to_stderr", lambda _level: None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        variables = {"HOST": host, "PORT": str(listener.getsockname()[1]), "DATABASE_URL": database_url(database)}
        assert_rejected(CliRunner().invoke(main, env=variables), f"HOST {host}", f"PORT {variables['PORT']}")


def test_threads_are_those_of_the_settings(database, monkeypatch):
    used = []
    monkeypatch.setattr("app.log_to_stderr", lambda _level: None)
    monkeypatch.setattr("app.server.serve", lambda _app, listener, threads: listener.close() or used.append(threads))
    CliRunner().invoke(main, env={"THREADS": "7", "PORT": "0", "DATABASE_URL": database_url(database)})
    assert used == [7]


def test_engine_options_of_flask_are_added_to_ours():
    given = {"pool_recycle": 60, "isolation_level": "SERIALIZABLE", "connect_args": {"connect_timeout": 9}}
    options = engine_options(make_url("postgresql://host/articles"), 64, given)
    assert options["pool_size"] == 64  # each thread can get a connection
    assert (options["pool_recycle"], options["isolation_level"], options["pool_pre_ping"]) == (60, "SERIALIZABLE", True)
    assert options["connect_args"]["connect_timeout"] == 9
    assert options["connect_args"]["client_encoding"] == "utf8"


@pytest.mark.sqlite
@pytest.mark.slow
@pytest.mark.parametrize("command", ["{}/seed.py --articles 0", "-m flask --app {}/app.py keys create Acme"])
def test_every_program_reads_env_file_from_anywhere(tmp_path, command):
    """Variables that are set take precedence."""
    project = copy_project(tmp_path)
    (project / ".env").write_text(f"DATABASE_URL=sqlite:///{tmp_path}/project.db\nPORT=1")
    inherited = os.environ.keys() - {"DATABASE_URL", "PORT", "FLASK_SKIP_DOTENV"}

    def created(**environment):
        """Return the database that the command says it has created."""
        env = {name: os.environ[name] for name in inherited} | environment
        arguments = [sys.executable, *command.format(project).split()]
        result = subprocess.run(arguments, cwd=tmp_path, env=env, capture_output=True, text=True)
        return re.findall(rf"^Created the tables in {tmp_path}/(\w+).db\.$", result.stderr, re.MULTILINE)

    assert created() == ["project"]
    assert created(DATABASE_URL=f"sqlite:///{tmp_path}/set.db") == ["set"]
