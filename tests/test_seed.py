"""`python seed.py` and its demo data."""

import re
import subprocess

import pytest
from click.testing import CliRunner
from helpers import LISTS, SITEMAP, application, article_json, create_key, database_url, subprocess_args

import seed
from app import main


@pytest.fixture
def run_seed(database, monkeypatch):
    """Run `python seed.py ARGUMENTS` in this process."""
    monkeypatch.setenv("DATABASE_URL", database_url(database))
    return lambda *arguments: CliRunner().invoke(seed.main, arguments)


@pytest.fixture
def get(run_seed, database):
    """Send a request with the key "demo" or another one; return the body."""
    with application(database) as app:
        yield lambda path, key="demo": app.test_client().get(path, headers={"x-api-key": key}).get_json()


def rows(sql):
    return sql("SELECT * FROM article ORDER BY pk"), sql("SELECT id, hash FROM api_key"), sql("SELECT * FROM customer")


def test_first_run_creates_120_articles_and_a_key(run_seed, get, database, monkeypatch):
    monkeypatch.setenv("HOST", "::")
    monkeypatch.setenv("PORT", "9000")
    result = run_seed()
    assert result.exit_code == 0
    assert result.stderr.startswith("Created the tables in")
    assert "120 published articles, 3 drafts and 1 scheduled article (124 new" in result.output
    key = re.search(r"^Key: ([A-Za-z0-9_-]{43})$", result.output, re.MULTILINE)[1]
    assert f"curl -H 'x-api-key: {key}' \"http://[::1]:9000/api/public/v1/articles?take=2\"" in result.output
    assert get(LISTS[0], key)["meta"]["total"] == len(get(SITEMAP, key)["data"]) == 120


HOSTS = {"0.0.0.0": True, "::": True, "127.8.8.8": False, "::1": False}  # noqa: S104


@pytest.mark.parametrize(("host", "warns"), HOSTS.items())
def test_start_warns_about_a_demo_key_other_machines_could_use(app, run, run_seed, monkeypatch, host, warns):
    monkeypatch.setattr("app.log_to_stderr", lambda _level: None)
    monkeypatch.setattr("app.server.serve", lambda _application, listener, *_, **__: listener.close())

    def is_warned():
        result = CliRunner().invoke(main, env={"HOST": host, "PORT": "0"})
        assert (result.exit_code, "serving on" in result.stdout) == (0, True)
        return bool(re.search(rf"{host}.* python seed.py --remove", result.stderr))

    create_key(app, "Acme")
    run_seed("--articles", "0", "--key", "demo-key")
    assert is_warned() == warns
    run("keys", "revoke", "2")
    assert not is_warned()


def test_remove_deletes_the_demo_with_its_customer_and_keys(save, run_seed, sql):
    save(article_json(1, id="demo-000001"))
    run_seed("--articles", "10")
    sql("UPDATE article SET title = 'Edited', slug = 'edited' WHERE id = 'demo-000002'")
    removed = run_seed("--remove")
    assert (removed.exit_code, removed.stdout) == (0, "Deleted Demo and 14 articles.\n")
    assert [[len(table) for table in rows(sql)], sql("SELECT name FROM customer")] == [[1, 1, 1], [("Acme",)]]
    assert run_seed("--remove").exit_code == 0


def test_remove_keeps_own_articles_and_keys_of_demo(save, run_seed, get, sql):
    run_seed("--articles", "10", "--key", "demo")
    own = [article_json(1, id=id, slug=id) for id in ("mine", "demo-mine", "demo-00001", "demo-0000011")]
    save(*own, customer="Demo")
    removed = run_seed("--remove")
    assert (removed.exit_code, "14 articles" in removed.stdout, "4 articles" in removed.stdout) == (0, True, True)
    assert sorted(article["id"] for article in get(LISTS[0])["data"]) == sorted(article["id"] for article in own)


def test_second_run_changes_nothing(run_seed, sql, database):
    """Even in another process, with another host and port."""
    run_seed("--key", "demo")
    before = rows(sql)
    variables = {"HOST": "0.0.0.0", "PORT": "9000"}  # noqa: S104
    again = subprocess.run(**subprocess_args(database, "seed.py", "--key", "demo", **variables))
    assert (again.stderr, "0 new, 0 changed, 124 unchanged, 0 removed" in again.stdout) == ("", True)
    assert "--key" in run_seed().output
    assert rows(sql) == before


def test_changed_count_adds_or_removes_only_demo_articles(save, run_seed, sql, get):
    run_seed("--articles", "30", "--key", "demo")
    thirty = rows(sql)[0]
    save(*(article_json(1, id=id, slug=id) for id in ("mine", "demo-mine", "demo-00004x")), customer="Demo")
    assert "20 new" in run_seed("--articles", "50").output
    assert "20 removed" in run_seed("--articles", "30").output
    assert rows(sql)[0][: len(thirty)] == thirty
    run_seed("--articles", "0")
    assert sorted(article["id"] for article in get(LISTS[0])["data"]) == ["demo-00004x", "demo-mine", "mine"]


def test_short_key_is_not_shown_again(run, run_seed):
    run_seed("--articles", "0", "--key", "demo")
    assert "demo" not in run("keys", "list").stdout


def test_key_that_cannot_be_used_is_rejected_and_nothing_written(app, run, run_seed, sql):
    run_seed("--articles", "0", "--key", "demo")
    taken, revoked = create_key(app, "Other"), create_key(app, "Demo")
    assert run("keys", "revoke", "3").exit_code == 0
    before = rows(sql)
    for key in (taken, revoked, "", "two words", "é"):
        result = run_seed(f"--key={key}")
        assert (result.exit_code, "--key" in result.stderr) == (2, True)
    assert rows(sql) == before
