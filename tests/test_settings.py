"""Settings: defaults, precedence, and the errors for invalid values."""

import os
import re
import socket
import subprocess
import sys
from unittest import mock
from zoneinfo import ZoneInfoNotFoundError

import pytest
from click.testing import CliRunner
from flask.cli import cli
from helpers import PROJECT, assert_rejected, copy_project, database_url, run_command
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


def test_empty_variables_have_their_defaults():
    assert read_settings({"PORT": "", "HOST": "", "DATABASE_URL": "", "PATH": "/bin"}) == read_settings({})


def test_env_file_supplies_unset_variables(env_file, monkeypatch):
    lines = "\ufeffHOST=::1", "# comment", "", "export PORT = 1 # one", "THREADS='2'", "CACHE_MB=", "TZ=x"
    env_file.write_bytes("\r\n".join(lines).encode())
    monkeypatch.setenv("PORT", "9")
    monkeypatch.setenv("THREADS", "")
    before = dict(os.environ)
    assert read_settings(load_environment()) == read_settings({}) | {"HOST": "::1", "PORT": 9, "THREADS": 2}
    assert os.environ == before


def test_env_file_with_an_open_quotation_mark_is_an_error(env_file):
    """Otherwise, the default could take the place of the setting, and name another database."""
    env_file.write_text('# Settings\nDATABASE_URL="sqlite:////live.db\nPORT=9\n')
    with pytest.raises(SettingsError, match="line 2"):
        create_app()


@pytest.mark.parametrize("content", ["PORT=1\n# Größe secret".encode("latin-1"), "PORT=1\n".encode("utf-16")])
def test_env_file_in_another_encoding_is_an_error(env_file, content):
    env_file.write_bytes(content)
    with pytest.raises(SettingsError, match=re.escape(str(env_file))) as raised:
        create_app()
    assert not re.search("secret|\n", raised.value.message)


ORIGINS = ["https://a.example:80", "http://[::1]:443", "http://my_host", "capacitor://localhost", "tauri://localhost"]
ORIGINS += ["chrome-extension://abcdefghijklmnop", "safari-web-extension://0A1B2C3D-4E5F", "app://localhost:3000"]
CONFIGURATIONS = {
    "DATABASE_URL": {"CACHE_MB": "7", "CORS_ORIGINS": ", ".join(ORIGINS), "THREADS": ""},
    "SQLALCHEMY_DATABASE_URI": {"CACHE_MB": 7, "CORS_ORIGINS": ORIGINS},
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_configuration_is_validated_like_the_environment(database, monkeypatch, name):
    monkeypatch.setenv("THREADS", "9")
    monkeypatch.setenv("CACHE_MB", "1")
    app = create_app({name: database_url(database), "TESTING": True} | CONFIGURATIONS[name])
    names = "CACHE_MB", "CORS_ORIGINS", "THREADS", "TESTING"
    assert [app.config[setting] for setting in names] == [7, ORIGINS, 9, True]
    with app.app_context():
        assert db.engine.url == make_url(database_url(database))


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
    "mysql://user:secret@db/x",
    "mysql://user:sec/ret:secret@@db/x",
    "postgresql+psycopg://user:secret@db:port/x",
    "sqlite:///:memory:",
    "sqlite:////tmp/a%00.db",
    "sqlite:///file:x?mode=memory&uri=true",
    "sqlite:///articles.db?mode=ro&password=secret",
]
INVALID_ORIGINS = ["*", "www.example.com", "https://a.example/", "https://A.example", "https://a:080", ",", ["x"]]
INVALID_ORIGINS += ["null", "file://", "file://localhost", "capacitor://", "capacitor://a/", "Tauri://localhost"]
DEFAULT_PORTS = ["https://a.example:443", "http://a.example:80", "http://[::1]:80"]
INVALID_SETTINGS = [
    ({"PORT": "65536"}, ["PORT", "65536", "0 to 65535"]),
    ({"THREADS": "x", "PORT": "y"}, ["THREADS='x'", "PORT='y'"]),
    *(({"CACHE_MB": value}, ["CACHE_MB", repr(value)]) for value in ("x", -1, 1.5, None)),
    ({"LOG_LEVEL": "a\nb" + "c" * 10_000}, ["LOG_LEVEL", r"a\nb"]),
    ({"SITE_URL": "www.example.com"}, ["SITE_URL", "www.example.com", "http"]),
    ({"SITE_URL": "https://x.example/{slug}"}, ["SITE_URL", "{slug}"]),
    ({"TIMEZONE": "Berlin"}, ["TIMEZONE", "'Berlin'", "Europe/Berlin"]),
    ({"HOST": 5}, ["HOST", "5"]),
    ({"SQLALCHEMY_DATABASE_URI": "x"}, ["DATABASE_URL"]),
    *(({"DATABASE_URL": url}, [f"DATABASE_URL='{url.partition(':')[0]}", *DATABASE]) for url in DATABASE_URLS),
    *(({"CORS_ORIGINS": origins}, ["CORS_ORIGINS", repr(origins)]) for origins in INVALID_ORIGINS),
    *(({"CORS_ORIGINS": f"https://b.example,{url}"}, ["CORS_ORIGINS", url, "default port"]) for url in DEFAULT_PORTS),
]


