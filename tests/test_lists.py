"""How a client reads articles: pages, order, search, filters, previews, errors. Read this first to learn the API.

test_specification.py compares generated requests with the specification.
"""

import re
from urllib.parse import urljoin

import pytest
from helpers import PREVIEW_FIELDS, article_json
from sqlalchemy import event

from models import db

ARTICLES = "/api/public/v1/articles"
PREVIEWS = "/api/public/v1/articles/preview"


def titles(response):
    return [article["title"] for article in response.get_json()["data"]]


@pytest.fixture
def teas(save):
    """Five published articles, the last one published most recently."""
    save(
        article_json(1, title="green tea", slug="green-tea", category="Tea", keywords=["tea", "Japan"], views=70),
        article_json(2, title="Black tea", slug="black-tea", category="Tea", keywords=["tea"], views=90),
        article_json(3, title="Café au lait", slug="coffee", category="Coffee", keywords=["milk"], views=20),
        article_json(4, title="Oolong", slug="oolong-tea", category="Tea", keywords=["tea", "Taiwan"], views=50),
        article_json(
            5, title="Water", slug="water", category="", keywords=[], views=10, createdAt="2020-01-01T00:00:00Z"
        ),
    )


# Examples


def test_request_has_the_key_in_a_header(app, key, teas):
    response = app.test_client().get("/api/public/v1/articles", headers={"x-api-key": key})
    assert response.status_code == 200
    assert response.get_json()["meta"] == {"total": 5, "take": 5, "skip": 0}


def test_latest_article_comes_first(client, teas):
    response = client.get("/api/public/v1/articles")
    assert titles(response) == ["Water", "Oolong", "Café au lait", "Black tea", "green tea"]


def test_take_and_skip_select_a_page(client, teas):
    second_page = client.get("/api/public/v1/articles?take=2&skip=2")
    assert titles(second_page) == ["Café au lait", "Black tea"]
    assert second_page.get_json()["meta"] == {"total": 5, "take": 2, "skip": 2}
    assert second_page.headers["Link"] == '<?take=2&skip=4>; rel="next", <?take=2&skip=0>; rel="prev"'


def test_page_past_the_last_article_is_empty(client, teas):
    response = client.get("/api/public/v1/articles?skip=10")
    assert response.get_json() == {"data": [], "meta": {"total": 5, "take": 0, "skip": 10}}


ORDERS = {
    "orderBy=title&order=asc": ["Black tea", "Café au lait", "green tea", "Oolong", "Water"],
    "orderBy=views": ["Black tea", "green tea", "Oolong", "Café au lait", "Water"],
    "orderBy=createdAt": ["Oolong", "Café au lait", "Black tea", "green tea", "Water"],
}


@pytest.mark.parametrize("query", ORDERS)
def test_articles_are_ordered_by_a_field(client, teas, query):
    assert titles(client.get(f"/api/public/v1/articles?{query}")) == ORDERS[query]


def test_search_finds_words_in_title_or_slug(client, teas):
    response = client.get("/api/public/v1/articles?q=tea")
    assert titles(response) == ["Oolong", "Black tea", "green tea"]


def test_search_needs_every_word_and_ignores_case_and_accents(client, teas):
    assert titles(client.get("/api/public/v1/articles?q=LAIT+cafe")) == ["Café au lait"]
    assert titles(client.get("/api/public/v1/articles?q=cafe+tea")) == []


@pytest.mark.parametrize(
    ("title", "q"),
    [
        ("Don’t “panic”", 'don\'t "panic"'),
        ("2024–2026 — a well‑known story", "2024-2026 - well-known"),
        ("−5 degrees", "-5"),
        ("Kinder\u00adgarten\u200b", "kindergarten"),
        ("Asparagus", "spar"),
        ("Our spring menu", "(menu), «spring»?!"),
    ],
)
def test_search_ignores_typography_and_finds_parts_of_words(client, save, title, q):
    save(article_json(1, title=title), article_json(2, title="Another"))
    assert titles(client.get("/api/public/v1/articles", query_string={"q": q})) == [title]


FILTERS = {
    "slug=oolong-tea": ["Oolong"],
    "slug=oolong": [],
    "category=Tea": ["Oolong", "Black tea", "green tea"],
    "category=tea": [],
    "category=": ["Water"],
    "keyword=Japan": ["green tea"],
    "keyword=Jap": [],
    "category=Tea&keyword=tea&q=black": ["Black tea"],
}


