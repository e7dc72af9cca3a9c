"""Tests of both article lists: parameters, search, order, ties, paging, meta and fields."""

import random
import time
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import cycle

import helpers
import pytest
import time_machine
from helpers import (
    LISTS,
    PAST,
    article_json,
    assert_problem,
    client_with_key,
    create_application,
    create_key,
    iso,
    save_articles,
)

from storage.search import fold

ORDERS = ("createdAt", "publishedAt", "title", "views")
FULL, PREVIEW = LISTS

TITLES = ("Café in Łódź", "CAFE", "café, naïve", "Straße", "STRASSE", "Ωmega", "ωμέγα", "東京の本", "한국 음식")


def tied_articles():
    """Return 300 articles with hundreds of ties in every sort field."""
    chance = random.Random(7)
    return [
        article_json(
            number,
            id=f"id-{chance.randrange(10**9)}",
            title=chance.choice(TITLES),
            slug=f"{chance.choice(('tea', 'Té', '茶'))}-{number}",
            publishedAt=iso(PAST + timedelta(days=chance.randrange(3))),
            createdAt=iso(PAST - timedelta(days=chance.randrange(3))),
            views=chance.randrange(4),
        )
        for number in range(300)
    ]


TIED = tied_articles()


@pytest.fixture(scope="module")
def unchanged(template, tmp_path_factory):
    """The application on a database that no test changes."""
    before = len(helpers.created_databases)
    database = tmp_path_factory.mktemp("lists") / "articles.db"
    helpers.copy_database(template, database)
    app = create_application(database)
    yield app
    helpers.close(app)
    helpers.drop_databases(before)


@pytest.fixture(scope="module")
def tied(unchanged):
    """A client that reads `TIED` among drafts, scheduled articles and another customer's articles."""
    tomorrow = iso(datetime.now(UTC) + timedelta(days=1))
    drafts = [article_json(number, status="draft", title="CAFE") for number in range(300, 320)]
    scheduled = [article_json(number, publishedAt=tomorrow, title="CAFE") for number in range(320, 340)]
    key = create_key(unchanged, "Tied")
    save_articles(unchanged, *TIED, *drafts, *scheduled, customer="Tied")
    save_articles(unchanged, *(article_json(number, title="CAFE") for number in range(50)), customer="Other")
    return client_with_key(unchanged, key)


@pytest.fixture(scope="module")
def latte(unchanged):
    """A client that reads one article, to search for."""
    key = create_key(unchanged, "Latte")
    article = article_json(1, title="Café Latte: 100% a\\b Straße", slug="café-latte-100")
    save_articles(unchanged, article, customer="Latte")
    return client_with_key(unchanged, key)


@cache
def in_order(order_by, order):
    """Return `TIED` in the documented order, in plain Python."""

    def sort_key(article):
        value = article[order_by]
        return fold(value) if order_by == "title" else value, article["id"]

    return sorted(TIED, key=sort_key, reverse=order == "desc")


def matches(article, q):
    """Return whether an article contains every word of `q`, by the documented rule in plain Python."""
    texts = fold(article["title"]), fold(article["slug"])
    return all(any(fold(word) in text for text in texts) for word in q.split())


def slugs(articles):
    return [article["slug"] for article in articles]


def read_all(client, path, take, **parameters):
    """Read every page as the README does: until skip and the returned count together reach the total."""
    articles, skip = [], 0
    while True:
        page = client.get(path, query_string={"take": take, "skip": skip, **parameters}).get_json()
        assert page["meta"]["skip"] == skip
        assert page["meta"]["take"] == len(page["data"]) <= take
        articles += page["data"]
        skip += len(page["data"])
        if skip >= page["meta"]["total"]:
            return articles


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("order_by", ORDERS)
def test_joined_pages_are_every_match_once_in_order(tied, order_by, order):
    searches = ("", "cafe", "STRASSE", "te 1", "茶 京", "ωμεγα", "한", "nothing", "%", "e_")
    for q, take in zip(searches, cycle((7, 100) if order == "asc" else (100, 7)), strict=False):
        expected = [article for article in in_order(order_by, order) if matches(article, q)]
        found = read_all(tied, PREVIEW, take, q=q, orderBy=order_by, order=order)
        assert slugs(found) == slugs(expected), (q, take)


def test_any_page_is_a_slice_of_the_whole_list(tied):
    chance = random.Random(8)
    for _ in range(200):
        order_by, order = chance.choice(ORDERS), chance.choice(("asc", "desc"))
        take, skip = chance.randint(1, 100), chance.randrange(400)
        expected = slugs(in_order(order_by, order))[skip : skip + take]
        query = {"take": take, "skip": skip, "orderBy": order_by, "order": order}
        page = tied.get(PREVIEW, query_string=query).get_json()
        assert slugs(page["data"]) == expected
        assert page["meta"] == {"total": 300, "take": len(expected), "skip": skip}