@pytest.mark.parametrize(("config", "words"), INVALID_SETTINGS, ids=str)
def test_invalid_settings_are_errors_of_one_line_each(config, words):
    with pytest.raises(SettingsError) as raised:
        create_app(config)
    assert all(word in raised.value.message for word in words), raised.value.message
    assert not re.search("secret|install", raised.value.message)
    assert len(raised.value.message.splitlines()) == len(config)
    assert len(raised.value.message) < 500


def test_missing_time_zone_database_error_names_its_package(monkeypatch):
    monkeypatch.setattr("schema_fields.ZoneInfo", mock.Mock(side_effect=ZoneInfoNotFoundError))
    monkeypatch.setattr("schema_fields.available_timezones", set)
    with pytest.raises(SettingsError, match=r"TIMEZONE[^\n]* pip install tzdata$"):
        create_app({"TIMEZONE": "Europe/Berlin"})


def test_missing_postgresql_driver_error_names_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SettingsError, match=r"DATABASE_URL: [^\n]* pip install -r requirements-postgresql.txt$"):
        create_app({"DATABASE_URL": "postgresql://user:secret@db/x"})


@pytest.mark.parametrize(
    ("program", "arguments"), [(main, []), (seed.main, []), (cli, ["--app", str(PROJECT / "app.py"), "keys", "list"])]
)
def test_every_program_reports_all_invalid_settings(program, arguments):
    result = CliRunner().invoke(program, arguments, env={"PORT": "x", "THREADS": "y"})
    assert_rejected(result, "PORT='x'", "THREADS='y'")


@pytest.mark.parametrize("host", ["no such host", "192.0.2.1", "é..x", "127.0.0.1"])
def test_unusable_address_is_a_one_line_error(database, monkeypatch, host):
    monkeypatch.setattr("app.log_to_stderr", lambda _level: None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        variables = {"HOST": host, "PORT": str(listener.getsockname()[1]), "DATABASE_URL": database_url(database)}
        assert_rejected(CliRunner().invoke(main, env=variables), f"HOST {host}", f"PORT {variables['PORT']}")


def test_missing_database_folder_is_a_one_line_error():
    app = create_app({"DATABASE_URL": "sqlite:////no/such/folder/articles.db"})
    assert_rejected(run_command(app, "keys", "create", "Acme"), "/no/such/folder/articles.db", "Check the path")


def test_engine_options_of_flask_are_added_to_ours():
    given = {"pool_recycle": 60, "isolation_level": "SERIALIZABLE", "connect_args": {"connect_timeout": 9}}
    options = engine_options(make_url("postgresql://host/articles"), 64, given)
    assert options["pool_size"] == 64  # each thread can get a connection
    assert (options["pool_recycle"], options["isolation_level"], options["pool_pre_ping"]) == (60, "SERIALIZABLE", True)
    assert options["connect_args"]["connect_timeout"] == 9
    assert options["connect_args"]["client_encoding"] == "utf8"


def test_postgresql_url_selects_psycopg_3():
    pytest.importorskip("psycopg")
    app = create_app({"DATABASE_URL": "postgresql://user@127.0.0.1:1/articles"})
    with app.app_context():
        assert (db.engine.url.get_backend_name(), db.engine.driver) == ("postgresql", "psycopg")


@pytest.mark.sqlite
@pytest.mark.slow
@pytest.mark.parametrize("command", ["seed.py --articles 0", "-m flask keys create Acme"])
def test_every_program_reads_env_file_from_anywhere(tmp_path, command):
    """Variables that are set take precedence, even if Flask set them from a `.env` in the working folder."""
    project = copy_project(tmp_path)
    (project / ".env").write_text(f"DATABASE_URL=sqlite:///{tmp_path}/project.db\nPORT=1")
    unset = {"DATABASE_URL", "PORT", "FLASK_SKIP_DOTENV"}
    inherited = {name: value for name, value in os.environ.items() if name not in unset}

    def created(**environment):
        """Return the database that the command says it has created."""
        env = inherited | {"FLASK_APP": str(project / "app.py")} | environment
        first, *others = command.split()
        arguments = [first, *others] if first == "-m" else [str(project / first), *others]
        result = subprocess.run([sys.executable, *arguments], cwd=tmp_path, env=env, capture_output=True, text=True)
        return re.findall(rf"^Created the tables in {tmp_path}/(\w+).db\.$", result.stderr, re.MULTILINE)

    assert created() == ["project"]
    (tmp_path / ".env").write_text(f"DATABASE_URL=sqlite:///{tmp_path}/folder.db")
    assert created() == (["folder"] if "flask" in command else [])
    assert created(DATABASE_URL=f"sqlite:///{tmp_path}/set.db") == ["set"]
