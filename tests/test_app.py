"""The application's settings."""

from contextlib import ExitStack

import pytest
from click import ClickException
from conftest import url_of

from app import create_app, read_settings
from database import create_tables
from models import db


def test_the_defaults():
    assert read_settings({}) == {
        "DATABASE_URL": "sqlite:///articles.db",
        "HOST": "127.0.0.1",
        "PORT": 8000,
        "THREADS": 4,
        "CACHE_MB": 64,
        "CORS_ORIGINS": (),
        "LOG_LEVEL": "info",
    }


def test_an_empty_variable_is_one_that_is_not_set():
    assert read_settings({"PORT": "", "HOST": "", "DATABASE_URL": ""}) == read_settings({})


def test_the_environment_sets_and_other_variables_do_not_matter():
    assert read_settings({"PORT": "0", "LOG_LEVEL": "error", "PATH": "/bin"})["PORT"] == 0


def test_all_bad_settings_are_named_at_once():
    with pytest.raises(ClickException, match=r"PORT: .* THREADS: "):
        read_settings({"PORT": "x", "THREADS": "1.5"})


def test_the_default_database_is_a_file_beside_the_application():
    app = create_app()
    with app.app_context():
        assert db.engine.url.database == f"{app.root_path}/instance/articles.db"


def test_as_many_threads_as_there_may_be_find_a_connection_each(tmp_path):
    app = create_app({"DATABASE_URL": url_of(tmp_path / "a.db"), "THREADS": 64})
    with app.app_context(), ExitStack() as stack:
        create_tables()
        for _ in range(64):
            stack.enter_context(db.engine.connect())


def test_two_applications_keep_their_databases_apart(tmp_path):
    apps = [create_app({"DATABASE_URL": url_of(tmp_path / f"{name}.db")}) for name in "ab"]
    names = set()
    for app in apps:
        with app.app_context():
            names.add(db.engine.url.database)
    assert len(names) == 2
