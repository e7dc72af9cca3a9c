"""Tests of both article lists: parameters, search, order, ties, paging, meta and fields."""

import random
import time
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import cycle, product

import helpers
import pytest
import time_machine
from helpers import (
    FULL_FIELDS,
    LISTS,
    PAST,
    PREVIEW_FIELDS,
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


def test_full_list_has_the_same_pages(tied):
    for order_by, order in product(ORDERS, ("asc", "desc")):
        found = read_all(tied, FULL, 90, orderBy=order_by, order=order)
        assert [article["id"] for article in found] == [article["id"] for article in in_order(order_by, order)]


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


def test_full_article_has_its_fields_in_order(client, save):
    save(article_json(1, readTime=5.0))
    (found,) = client.get(FULL).get_json()["data"]
    assert " ".join(found) == FULL_FIELDS
    assert found["publishedAt"] == "2025-03-01T10:30:00.000Z"
    assert found["keywords"] == ["one", "two"]
    assert found["schemaMarkup"]["@context"] == "https://schema.org"
    assert isinstance(found["schemaMarkup"]["@graph"], list)


def test_preview_has_exactly_its_seven_fields_in_order(client, save):
    save(article_json(1))
    (found,) = client.get(PREVIEW).get_json()["data"]
    assert " ".join(found) == PREVIEW_FIELDS


def test_missing_text_is_empty_and_no_field_is_null(client, save):
    save(article_json(1, bannerUrl="", category="", keywords=[], metaTitle="", metaDesc="", contentHtml=""))
    (found,) = client.get(FULL).get_json()["data"]
    assert [found[name] for name in ("bannerUrl", "category", "metaTitle", "metaDesc", "contentHtml")] == [""] * 5
    assert found["keywords"] == []
    assert None not in found.values()


def test_whole_reading_time_has_no_fraction(client, save):
    for stored, shown in ((5.0, "5"), (2.5, "2.5"), (0.0, "0")):
        save(article_json(1, readTime=stored))
        assert f'"readTime":{shown},' in client.get(PREVIEW).get_data(as_text=True)


def test_text_is_sent_as_utf_8(client, save):
    save(article_json(1, title="Ærø 東京 😀 \u2028", contentHtml="<p>naïve &amp; “quoted”</p>"))
    response = client.get(FULL)
    assert "Ærø 東京 😀 \u2028" in response.get_data(as_text=True)
    assert "<p>naïve &amp; “quoted”</p>" in response.get_data(as_text=True)
    assert response.content_type == "application/json"


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


def test_search_reads_only_title_and_slug(client, save):
    save(article_json(1, contentHtml="<p>needle</p>", category="needle", keywords=["needle"]))
    assert client.get(FULL, query_string={"q": "needle"}).get_json()["meta"]["total"] == 0


def test_search_may_have_a_hundred_words(client, save):
    save(article_json(1, title="".join(chr(0x4E00 + number) for number in range(100))))
    q = " ".join(chr(0x4E00 + number) for number in range(100))
    assert client.get(PREVIEW, query_string={"q": q}).get_json()["meta"]["total"] == 1


def test_search_may_have_two_hundred_characters(client, save):
    save(article_json(1, title="x" * 200))
    assert client.get(PREVIEW, query_string={"q": "x" * 200}).get_json()["meta"]["total"] == 1


def test_title_edited_by_another_tool_shows_at_once(client, save, sql):
    save(article_json(1))
    client.get(FULL)
    sql("UPDATE article SET title = 'Edited'")
    assert client.get(FULL).get_json()["data"][0]["title"] == "Edited"


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        *(("take", value) for value in ("0", "101", "-1", "1000000000000000000000000", "9" * 5000)),
        *(("skip", value) for value in ("-1", "-" + "9" * 5000)),
        *product(
            ("take", "skip"), ("", " 5", "5 ", "5.0", "1e2", "0x10", "1_000", "٥", "５", "five", "--5", "+", "5\0")
        ),
        *product(("orderBy",), ("", "id", "PublishedAt", "publishedAt ", "published_at", "title;--")),
        *product(("order",), ("", "ASC", "up")),
        ("q", "x" * 201),
        ("q", "a\0b"),
    ],
)
def test_bad_parameter_is_named_with_its_allowed_values(latte, path, parameter, value):
    problem = assert_problem(latte.get(path, query_string={parameter: value}), 400)
    assert list(problem["errors"]) == [parameter]
    (message,) = problem["errors"][parameter]
    hints = {
        "take": "1 to 100",
        "skip": "0 or more",
        "orderBy": "createdAt, publishedAt, title, views",
        "order": "asc, desc",
    }
    assert hints.get(parameter, "") in message


def test_all_bad_parameters_are_named_at_once(latte):
    problem = assert_problem(latte.get(FULL + "?take=x&skip=x&order=x&orderBy=x&q=" + "x" * 201), 400)
    assert set(problem["errors"]) == {"take", "skip", "order", "orderBy", "q"}


@pytest.mark.parametrize(("text", "number"), [("+5", 5), ("005", 5), ("100", 100), ("1", 1), ("0" * 6000 + "7", 7)])
def test_numbers_may_have_a_sign_and_leading_zeros(tied, text, number):
    assert tied.get(PREVIEW, query_string={"take": text}).get_json()["meta"]["take"] == number


@pytest.mark.parametrize("skip", ["-0", "+0", "000"])
def test_zero_may_have_a_sign_and_more_digits(client, skip):
    assert client.get(FULL, query_string={"skip": skip}).get_json() == {
        "data": [],
        "meta": {"total": 0, "take": 0, "skip": 0},
    }


@pytest.mark.parametrize("skip", [300, 2**31, 2**63 - 1, 2**63, 2**64, 10**30, 10**4000])
def test_page_past_the_end_is_empty_with_the_true_total(tied, skip):
    response = tied.get(FULL, query_string={"skip": skip})
    assert response.get_json() == {"data": [], "meta": {"total": 300, "take": 0, "skip": skip}}


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


def test_first_value_of_a_repeated_parameter_counts(tied):
    assert tied.get(PREVIEW + "?take=3&take=x").get_json()["meta"]["take"] == 3


def test_unknown_parameters_are_ignored(tied):
    plain = tied.get(PREVIEW)
    assert tied.get(PREVIEW + "?utm_source=x&_=17&TAKE=0&take[]=0&x-api-key=y").data == plain.data


def test_bytes_that_are_not_utf_8_are_no_error(latte):
    assert latte.get(PREVIEW + "?q=%ff%fe").get_json()["meta"]["total"] == 0
    assert latte.get(PREVIEW + "?q=%ED%A0%80").status_code == 200
    assert latte.get(PREVIEW + "?%ff=%00&q").status_code == 200


def test_pages_stay_disjoint_when_a_new_article_is_added(client, save):
    save(*TIED)
    first = client.get(PREVIEW + "?order=asc&take=100").get_json()
    save(article_json(900, publishedAt=iso(datetime.now(UTC))))
    second = client.get(PREVIEW + "?order=asc&take=100&skip=100").get_json()
    assert len(first["data"]) == len(second["data"]) == 100
    assert not set(slugs(first["data"])) & set(slugs(second["data"]))
    assert second["meta"]["total"] == 301


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