@pytest.mark.parametrize("query", FILTERS)
def test_filters_are_exact_and_combine(client, teas, query):
    response = client.get(f"/api/public/v1/articles?{query}")
    assert titles(response) == FILTERS[query]
    assert response.get_json()["meta"]["total"] == len(FILTERS[query])


def test_preview_omits_id_content_and_metadata(client, teas):
    full = client.get("/api/public/v1/articles").get_json()["data"]
    previews = client.get("/api/public/v1/articles/preview").get_json()["data"]
    assert previews == [{name: article[name] for name in PREVIEW_FIELDS.split()} for article in full]


def test_error_names_all_invalid_parameters_at_once(client):
    response = client.get("/api/public/v1/articles?take=101&skip=-1&order=up&orderBy=size")
    assert (response.status_code, response.content_type) == (400, "application/problem+json")
    problem = response.get_json()
    assert problem["code"] == "invalid_parameters"
    assert list(problem["errors"]) == ["take", "skip", "orderBy", "order"]
    assert "1 to 100" in problem["errors"]["take"][0]
    assert "createdAt, publishedAt, title, views" in problem["errors"]["orderBy"][0]
    assert "asc, desc" in problem["errors"]["order"][0]


def test_drafts_and_scheduled_articles_are_never_shown(client, save):
    save(article_json(1, slug="draft", status="draft"), article_json(2, slug="later", publishedAt="2099-01-01T00:00Z"))
    for query in ("", "?slug=draft", "?slug=later", "?q=title", "?keyword=one"):
        assert titles(client.get(ARTICLES + query)) == []


# Edges


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("path", [ARTICLES, PREVIEWS + "/"])
def test_next_links_visit_every_article_once_despite_ties(client, save, path, order):
    save(*(article_json(number, title=f"Tea & {number % 3}", views=number % 4) for number in range(30)))
    query = f"{path}?q=tea+%26&utm=x&order={order}&orderBy=views"
    pages = follow(client, f"{query}&take=7", "next")
    found = [article["slug"] for page in pages for article in page.get_json()["data"]]
    by_views = sorted(range(30), key=lambda number: (number % 4, number), reverse=order == "desc")
    assert found == [f"slug-{number}" for number in by_views]
    back = follow(client, f"{query}&take=7&skip=28", "prev")
    assert [page.data for page in back] == [page.data for page in reversed(pages)]


def follow(client, path, relation):
    """Return all pages from `path` on, following the links of this relation."""
    pages = [client.get(path)]
    while link := re.search(rf'<([^>]*)>; rel="{relation}"', pages[-1].headers.get("Link", "")):
        path = urljoin(path, link[1])
        pages.append(client.get(path))
    return pages


def test_total_and_data_come_from_one_snapshot(app, client, save, sql):
    """Another program deletes everything between the two statements of a request."""
    save(*(article_json(number) for number in range(120)))

    def interfere(_connection, _cursor, statement, *_):
        if "count(" in statement:
            sql("DELETE FROM article")

    with app.app_context():
        event.listen(db.engine, "after_cursor_execute", interfere)
    page = client.get(PREVIEWS).get_json()
    assert (page["meta"]["total"], len(page["data"])) == (120, 50)


LINKS = {
    "": '<?take=50&skip=50>; rel="next"',
    "?utm=x&q=t%C3%A9+1&q=2": '<?q=t%C3%A9+1&take=50&skip=50>; rel="next"',
    "?category=News&take=%2B5&order=asc": '<?take=5&order=asc&category=News&skip=5>; rel="next"',
    "?skip=7&take=50": '<?take=50&skip=57>; rel="next", <?take=50&skip=0>; rel="prev"',
    "?skip=109": '<?take=50&skip=59>; rel="prev"',
    "?skip=110": None,
    "?take=60": None,
}


def test_links_repeat_only_known_parameters(client, save):
    save(*(article_json(number, title=f"Té 1 {number}") for number in range(60)))
    for query, link in LINKS.items():
        assert client.get(PREVIEWS + query).headers.get("Link") == link, query


@pytest.mark.parametrize(("query", "total"), [("q=%ff%fe", 0), ("q=%ED%A0%80", 0), ("%ff=%00&q", 1)])
def test_invalid_utf_8_in_a_query_is_not_an_error(client, save, query, total):
    save(article_json(1))
    assert client.get(f"{PREVIEWS}?{query}").get_json()["meta"]["total"] == total
