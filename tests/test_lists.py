"""Both lists: parameters, search, order, ties, paging, meta, forms."""

import random
import time
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from conftest import LISTS, PAST, article, assert_problem, make_key, url_of
from sqlalchemy import event

from app import create_app
from models import db
from schemas import timestamp
from search import fold

ORDERS = ("createdAt", "publishedAt", "title", "views")
FULL, PREVIEW = LISTS

TITLES = ("Café in Łódź", "CAFE", "café, naïve", "Straße", "STRASSE", "Ωmega", "ωμέγα", "東京の本", "한국 음식")


@pytest.fixture
def tied(save):
    """300 articles with hundreds of ties in every sort field, among drafts, scheduled ones and another customer's."""
    chance = random.Random(7)
    published = [
        article(
            number,
            id=f"id-{chance.randrange(10**9)}",
            title=chance.choice(TITLES),
            slug=f"{chance.choice(('tea', 'Té', '茶'))}-{number}",
            published_at=PAST + timedelta(days=chance.randrange(3)),
            created_at=PAST - timedelta(days=chance.randrange(3)),
            views=chance.randrange(4),
        )
        for number in range(300)
    ]
    drafts = [article(number, status="draft", title="CAFE") for number in range(300, 320)]
    future = datetime.now(UTC) + timedelta(days=1)
    scheduled = [article(number, published_at=future, title="CAFE") for number in range(320, 340)]
    save(*published, *drafts, *scheduled)
    save(*(article(number, title="CAFE") for number in range(50)), customer="Other")
    return published


def expected_order(articles, order_by, order):
    fields = {
        "createdAt": lambda each: each["created_at"],
        "publishedAt": lambda each: each["published_at"],
        "title": lambda each: fold(each["title"]),
        "views": lambda each: each["views"],
    }
    return sorted(articles, key=lambda each: (fields[order_by](each), each["id"]), reverse=order == "desc")


def matches(each, q):
    """Tell whether an article holds every word of `q`: the decision on search, in plain Python."""
    texts = fold(each["title"]), fold(each["slug"])
    return all(any(fold(word) in text for text in texts) for word in q.split())


def read_all(client, path, take, **parameters):
    """Page as the specification says: until skip and the returned count together reach the total."""
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
def test_pages_joined_are_every_match_once_and_in_order(client, tied, order_by, order):
    searches = ("", "cafe", "STRASSE", "te 1", "茶 京", "ωμεγα", "한", "nothing", "%", "e_")
    for q, take in product(searches, (7, 50, 100)):
        expected = expected_order([each for each in tied if matches(each, q)], order_by, order)
        found = read_all(client, PREVIEW, take, q=q, orderBy=order_by, order=order)
        assert [each["slug"] for each in found] == [each["slug"] for each in expected], (q, take)


def test_the_full_list_pages_alike(client, tied):
    for order_by, order in product(ORDERS, ("asc", "desc")):
        found = read_all(client, FULL, 90, orderBy=order_by, order=order)
        assert [each["id"] for each in found] == [each["id"] for each in expected_order(tied, order_by, order)]


def test_any_window_is_a_slice_of_the_whole(client, tied):
    chance = random.Random(8)
    for _ in range(200):
        order_by, order = chance.choice(ORDERS), chance.choice(("asc", "desc"))
        take, skip = chance.randint(1, 100), chance.randrange(400)
        expected = [each["slug"] for each in expected_order(tied, order_by, order)][skip : skip + take]
        query = {"take": take, "skip": skip, "orderBy": order_by, "order": order}
        page = client.get(PREVIEW, query_string=query).get_json()
        assert [each["slug"] for each in page["data"]] == expected
        assert page["meta"] == {"total": 300, "take": len(expected), "skip": skip}


def test_without_parameters_the_newest_fifty_come_first(client, tied):
    page = client.get(PREVIEW).get_json()
    newest = expected_order(tied, "publishedAt", "desc")[:50]
    assert [each["slug"] for each in page["data"]] == [each["slug"] for each in newest]
    assert page["meta"] == {"total": 300, "take": 50, "skip": 0}


def test_a_full_article_has_the_specified_fields_in_their_order(client, save):
    save(article(1, read_time=5.0))
    (found,) = client.get(FULL).get_json()["data"]
    names = "id title slug bannerUrl keywords metaTitle metaDesc publishedAt category readTime contentHtml schemaMarkup"
    assert " ".join(found) == names
    assert found["publishedAt"] == "2025-03-01T10:30:00.000Z"
    assert found["keywords"] == ["one", "two"]
    assert found["schemaMarkup"]["@context"] == "https://schema.org"
    assert isinstance(found["schemaMarkup"]["@graph"], list)


def test_a_preview_has_exactly_its_seven_fields(client, save):
    save(article(1))
    (found,) = client.get(PREVIEW).get_json()["data"]
    assert " ".join(found) == "title slug bannerUrl publishedAt readTime category keywords"


