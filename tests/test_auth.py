"""How a client sends its API key, and which keys are rejected."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from helpers import ENDPOINTS, article_json, assert_problem, create_key

ARTICLES = "/api/public/v1/articles"


def get(app, path, key=None, **headers):
    """Send a request with a key, or without the header if it is None."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return app.test_client().get(path, headers=sent | ({} if key is None else {"x-api-key": key}))


# Examples


def test_missing_key_is_a_401_that_names_the_header(app):
    response = app.test_client().get("/api/public/v1/articles")
    assert response.status_code == 401
    assert "WWW-Authenticate" in response.headers
    assert response.get_json()["code"] == "missing_key"
    assert "x-api-key" in response.get_json()["detail"]


@pytest.mark.parametrize("path", ENDPOINTS)
def test_key_shows_only_its_customers_articles(app, key, save, path):
    """From the cache too."""
    save(article_json(1, title="Mine", slug="mine"))
    save(article_json(1, title="Theirs", slug="theirs"), customer="Other")
    for own_key, slug in ((key, "mine"), (create_key(app, "Other"), "theirs")) * 2:
        (shown,) = get(app, path, own_key).get_json()["data"]
        assert slug in shown.values()


def test_customer_may_have_several_keys(app, run, key, save):
    save(article_json(1))
    second = create_key(app)
    assert get(app, ARTICLES, second).data == get(app, ARTICLES, key).data
    run("keys", "revoke", 1)
    assert get(app, ARTICLES, key).get_json()["code"] == "invalid_key"
    assert get(app, ARTICLES, second).status_code == 200


# Edges


@pytest.mark.parametrize("path", ENDPOINTS)
def test_caller_cannot_tell_why_a_key_is_invalid(app, run, sql, key, path):
    expired, revoked = create_key(app, "Acme", "--expires", "2999-12-31"), create_key(app)
    sql("UPDATE api_key SET expires_on = ? WHERE id = 2", str(datetime.now(UTC).date() - timedelta(days=1)))
    run("keys", "revoke", 3)
    etag = get(app, path, key).headers["ETag"]  # from now on, the cache has the response
    hashed = sha256(key.encode()).hexdigest()
    others = "unknown", key[:-1], key + "x", f"{key}, {key}", key.swapcase(), "é", "x" * 60_000
    responses = [get(app, path, invalid, If_None_Match=etag) for invalid in (expired, revoked, hashed, *others)]
    for response in responses:
        assert_problem(response, 401, "invalid_key")
        assert "ETag" not in response.headers
    assert len({(response.data, response.headers["WWW-Authenticate"]) for response in responses}) == 1


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize(("bad_key", "code"), [(None, "missing_key"), ("", "missing_key"), ("wrong", "invalid_key")])
def test_key_is_checked_before_parameters_and_validators(app, key, path, bad_key, code):
    etag = get(app, path, key).headers["ETag"]
    assert_problem(get(app, path + "?take=0", bad_key), 401, code)
    for tag in (etag, "*"):
        assert_problem(get(app, path, bad_key, If_None_Match=tag, Accept_Encoding="gzip"), 401, code)
    assert app.test_client().head(path, headers={"x-api-key": bad_key or ""}).status_code == 401


def test_key_is_only_read_from_its_header(app, key):
    assert get(app, f"{ARTICLES}?x-api-key={key}&api_key={key}&key={key}").status_code == 401
    assert get(app, ARTICLES, Authorization=f"Bearer {key}", Cookie=f"x-api-key={key}").status_code == 401


@pytest.mark.sqlite
@pytest.mark.parametrize("path", ENDPOINTS)
def test_key_and_articles_come_from_one_snapshot(app, key, save, sql, path):
    """As if a restore gave the customer's id to another one after the key was checked."""
    save(article_json(1, title="Mine", slug="mine"))

    def replace_articles() -> None:
        sql("UPDATE article SET title = 'Theirs', slug = 'theirs'")

    app.before_request_funcs["api"].append(replace_articles)
    for slug in ("mine", "theirs"):
        (entry,) = get(app, path, key).get_json()["data"]
        assert entry.get("slug", entry.get("url")) == slug
