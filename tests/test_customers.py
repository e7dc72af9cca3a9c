"""`flask customers`, and how commands choose a customer."""

import os
import pty
import subprocess
from functools import partial

import pytest
from helpers import LISTS, article_json, create_key, minimal_json, run_command, subprocess_args

from models import Customer, db

MARKUP = {"@context": "https://schema.org", "@graph": [{"publisher": "given"}]}


@pytest.fixture
def customers(app):
    """Run `flask customers`."""
    return partial(run_command, app, "customers")


@pytest.fixture
def tables(sql):
    """Return all rows of all tables."""
    return lambda: [sql(f"SELECT * FROM {table} ORDER BY 1") for table in ("customer", "api_key", "article")]


def publishers(client):
    """Return the publisher of each article's structured data."""
    graphs = [article["schemaMarkup"]["@graph"][0] for article in client.get(LISTS[0]).get_json()["data"]]
    return [graph["publisher"] if graph["publisher"] == "given" else graph["publisher"]["name"] for graph in graphs]


def test_customers_list_counts_articles_and_keys(app, customers, save):
    save(minimal_json(1), minimal_json(2, publishedAt=None), customer="My Site")
    save(minimal_json(1), customer="Acme")
    create_key(app, "My Site")
    create_key(app, "Empty")
    assert run_command(app, "keys", "revoke", 1).exit_code == 0
    result = customers("list")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "Acme\t1\t1\nEmpty\t0\t1\nMy Site\t2\t2\n"


def test_rename_updates_derived_structured_data(customers, client, save, tables):
    save(article_json(1, schemaMarkup=MARKUP), article_json(2))
    save(article_json(1), customer="Other")
    before = tables()
    assert publishers(client) == ["Acme", "given"]
    result = customers("rename", "Acme", " Söhne & Co ")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "Renamed Acme to Söhne & Co.\n", "")
    assert publishers(client) == ["Söhne & Co", "given"]
    assert tables()[1:] == before[1:]


def test_customer_can_be_renamed_to_another_case(customers, key, sql):
    for old, new in (("Acme", "ACME"), ("ACME", "AC ME"), ("AC ME", "AC ME")):
        assert customers("rename", old, new).exit_code == 0
    assert sql("SELECT name FROM customer") == [("AC ME",)]


def test_delete_removes_articles_and_keys_too(app, customers, client, save, tables):
    save(article_json(1), article_json(2, status="draft"))
    save(article_json(1), customer="Other")
    create_key(app)
    result = customers("delete", "Acme", "--yes")
    assert (result.exit_code, result.stdout) == (0, "Deleted Acme (articles: 2, keys: 2).\n")
    assert client.get(LISTS[0]).status_code == 401
    assert customers("list").stdout == "Other\t1\t1\n"


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "status", "left"), [(b"n\n", 1, 1), (b"y\n", 0, 0)])
def test_delete_asks_on_a_terminal(key, database, sql, answer, status, left):
    typed, terminal = pty.openpty()
    os.write(typed, answer)
    arguments = subprocess_args(database, "-m", "flask", "customers", "delete", "Acme")
    result = subprocess.run(**arguments, stdin=terminal, timeout=30)
    os.close(typed)
    os.close(terminal)
    assert result.returncode == status
    assert "Acme" in result.stderr
    assert sql("SELECT count(*) FROM customer") == [(left,)]


@pytest.mark.parametrize("command", [["import", "-"], ["publish", "slug-1"], ["edit", "slug-1"]])
def test_demo_customer_must_be_named_to_be_changed(app, save, tables, monkeypatch, command):
    monkeypatch.setenv("VISUAL", "true")
    save(minimal_json(1), customer="Demo")
    before = tables()
    result = run_command(app, "articles", *command)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--customer" in result.stderr
    assert tables() == before
    assert run_command(app, "articles", *command, "--customer", "Demo").exit_code == 0
    assert "slug-1" in run_command(app, "articles", "list").stdout


def test_customer_setting_replaces_the_option(app, save, monkeypatch):
    for name in ("Acme", "Bistro"):
        save(minimal_json(1, title=name), customer=name)
    assert run_command(app, "articles", "list").exit_code == 1
    monkeypatch.setitem(app.config, "CUSTOMER", "Bistro")
    assert "Bistro" in run_command(app, "articles", "list").stdout
    assert "Acme" in run_command(app, "articles", "list", "--customer", "Acme").stdout


def test_unknown_customer_error_suggests_the_closest_name(app, monkeypatch):
    with app.app_context():
        db.session.add_all(Customer(name=f"Customer {number:02}") for number in range(25))
        db.session.commit()
    create_key(app, "Bistro")
    monkeypatch.setitem(app.config, "CUSTOMER", "BISTR0")
    error = run_command(app, "articles", "publish", "slug-1").stderr
    assert "(the setting CUSTOMER). Did you mean 'Bistro'?" in error
    assert error.count("'Customer ") == 19
    assert "6 more" in error
