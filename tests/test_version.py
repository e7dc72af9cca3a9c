"""The version stands once, in pyproject.toml; the service and its documents say the same."""

import re

from click.testing import CliRunner
from helpers import PROJECT, database_url

from app import main
from settings import read_version


def test_version_is_that_of_the_project_file():
    assert f'\nversion = "{read_version()}"\n' in (PROJECT / "pyproject.toml").read_text("utf-8")


def test_option_prints_the_version_and_needs_no_database(database):
    result = CliRunner().invoke(main, ["--version"], env={"DATABASE_URL": database_url(database)})
    assert (result.stdout, result.stderr) == (f"Article Delivery API {read_version()}\n", "")
    assert not database.exists()


def test_openapi_document_has_the_version(client):
    assert client.get("/openapi.json").get_json()["info"]["version"] == read_version()


def test_changelog_begins_with_the_version():
    changelog = (PROJECT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"^## \[([0-9.]+)\]", changelog, re.MULTILINE)[1] == read_version()
