"""API keys over HTTP: which requests are let in."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from helpers import ENDPOINTS, LISTS, SITEMAP, assert_problem, create_key


def get(app, path, key=None, **headers):
    """Send a request with a key, and with no header for it if the key is None."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return app.test_client().get(path, headers=sent | ({} if key is None else {"x-api-key": key}))


@pytest.mark.parametrize("path", ENDPOINTS)
def test_request_without_a_valid_key_is_refused(app, run, sql, key, path):
    """The response tells a missing key from an invalid one, and nothing more."""
    today = datetime.now(UTC).date()
    expired, revoked = create_key(app, "Acme", "--expires", str(today)), create_key(app)
    assert [get(app, path, valid_key).status_code for valid_key in (key, expired, revoked)] == [200] * 3
    sql("UPDATE api_key SET expires_on = ? WHERE id = 2", str(today - timedelta(days=1)))
    run("keys", "revoke", 3)
    hashed = sha256(key.encode()).hexdigest()
    invalid = (expired, revoked, "unknown", key[:-1], key + "x", key.swapcase(), hashed, "é", "x" * 60_000)
    for keys, code, detail in (((None, ""), "missing_key", "x-api-key header"), (invalid, "invalid_key", "not valid")):
        responses = [get(app, path, invalid_key) for invalid_key in keys]
        assert all(detail in assert_problem(response, 401, code)["detail"] for response in responses)
        assert len({(response.data, response.headers["WWW-Authenticate"]) for response in responses}) == 1
    assert get(app, path, key).status_code == 200


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