def test_what_an_article_lacks_is_empty_and_never_null(client, save):
    save(article(1, banner_url="", category="", keywords="[]", meta_title="", meta_desc="", content_html=""))
    (found,) = client.get(FULL).get_json()["data"]
    assert [found[name] for name in ("bannerUrl", "category", "metaTitle", "metaDesc", "contentHtml")] == [""] * 5
    assert found["keywords"] == []
    assert None not in found.values()


@pytest.mark.parametrize(("stored", "shown"), [(5.0, "5"), (2.5, "2.5"), (0.0, "0")])
def test_a_whole_reading_time_has_no_fraction(client, save, stored, shown):
    save(article(1, read_time=stored))
    assert f'"readTime":{shown},' in client.get(PREVIEW).get_data(as_text=True)


def test_text_goes_out_as_utf_8(client, save):
    save(article(1, title="Ærø 東京 😀 \u2028", content_html="<p>naïve &amp; “quoted”</p>"))
    answer = client.get(FULL)
    assert "Ærø 東京 😀" in answer.get_data(as_text=True)
    assert "<p>naïve &amp; “quoted”</p>" in answer.get_data(as_text=True)
    assert answer.content_type == "application/json"


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("cafe", True),
        ("CAFÉ", True),
        ("cafe\u0301", True),  # an e and a combining accent
        ("lat é", True),
        ("café-latte-100", True),
        ("latte cafe", True),
        ("  cafe\u3000latte ", True),  # an ideographic space parts words too
        ("100%", True),
        ("100％", True),  # full-width
        ("caf%", False),
        ("caf_", False),
        ("a\\b", True),
        ("a＼b", True),
        ("strasse", True),
        ("STRAẞE", True),
        ("latteslug", False),
        ("latte\ncafe", True),
        ("", True),
        ("   ", True),
        ("\u0301\u0301", True),  # only marks
        ("😀", False),
    ],
)
def test_search_finds_what_a_person_means(client, save, q, found):
    save(article(1, title="Café Latte: 100% a\\b Straße", slug="café-latte-100"))
    page = client.get(PREVIEW, query_string={"q": q}).get_json()
    assert page["meta"]["total"] == len(page["data"]) == int(found)


def test_search_reads_title_and_slug_only(client, save):
    save(article(1, content_html="<p>needle</p>", category="needle", keywords='["needle"]'))
    assert client.get(FULL, query_string={"q": "needle"}).get_json()["meta"]["total"] == 0


def test_a_search_may_have_a_hundred_words(client, save):
    save(article(1, title="".join(chr(0x4E00 + number) for number in range(100))))
    q = " ".join(chr(0x4E00 + number) for number in range(100))
    assert client.get(PREVIEW, query_string={"q": q}).get_json()["meta"]["total"] == 1


def test_a_search_may_have_two_hundred_characters(client, save):
    save(article(1, title="x" * 200))
    assert client.get(PREVIEW, query_string={"q": "x" * 200}).get_json()["meta"]["total"] == 1


def test_a_title_that_another_tool_edits_shows_at_once(client, save, sql):
    save(article(1))
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
def test_a_bad_parameter_is_named_and_the_allowed_values_told(client, path, parameter, value):
    problem = assert_problem(client.get(path, query_string={parameter: value}), 400)
    assert list(problem["errors"]) == [parameter]
    (message,) = problem["errors"][parameter]
    hints = {"take": "1 to 100", "skip": "0 or more", "orderBy": "createdAt, publishedAt, title, views"}
    assert hints.get(parameter, "") in message


def test_all_bad_parameters_are_told_at_once(client):
    problem = assert_problem(client.get(FULL + "?take=x&skip=x&order=x&orderBy=x&q=" + "x" * 201), 400)
    assert set(problem["errors"]) == {"take", "skip", "order", "orderBy", "q"}


@pytest.mark.parametrize(("text", "number"), [("+5", 5), ("005", 5), ("100", 100), ("1", 1), ("0" * 6000 + "7", 7)])
def test_numbers_may_have_a_sign_and_leading_zeros(client, save, text, number):
    save(*(article(each) for each in range(101)))
    assert client.get(PREVIEW, query_string={"take": text}).get_json()["meta"]["take"] == number


@pytest.mark.parametrize("skip", ["-0", "+0", "000"])
def test_zero_may_be_written_in_many_ways(client, skip):
    assert client.get(FULL, query_string={"skip": skip}).get_json()["meta"] == {"total": 0, "take": 0, "skip": 0}


@pytest.mark.parametrize("skip", [300, 2**31, 2**63 - 1, 2**63, 2**64, 10**30, 10**4000])
def test_past_the_last_article_there_is_an_empty_page_with_the_true_total(client, tied, skip):
    answer = client.get(FULL, query_string={"skip": skip})
    assert answer.get_json() == {"data": [], "meta": {"total": 300, "take": 0, "skip": skip}}


