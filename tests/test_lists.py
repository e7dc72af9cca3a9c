"""Tests of both article lists besides those of test_specification.py: searches, error messages, hostile parameters."""

import time

from helpers import LISTS, article_json, assert_problem

FULL, PREVIEW = LISTS


def test_error_says_which_values_a_parameter_may_have(client):
    problem = assert_problem(client.get(FULL + "?take=x&skip=x&order=x&orderBy=x&slug=%00&q=" + "x" * 201), 400)
    messages = {name: message for name, (message,) in problem["errors"].items()}
    assert messages == {
        "q": "Must be 200 characters or fewer.",
        "take": "Must be a whole number, 1 to 100.",
        "skip": "Must be a whole number, 0 to 9007199254740991.",
        "orderBy": "Must be one of: createdAt, publishedAt, title, views.",
        "order": "Must be one of: asc, desc.",
        "slug": "Must not contain a NUL character.",
    }


def slugs(client, **query):
    """Return the slugs of a list, and its total."""
    page = client.get(PREVIEW, query_string=query).get_json()
    return [article["slug"] for article in page["data"]], page["meta"]["total"]


def test_article_is_found_by_its_slug(client, save):
    save(article_json(1, slug="plums"), article_json(2, slug="plums-and-pears"))
    assert slugs(client, slug="plums") == (["plums"], 1)
    assert slugs(client, slug="Plums") == ([], 0)
    assert slugs(client, slug="") == ([], 0)


def test_filters_combine(client, save):
    save(
        article_json(1, title="Tea", category="News", keywords=["tea", "spring"]),
        article_json(2, title="Tea", category="News", keywords=["tea"]),
        article_json(3, title="Cake", category="", keywords=["tea", 'a "b" %']),
        article_json(4, title="Tea", category="news", keywords=[]),
    )
    assert slugs(client, category="News") == (["slug-2", "slug-1"], 2)
    assert slugs(client, category="News", keyword="spring") == (["slug-1"], 1)
    assert slugs(client, keyword="tea", q="cake") == (["slug-3"], 1)
    assert slugs(client, keyword='a "b" %') == (["slug-3"], 1)
    assert slugs(client, category="") == (["slug-3"], 1)
    assert slugs(client, keyword="te") == ([], 0)
    assert slugs(client, keyword="tea", take=1, skip=1) == (["slug-2"], 3)


def test_filter_is_in_the_links_and_has_its_own_cache_entry(client, save):
    save(*(article_json(number, category=f"{number % 2}") for number in range(5)))
    response = client.get(PREVIEW + "?category=0&take=2&tag=x")
    assert response.headers["Link"] == '<?take=2&category=0&skip=2>; rel="next"'
    assert client.get(PREVIEW + "?category=1&take=2").get_json()["meta"]["total"] == 2


def test_drafts_and_scheduled_articles_are_never_found(client, save):
    save(article_json(1, slug="draft", status="draft"), article_json(2, slug="later", publishedAt="2099-01-01T00:00Z"))
    assert slugs(client, slug="draft") == slugs(client, slug="later") == slugs(client, keyword="one") == ([], 0)


def test_long_number_is_parsed_in_linear_time(client):
    """A pattern that is tried again from each of the zeros takes a second for one request."""
    began = time.monotonic()
    for _ in range(20):
        assert_problem(client.get(FULL, query_string={"take": "0" * 50_000 + "x"}), 400)
    assert time.monotonic() - began < 5
    assert client.get(FULL, query_string={"take": "0" * 50_000 + "7"}).status_code == 200


def test_bytes_that_are_not_utf_8_are_no_error(client, save):
    save(article_json(1))
    assert client.get(PREVIEW + "?q=%ff%fe").get_json()["meta"]["total"] == 0
    assert client.get(PREVIEW + "?q=%ED%A0%80").status_code == 200
    assert client.get(PREVIEW + "?%ff=%00&q").status_code == 200
