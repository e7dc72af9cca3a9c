"""Third-party Flask extensions, used as in CONTRIBUTING."""

from helpers import ENDPOINTS, application, article_json, assert_problem, blocks, client_with_key, read_page


def test_rate_limit_includes_cache_hits(key, save, database, monkeypatch):
    save(article_json(1))
    module = blocks(read_page("CONTRIBUTING"), "python")[0].replace("100 per minute", "5 per minute")
    with application(database) as app:
        monkeypatch.setattr("app.create_app", lambda: app)
        exec(module)  # noqa: S102
        client = client_with_key(app, key)
        assert [client.get(ENDPOINTS[0]).status_code for _ in range(5)] == [200] * 5
        response = client.get(ENDPOINTS[0])
        assert_problem(response, 429, "too_many_requests")