def test_a_number_of_any_length_is_no_error(client, tied):
    answer = client.get(FULL, query_string={"skip": "9" * 10_000})
    assert answer.status_code == 200
    assert '"data":[],"meta":{"total":300,' in answer.get_data(as_text=True)


def test_a_number_that_goes_wrong_at_its_end_is_read_only_once(client):
    """Tried anew from each of its zeros, it would take a second."""
    began = time.monotonic()
    for _ in range(20):
        assert_problem(client.get(FULL, query_string={"take": "0" * 50_000 + "x"}), 400)
    assert time.monotonic() - began < 5
    assert client.get(FULL, query_string={"take": "0" * 50_000 + "7"}).status_code == 200


def test_of_a_repeated_parameter_the_first_counts(client, tied):
    assert client.get(PREVIEW + "?take=3&take=x").get_json()["meta"]["take"] == 3


def test_unknown_parameters_are_ignored(client, tied):
    plain = client.get(PREVIEW)
    assert client.get(PREVIEW + "?utm_source=x&_=17&TAKE=0&take[]=0&x-api-key=y").data == plain.data


def test_bytes_that_are_no_utf_8_are_no_error(client, save):
    save(article(1))
    assert client.get(PREVIEW + "?q=%ff%fe").get_json()["meta"]["total"] == 0
    assert client.get(PREVIEW + "?q=%ED%A0%80").status_code == 200
    assert client.get(PREVIEW + "?%ff=%00&q").status_code == 200


def test_pages_stay_disjoint_while_new_articles_arrive_behind_them(client, tied, save):
    first = client.get(PREVIEW + "?order=asc&take=100").get_json()
    save(article(900, published_at=datetime.now(UTC)))
    second = client.get(PREVIEW + "?order=asc&take=100&skip=100").get_json()
    assert not {each["slug"] for each in first["data"]} & {each["slug"] for each in second["data"]}
    assert second["meta"]["total"] == 301


def test_total_and_data_come_from_one_state(app, client, tied, sql):
    """Delete everything between the two statements of one request: neither of them may see it."""

    def interfere(_connection, _cursor, statement, *_rest):
        if "count(" in statement:
            sql("DELETE FROM article")

    with app.app_context():
        event.listen(db.engine, "after_cursor_execute", interfere)
        page = client.get(PREVIEW).get_json()
        event.remove(db.engine, "after_cursor_execute", interfere)
    assert (page["meta"]["total"], len(page["data"])) == (300, 50)
    assert client.get(PREVIEW).get_json()["meta"]["total"] == 0


@pytest.mark.parametrize("others", [[], ["Aardvark"], ["Zebra"], ["Aardvark", "Zebra"]])
def test_the_total_is_of_the_customers_own_published_articles(app, save, sql, others):
    future = datetime.now(UTC) + timedelta(days=1)
    mixed = [
        *(article(number) for number in range(5)),
        *(article(number, status="draft") for number in range(5, 7)),
        *(article(number, status="draft", published_at=None) for number in range(7, 9)),
        article(9, status="draft", published_at=future),
        *(article(number, published_at=future) for number in range(10, 14)),
    ]
    for customer in sorted(["Acme", *others]):  # so that their numbers are lower and higher
        save(*mixed, customer=customer)
    client = app.test_client()
    client.environ_base["HTTP_X_API_KEY"] = make_key(app, "Acme")
    assert client.get(PREVIEW).get_json()["meta"]["total"] == 5
    assert client.get(PREVIEW + "?q=title&skip=9").get_json()["meta"]["total"] == 5
    sql("DELETE FROM article WHERE id = 'id-0003'")
    assert client.get(PREVIEW + "?skip=9").get_json()["meta"]["total"] == 4


def test_a_scheduled_article_appears_by_itself(client, save):
    soon = datetime.now(UTC) + timedelta(seconds=0.6)
    save(article(1), article(2, published_at=soon, title="Soon"))
    assert client.get(PREVIEW).get_json()["meta"]["total"] == 1
    while datetime.now(UTC) <= soon:
        pass
    (first, _) = client.get(PREVIEW).get_json()["data"]
    assert first["title"] == "Soon"
    assert first["publishedAt"] == timestamp(soon.replace(microsecond=soon.microsecond // 1000 * 1000))


@pytest.mark.sqlite
@pytest.mark.parametrize(("megabytes", "selects"), [(0, 3), (1, 4)])
def test_a_request_takes_few_statements(client, key, tied, database, megabytes, selects):
    """The key, the total, the page, and, to keep the answer, when it ends; no list loads articles one by one."""
    app = create_app({"DATABASE_URL": url_of(database), "CACHE_MB": megabytes})
    with app.app_context():
        engine = db.engine
    statements = []
    event.listen(engine, "before_cursor_execute", lambda _c, _cursor, statement, *_: statements.append(statement))
    assert app.test_client().get(FULL, headers={"x-api-key": key}).status_code == 200
    assert [statement.split()[0] for statement in statements] == ["BEGIN", *["SELECT"] * selects]
