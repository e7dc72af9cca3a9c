"""API keys over HTTP: which requests are let in, and which articles a key shows."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from helpers import ENDPOINTS, LISTS, SITEMAP, article_json, assert_problem, create_key
from time_machine import travel


def get(app, path, key=None, **headers):
    """Send a request with a key, and with no header for it if the key is None."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return app.test_client().get(path, headers=sent | ({} if key is None else {"x-api-key": key}))


@pytest.mark.parametrize("path", ENDPOINTS)
def test_request_without_a_key_is_refused(app, path):
    for key in (None, ""):
        response = get(app, path, key)
        problem = assert_problem(response, 401, "missing_key")
        assert "x-api-key header" in problem["detail"]
        assert "WWW-Authenticate" in response.headers


@pytest.mark.parametrize("path", ENDPOINTS)
def test_unknown_revoked_and_expired_keys_get_the_same_response(app, run, sql, key, path):
    today = datetime.now(UTC).date()
    expired, revoked = create_key(app, "Acme", "--expires", str(today)), create_key(app)
    assert get(app, path, expired).status_code == get(app, path, revoked).status_code == 200
    sql("UPDATE api_key SET expires_on = ? WHERE id = 2", str(today - timedelta(days=1)))
    run("keys", "revoke", 3)
    hashed = sha256(key.encode()).hexdigest()
    invalid = (expired, revoked, "unknown", key[:-1], key + "x", key.swapcase(), hashed, "é", "x" * 60_000)
    responses = [get(app, path, invalid_key) for invalid_key in invalid]
    for response in responses:
        assert "not valid" in assert_problem(response, 401)["detail"]
    assert len({response.data for response in responses}) == 1
    assert len({response.headers["WWW-Authenticate"] for response in responses}) == 1


def test_key_is_read_from_the_header_alone(app, key):
    assert get(app, f"{SITEMAP}?x-api-key={key}&api_key={key}&key={key}").status_code == 401
    assert get(app, SITEMAP, Authorization=f"Bearer {key}", Cookie=f"x-api-key={key}").status_code == 401
    assert get(app, SITEMAP, key).status_code == 200


@pytest.mark.parametrize("path", LISTS)
def test_key_is_checked_before_parameters_and_validators(app, key, path):
    etag = get(app, path, key).headers["ETag"]
    assert get(app, path, key, If_None_Match=etag).status_code == 304
    for invalid_key, code in ((None, "missing_key"), ("wrong", "invalid_key")):
        assert_problem(get(app, path + "?take=0", invalid_key), 401, code)
        assert_problem(get(app, path, invalid_key, If_None_Match=etag), 401, code)
        assert_problem(get(app, path, invalid_key, If_None_Match="*"), 401, code)


def test_every_route_with_articles_needs_a_key(app):
    open_routes = {"/", "/healthz", "/openapi.json", "/static/<path:name>"}
    guarded = {rule.rule for rule in app.url_map.iter_rules()} - open_routes
    assert guarded == set(ENDPOINTS)
    for path in guarded:
        assert get(app, path).status_code == 401


def test_key_shows_the_articles_of_its_customer_only(app, save):
    acme, other = create_key(app, "Acme"), create_key(app, "Other")
    save(article_json(1, title="Ours"))
    save(article_json(1, title="Theirs", slug="theirs"), customer="Other")
    for path in LISTS:
        assert [article["title"] for article in get(app, path, acme).get_json()["data"]] == ["Ours"]
        assert [article["title"] for article in get(app, path, other).get_json()["data"]] == ["Theirs"]
        assert get(app, path + "?q=theirs", acme).get_json()["meta"]["total"] == 0
    assert [entry["url"] for entry in get(app, SITEMAP, acme).get_json()["data"]] == ["slug-1"]


def test_customer_can_have_several_keys(app, save):
    keys = {create_key(app) for _ in range(3)}
    assert len(keys) == 3
    save(article_json(1))
    assert all(len(get(app, SITEMAP, key).get_json()["data"]) == 1 for key in keys)


def test_key_is_valid_through_its_last_day_in_utc(app):
    with travel(datetime(2026, 3, 1, 23, 59, 59, 999_000, tzinfo=UTC), tick=False):
        key = create_key(app, "Acme", "--expires", "2026-03-01")
        assert get(app, SITEMAP, key).status_code == 200
    with travel(datetime(2026, 3, 2, tzinfo=UTC), tick=False):
        assert get(app, SITEMAP, key).status_code == 401


def test_revoked_key_is_refused_at_once(app, run, key):
    kept = create_key(app)
    assert get(app, SITEMAP, key).status_code == get(app, SITEMAP, kept).status_code == 200
    assert run("keys", "revoke", 1).exit_code == 0
    assert get(app, SITEMAP, key).status_code == 401
    assert get(app, SITEMAP, kept).status_code == 200
