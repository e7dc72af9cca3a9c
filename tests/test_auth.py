"""API keys: who gets in, what each sees, and the commands."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from conftest import ENDPOINTS, LISTS, SITEMAP, article, assert_problem, make_key, url_of

from auth import hash_key


@pytest.fixture
def run(app):
    """Run a command of `flask keys`."""
    return lambda *arguments: app.test_cli_runner().invoke(args=["keys", *arguments])


def get(app, path, key=None, **options):
    return app.test_client().get(path, headers={"x-api-key": key} if key is not None else {}, **options)


@pytest.mark.parametrize("path", ENDPOINTS)
def test_without_a_key_nobody_gets_in(app, path):
    for key in (None, ""):
        answer = get(app, path, key)
        problem = assert_problem(answer, 401)
        assert "x-api-key header" in problem["detail"]
        assert "WWW-Authenticate" in answer.headers


@pytest.mark.parametrize("path", ENDPOINTS)
def test_unknown_revoked_and_expired_keys_are_told_the_same(app, run, key, path):
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    expired, revoked = make_key(app, "Acme", expires_on=yesterday), make_key(app, "Acme")
    run("revoke", "3")
    bad_keys = (expired, revoked, "unknown", key[:-1], key + "x", key.swapcase(), hash_key(key), "é", "x" * 60_000)
    answers = [get(app, path, bad) for bad in bad_keys]
    for answer in answers:
        assert "not valid" in assert_problem(answer, 401)["detail"]
    assert len({answer.data for answer in answers}) == 1
    assert len({answer.headers["WWW-Authenticate"] for answer in answers}) == 1


def test_a_key_is_read_from_the_header_alone(app, key):
    assert get(app, f"{SITEMAP}?x-api-key={key}&api_key={key}&key={key}").status_code == 401
    assert get(app, SITEMAP, key).status_code == 200


@pytest.mark.parametrize("path", LISTS)
def test_the_key_is_checked_before_the_parameters_and_the_validators(app, key, path):
    etag = get(app, path, key).headers["ETag"]
    assert_problem(get(app, path + "?take=0"), 401)
    assert_problem(app.test_client().get(path, headers={"If-None-Match": etag}), 401)
    assert_problem(app.test_client().get(path, headers={"If-None-Match": "*"}), 401)


def test_every_route_is_guarded_but_those_that_show_no_article(app, key):
    open_routes = {"/", "/healthz", "/openapi.json", "/static/<path:filename>"}
    guarded = {rule.rule for rule in app.url_map.iter_rules()} - open_routes
    assert guarded == set(ENDPOINTS)
    for path in guarded:
        assert get(app, path).status_code == 401


def test_a_key_shows_its_customers_articles_only(app, save):
    acme, other = make_key(app, "Acme"), make_key(app, "Other")
    save(article(1, title="Ours"))
    save(article(1, title="Theirs", slug="theirs"), customer="Other")
    for path in LISTS:
        assert [each["title"] for each in get(app, path, acme).get_json()["data"]] == ["Ours"]
        assert [each["title"] for each in get(app, path, other).get_json()["data"]] == ["Theirs"]
        assert get(app, path + "?q=theirs", acme).get_json()["meta"]["total"] == 0
    assert [each["url"] for each in get(app, SITEMAP, acme).get_json()["data"]] == ["slug-1"]


def test_a_customer_may_hold_several_keys(app):
    keys = {make_key(app, "Acme") for _ in range(3)}
    assert len(keys) == 3
    assert all(get(app, SITEMAP, key).status_code == 200 for key in keys)


def test_create_prints_the_key_alone_and_it_works(app, run):
    result = run("create", "Acme & Söhne")
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}\n", result.stdout)
    assert "not shown again" in result.stderr
    assert get(app, SITEMAP, result.stdout.strip()).status_code == 200


@pytest.mark.sqlite
def test_only_the_hash_of_a_key_is_kept(app, run, database):
    key = run("create", "Acme").stdout.strip()
    kept = b"".join(file.read_bytes() for file in database.parent.iterdir())
    assert hash_key(key).encode() in kept
    assert key.encode() not in kept


def test_a_key_is_good_through_its_last_day(app, run):
    today = datetime.now(UTC).date()
    assert get(app, SITEMAP, make_key(app, "Acme", expires_on=today)).status_code == 200
    for day in (str(today), "9999-12-31"):
        assert run("create", "Acme", "--expires", day).exit_code == 0
    past = run("create", "Acme", "--expires", str(today - timedelta(days=1)))
    assert past.exit_code == 2
    assert "is past" in past.stderr
    assert run("create", "Acme", "--expires", "tomorrow").exit_code == 2


@pytest.mark.parametrize("name", ["", "   ", "two\nlines", "x" * 101, "\x1b[31m"])
def test_a_customer_needs_a_printable_name(run, name):
    result = run("create", name)
    assert result.exit_code == 2
    assert "printable" in result.stderr
    assert run("list").stdout == ""


def test_list_prints_a_line_a_key(app, run):
    first = run("create", "Acme", "--expires", "2999-01-31").stdout
    make_key(app, "Other", expires_on=datetime.now(UTC).date() - timedelta(days=1))
    run("create", "Acme")
    run("revoke", "3")
    make_key(app, "Other", expires_on=datetime.now(UTC).date())
    lines = [line.split("\t") for line in run("list").stdout.splitlines()]
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    assert lines[0] == ["1", "Acme", first[:6] + "…", today, "2999-01-31", "active"]
    assert [line[-1] for line in lines] == ["active", "expired", "revoked", "active"]


def test_a_short_key_is_not_given_away_by_its_first_characters(app, run):
    make_key(app, "Acme", key="demo-key")
    make_key(app, "Acme", key="k")
    assert [line.split("\t")[2] for line in run("list").stdout.splitlines()] == ["de…", "…"]


def test_a_revoked_key_is_refused_from_the_next_request_on_and_kept(app, run, key, sql):
    assert get(app, SITEMAP, key).status_code == 200
    assert run("revoke", "1").exit_code == 0
    assert get(app, SITEMAP, key).status_code == 401
    ((when,),) = sql("SELECT revoked_at FROM api_key")
    assert run("revoke", "1").exit_code == 0
    assert sql("SELECT revoked_at FROM api_key") == [(when,)]


@pytest.mark.parametrize("key_id", ["99", "0", "9" * 30, "-9" + "9" * 30])
def test_revoking_a_key_that_is_not_there_says_how_to_find_it(run, key_id):
    result = run("revoke", "--", key_id)
    assert result.exit_code == 1
    assert "flask keys list" in result.stderr


@pytest.mark.sqlite
def test_commands_make_the_tables_where_there_are_none_but_no_file_to_find_nothing_in(tmp_path):
    from app import create_app

    runner = create_app({"DATABASE_URL": url_of(tmp_path / "new.db")}).test_cli_runner()
    result = runner.invoke(args=["keys", "list"])
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"DATABASE_URL names {tmp_path}/new.db, which does not exist." in result.stderr
    assert not (tmp_path / "new.db").exists()  # for the service, an empty database would be one that knows no key
    (tmp_path / "new.db").touch()
    assert runner.invoke(args=["keys", "list"]).exit_code == 0
    assert runner.invoke(args=["keys", "create", "Acme"]).exit_code == 0
    assert "active" in runner.invoke(args=["keys", "list"]).output


@pytest.mark.sqlite
def test_a_database_that_is_none_is_told_in_one_line(tmp_path):
    from app import create_app

    (tmp_path / "text.db").write_text("This is no database, whatever its name says. " * 50)
    runner = create_app({"DATABASE_URL": url_of(tmp_path / "text.db")}).test_cli_runner()
    result = runner.invoke(args=["keys", "create", "Acme"])
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: The database cannot be used (file is not a database).")
    assert result.stderr.count("\n") == 1