def test_default_page_has_the_fifty_newest_articles(tied):
    page = tied.get(PREVIEW).get_json()
    assert slugs(page["data"]) == slugs(in_order("publishedAt", "desc")[:50])
    assert page["meta"] == {"total": 300, "take": 50, "skip": 0}


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("cafe", True),
        ("CAFÉ", True),
        ("cafe\u0301", True),  # an e and a combining accent
        ("lat é", True),
        ("café-latte-100", True),
        ("latte cafe", True),
        ("  cafe\u3000latte ", True),  # an ideographic space separates words too
        ("100%", True),
        ("100％", True),  # full-width
        ("caf%", False),
        ("caf_", False),
        ("a\\b", True),
        ("a＼b", True),
        ("strasse", True),
        ("STRAẞE", True),
        ("latteslug", False),
        ("strassecafe", False),  # the end of the title and the start of the slug
        ("latte\ncafe", True),
        ("", True),
        ("   ", True),
        ("\u0301\u0301", True),  # only combining marks
        ("😀", False),
    ],
)
def test_search_ignores_case_accents_and_word_order(latte, q, found):
    page = latte.get(PREVIEW, query_string={"q": q}).get_json()
    assert page["meta"]["total"] == len(page["data"]) == int(found)


def test_search_may_have_a_hundred_words(client, save):
    words = [chr(0x4E00 + number) for number in range(100)]
    save(article_json(1, title="".join(words) + "x" * 200))
    for q in (" ".join(words), "x" * 200):
        assert client.get(PREVIEW, query_string={"q": q}).get_json()["meta"]["total"] == 1


def test_error_says_which_values_a_parameter_may_have(latte):
    problem = assert_problem(latte.get(FULL + "?take=x&skip=x&order=x&orderBy=x&q=" + "x" * 201), 400)
    messages = {name: message for name, (message,) in problem["errors"].items()}
    assert messages == {
        "q": "Must be 200 characters or fewer.",
        "take": "Must be a whole number, 1 to 100.",
        "skip": "Must be a whole number, 0 or more.",
        "orderBy": "Must be one of: createdAt, publishedAt, title, views.",
        "order": "Must be one of: asc, desc.",
    }


def test_skip_may_have_ten_thousand_digits(tied):
    response = tied.get(FULL, query_string={"skip": "9" * 10_000})
    assert response.status_code == 200
    assert '"data":[],"meta":{"total":300,' in response.get_data(as_text=True)


def test_long_number_is_parsed_in_linear_time(latte):
    """A pattern that is tried again from each of the zeros takes a second for one request."""
    began = time.monotonic()
    for _ in range(20):
        assert_problem(latte.get(FULL, query_string={"take": "0" * 50_000 + "x"}), 400)
    assert time.monotonic() - began < 5
    assert latte.get(FULL, query_string={"take": "0" * 50_000 + "7"}).status_code == 200


def test_bytes_that_are_not_utf_8_are_no_error(latte):
    assert latte.get(PREVIEW + "?q=%ff%fe").get_json()["meta"]["total"] == 0
    assert latte.get(PREVIEW + "?q=%ED%A0%80").status_code == 200
    assert latte.get(PREVIEW + "?%ff=%00&q").status_code == 200


@pytest.mark.parametrize("others", [[], ["Aardvark"], ["Zebra"], ["Aardvark", "Zebra"]])
def test_total_counts_only_the_customers_published_articles(app, save, sql, others):
    tomorrow = iso(datetime.now(UTC) + timedelta(days=1))
    mixed = [
        *(article_json(number) for number in range(5)),
        *(article_json(number, status="draft") for number in range(5, 7)),
        *(article_json(number, status="draft", publishedAt=None) for number in range(7, 9)),
        article_json(9, status="draft", publishedAt=tomorrow),
        *(article_json(number, publishedAt=tomorrow) for number in range(10, 14)),
    ]
    for customer in sorted(["Acme", *others]):  # so that the other customers' ids are lower and higher
        save(*mixed, customer=customer)
    client = client_with_key(app, create_key(app))
    assert client.get(PREVIEW).get_json()["meta"]["total"] == 5
    assert client.get(PREVIEW + "?q=title&skip=9").get_json()["meta"]["total"] == 5
    sql("DELETE FROM article WHERE id = 'id-0003'")
    assert client.get(PREVIEW + "?skip=9").get_json()["meta"]["total"] == 4


def test_scheduled_article_appears_exactly_at_its_time(client, save):
    soon = (datetime.now(UTC) + timedelta(minutes=10)).replace(microsecond=123_000)
    save(article_json(1), article_json(2, publishedAt=iso(soon), title="Soon"))
    assert client.get(PREVIEW).get_json()["meta"]["total"] == 1
    with time_machine.travel(soon - timedelta(milliseconds=1), tick=False):
        assert client.get(PREVIEW).get_json()["meta"]["total"] == 1
    with time_machine.travel(soon, tick=False):
        (first, _) = client.get(PREVIEW).get_json()["data"]
    assert first["title"] == "Soon"
    assert first["publishedAt"] == iso(soon)
