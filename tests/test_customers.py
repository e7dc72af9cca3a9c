"""`flask customers`, and how commands choose a customer."""

import pytest
from helpers import LISTS, article_json, assert_rejected, create_key, json_lines, minimal_json

from models import Customer, db

ADD_DEMO = "INSERT INTO customer (name, site) VALUES ('Demo', '')"
MARKUP = {"@context": "https://schema.org", "@graph": [{"publisher": {"name": "given"}}]}


def publishers(client):
    """Return the publisher of each article's structured data."""
    articles = client.get(LISTS[0]).get_json()["data"]
    return [article["schemaMarkup"]["@graph"][0]["publisher"]["name"] for article in articles]


def test_customers_list_counts_articles_and_valid_keys(app, run, save, sql):
    save(minimal_json(1), minimal_json(2, publishedAt=None), customer="My Site")
    save(minimal_json(1), customer="Acme")
    for customer in ("My Site", "Acme", "Acme", "Empty"):
        create_key(app, customer)
    run("keys", "revoke", "4")
    sql("UPDATE api_key SET expires_on = '2020-01-01' WHERE id = 5")
    result = run("customers", "list")
    assert (result.exit_code, result.stdout) == (0, "Acme\t1\t1\t\nEmpty\t0\t1\t\nMy Site\t2\t2\t\n")


def test_rename_updates_derived_structured_data(run, client, save, sql):
    save(article_json(1, schemaMarkup=MARKUP), article_json(2))
    save(article_json(1), customer="Other")
    before = sql("SELECT * FROM article ORDER BY pk")
    assert publishers(client) == ["Acme", "given"]
    result = run("customers", "rename", "Acme", " Söhne & Co ")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "Renamed Acme to Söhne & Co.\n", "")
    assert publishers(client) == ["Söhne & Co", "given"]
    assert sql("SELECT * FROM article ORDER BY pk") == before
    assert run("customers", "rename", "Söhne & Co", "SÖHNE & CO").exit_code == 0


SITES = {
    "https://www.example.com/articles/": "https://www.example.com/articles/slug-1",
    "https://www.example.com/articles": "https://www.example.com/articles/slug-1",
    "https://www.example.com/?article=": "https://www.example.com/?article=slug-1",
    "https://www.example.com/{slug}.html": "https://www.example.com/slug-1.html",
    "": None,
}


def test_site_shows_in_the_next_response_but_updates_no_article(run, client, save):
    save(article_json(1), customer="Other")
    save(article_json(1), article_json(2, schemaMarkup=MARKUP))
    sitemap = client.get("/api/public/v1/sitemap").get_json()
    for site, url in SITES.items():
        result = run("customers", "site", "Acme", site)
        assert (result.exit_code, result.stderr) == (0, "")
        imported, article = client.get(LISTS[0]).get_json()["data"]
        assert imported["schemaMarkup"] == MARKUP
        assert article["schemaMarkup"]["@graph"][0].get("mainEntityOfPage") == url
        assert run("customers", "list").stdout.splitlines()[0].split("\t")[3] == (url or "").replace("slug-1", "{slug}")
    assert client.get("/api/public/v1/sitemap").get_json() == sitemap


NO_SITES = ["www.example.com", "ftp://x/", "https://me:secret@x/", "https://x/{id}/"]


@pytest.mark.parametrize("site", NO_SITES)
def test_url_that_cannot_be_a_site_is_rejected(run, key, sql, site):
    result = run("customers", "site", "Acme", site)
    assert_rejected(result, "https://www.example.com/{slug}.html", status=2)
    assert "secret" not in result.stderr
    assert sql("SELECT site FROM customer") == [("",)]


@pytest.mark.parametrize("name", ["Demo", "DEMO", " demo ", "Ｄｅｍｏ"])
def test_name_of_the_demo_is_reserved(run, key, sql, name):
    for command in (("keys", "create", name), ("customers", "rename", "Acme", name)):
        assert_rejected(run(*command), name.strip(), "reserved")
    assert sql("SELECT name FROM customer") == [("Acme",)]


def test_delete_removes_articles_and_keys_too(app, run, client, save):
    save(article_json(1), article_json(2, status="draft"))
    save(article_json(1), customer="Other")
    create_key(app)
    result = run("customers", "delete", "Acme", "--yes")
    assert (result.exit_code, result.stdout) == (0, "Deleted Acme.\n")
    assert client.get(LISTS[0]).status_code == 401
    assert run("customers", "list").stdout == "Other\t1\t1\t\n"


def test_delete_leaves_a_customer_that_took_the_name(run, key, sql, monkeypatch):
    """As a restore while the command asks may do."""
    sql("DELETE FROM api_key")
    monkeypatch.setattr("commands.customers.confirm", lambda *_: sql("UPDATE customer SET id = 99"))
    assert_rejected(run("customers", "delete", "Acme"), "Acme")
    assert sql("SELECT name FROM customer") == [("Acme",)]


CHANGES = ["import -", "publish slug-1", "publish --pending", "unpublish slug-1", "edit slug-1", "new"]


@pytest.mark.parametrize("command", [*CHANGES, "delete slug-1 --yes"])
def test_demo_customer_must_be_named_to_be_changed(run, save, sql, monkeypatch, command):
    monkeypatch.setenv("VISUAL", "true")
    sql(ADD_DEMO)
    monkeypatch.setattr("commands.support.editor.can_ask", lambda: True)
    save(minimal_json(1), customer="Demo")
    before = sql("SELECT * FROM article")
    result = run("articles", *command.split())
    assert_rejected(result, "--customer")
    assert "Demo" not in result.stderr
    assert sql("SELECT * FROM article") == before
    assert "slug-1" in run("articles", "list").stdout
    named = run("articles", *command.split(), "--customer", "Demo", input=json_lines([minimal_json(1)]))
    assert named.exit_code == 0


def test_only_customer_besides_the_demo_is_the_default(app, run, save, sql):
    sql(ADD_DEMO)
    save(minimal_json(1, slug="shown"), customer="Demo")
    save(minimal_json(1, slug="mine"))
    assert run("articles", "unpublish", "mine").stdout == "mine: draft\n"
    assert "shown" not in run("articles", "list").stdout
    create_key(app, "Bistro")
    assert_rejected(run("articles", "list"), "--customer")


def test_customer_setting_replaces_the_option(app, run, save, monkeypatch):
    for name in ("Acme", "Bistro"):
        save(minimal_json(1, title=name), customer=name)
    monkeypatch.setitem(app.config, "CUSTOMER", "Bistro")
    assert "Bistro" in run("articles", "list").stdout
    assert "Acme" in run("articles", "list", "--customer", "Acme").stdout


def test_error_without_a_customer_suggests_one(app, run, monkeypatch):
    assert_rejected(run("articles", "list"), "flask keys create CUSTOMER")
    for name in ("Acme", "Ö & Co"):
        create_key(app, name)
    assert_rejected(run("articles", "list"), "Acme, Ö & Co")
    with app.app_context():
        db.session.add_all(Customer(name=f"Bistro {number:02}") for number in range(25))
        db.session.commit()
    monkeypatch.setitem(app.config, "CUSTOMER", "Bistr0 24")
    result = run("articles", "list")
    assert_rejected(result, "CUSTOMER", "Bistro 24'?", "7 more")
    assert result.stderr.count("Bistro ") == 20
