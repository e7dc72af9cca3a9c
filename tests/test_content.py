"""What is made of an article's content, and how articles are written."""

import json
import sqlite3
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from conftest import PAST, article
from sqlalchemy import select

from auth import find_or_add_customer
from content import complete, save_articles, schema_markup, start_of, words_of
from database import begin_write
from errors import Faults, Place
from models import Article, db


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One</p><p>two</p>", "One two"),
        ("<p>Mid<em>word</em>, <A href='x>y'>link</A>.</p>", "Midword, link."),
        ('<img alt="a > b">c', "c"),
        ("<h2>A &amp; B</h2>\n<ul><li>caf&eacute;</li></ul>", "A & B café"),
        ("a<br>b<!-- not\nthis -->c<script>not('<p>this');</script >d<STYLE>p{}</STYLE>", "a b c d"),
        ("<summary>a</summary><button>b</button>", "a b"),
        ("<style-guide>a</style-guide> <scripts>b</scripts>", "a b"),
        ("<script src='x'>x</script foo>a<script>x</script/>b", "a b"),
        ("<!-->a<!--->b<!--x--!>c", "a b c"),
        ("1 &lt; 2 < 3", "1 < 2 < 3"),
        ("&#65; &#x41 &#" + "0" * 5000 + "65; &#" + "6" * 5000 + ";", "A A A \N{REPLACEMENT CHARACTER}"),
        ("end <p", "end"),
        ("end <!-- not this", "end"),
        ("end <script>not this", "end"),
        ("", ""),
    ],
)
def test_the_words_of_html_are_what_a_reader_sees(html, text):
    assert " ".join(words_of(html)) == text


@pytest.mark.parametrize(
    "piece", ["<!--", "<script>", "<a ", '<a "', "<", "<p '", "<style", "&", "</", "<script>x</script "]
)
def test_a_text_of_unclosed_tags_takes_no_longer_than_another(piece):
    """Were each tried to the end of the text, a megabyte would take an hour."""
    began = time.monotonic()
    words_of(piece * 300_000)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("short", "short"),
        ("one two three", "one two"),
        ("one twothree four", "one"),
        ("onetwothreefour", "onetwoth"),
        ("東京は日本の首都です。", "東京は日本の首都"),
        ("12345678", "12345678"),
        ("12345678 9", "12345678"),
        ("a b c d e f g h i j", "a b c d"),
    ],
)
def test_the_start_of_a_text_is_cut_at_a_word(text, start):
    assert start_of(text.split(), 8) == start


@pytest.mark.parametrize(("words", "minutes"), [(0, 1), (1, 1), (238, 1), (239, 2), (2380, 10)])
def test_reading_time_is_238_words_a_minute_rounded_up(words, minutes):
    assert complete(article(1, content_html="<p>" + "word " * words + "</p>"))["read_time"] == minutes


def test_what_was_given_stays():
    given = {"read_time": 7.5, "meta_title": "", "meta_desc": "Mine"}
    assert complete(article(1, **given)) == article(1, **given)
    assert complete(article(1, meta_title="Mine"))["meta_title"] == "Mine"


def test_the_made_graph_agrees_with_the_article():
    made = complete(article(1, content_html=f"<p>{'word ' * 500}</p>"))
    assert made["meta_title"] == "Title 1"
    assert made["meta_desc"] == " ".join(["word"] * 31)  # 155 characters would be one letter more
    assert json.loads(schema_markup(made, "Acme")) == {
        "@context": "https://schema.org",
        "@graph": [
            {
                "@type": "BlogPosting",
                "headline": "Title 1",
                "description": made["meta_desc"],
                "keywords": ["one", "two"],
                "articleSection": "News",
                "timeRequired": "PT3M",
                "dateModified": "2025-03-01T10:30:00.000Z",  # as in the sitemap, not before its publication
                "datePublished": "2025-03-01T10:30:00.000Z",
                "image": ["https://www.example.com/banner.jpg"],
                "author": {"@type": "Organization", "name": "Acme"},
                "publisher": {"@type": "Organization", "name": "Acme"},
            }
        ],
    }


def test_a_draft_without_a_banner_has_neither_date_nor_image():
    made = schema_markup(complete(article(1, status="draft", published_at=None, banner_url="")), "Acme")
    assert not {"datePublished", "image"} & json.loads(made)["@graph"][0].keys()


@pytest.fixture
def write(app):
    """Write articles; tell how many were new, changed and unchanged, or what is wrong, and then nothing is written."""

    def write(*articles, customer="Acme"):
        faults = Faults()
        with app.app_context():
            begin_write()
            placed = ((Place("test", f"article {number}"), each) for number, each in enumerate(articles, start=1))
            counts = save_articles(find_or_add_customer(customer), placed, faults)
            if faults.count:
                return faults.shown
            db.session.commit()
        return counts["new"], counts["changed"], counts["unchanged"]

    return write


@pytest.fixture
def stored(app):
    """Give an article by its id."""

    def stored(id):
        with app.app_context():
            return db.session.scalars(select(Article).filter_by(id=id)).one()

    return stored


def without(names, number=1, **columns):
    """Make an article that leaves out what `names` say."""
    return {name: value for name, value in article(number, **columns).items() if name not in names.split()}


def test_writing_the_same_again_changes_nothing(write):
    articles = [article(number) for number in range(1200)]
    assert write(*articles) == (1200, 0, 0)
    assert write(*articles) == (0, 0, 1200)


def test_only_what_differs_is_overwritten(write, stored):
    write(article(1), article(2), article(3))
    changed = article(2, title="New"), article(3, keywords='["one"]')
    assert write(article(1), *changed, article(4)) == (1, 2, 1)
    assert stored("id-0002").title == "New"
    assert stored("id-0002").search_text == "new\nslug-2"
    assert stored("id-0003").keywords == '["one"]'
    assert stored("id-0001").title == "Title 1"


def test_without_an_id_an_article_is_matched_by_its_slug(write, stored):
    write(article(1))
    assert write(without("id", title="New")) == (0, 1, 0)
    assert stored("id-0001").title == "New"


def test_a_new_article_without_an_id_gets_one_of_its_own(write, sql):
    assert write(without("id"), without("id", 2)) == (2, 0, 0)
    ids = {id for (id,) in sql("SELECT id FROM article")}
    assert len(ids) == 2
    assert {len(id) for id in ids} == {36}


@pytest.mark.parametrize(
    ("publication", "status"),
    [({}, "draft"), ({"published_at": PAST}, "published"), ({"published_at": PAST, "status": "draft"}, "draft")],
)
def test_a_new_article_with_a_date_is_published(write, stored, publication, status):
    write(without("status published_at") | publication)
    assert (stored("id-0001").status, stored("id-0001").published_at) == (status, publication.get("published_at"))


def test_published_without_a_date_means_now_the_first_time(write, stored):
    write(without("published_at created_at"))
    first = stored("id-0001")
    assert datetime.now(UTC) - timedelta(seconds=30) < first.published_at <= datetime.now(UTC)
    assert first.created_at == first.published_at
    time.sleep(0.01)
    assert write(without("published_at created_at")) == (0, 0, 1)
    assert stored("id-0001").published_at == first.published_at


def test_a_new_article_was_created_when_it_was_published_where_that_is_past(write, stored):
    write(without("created_at"), without("created_at", 2, published_at=datetime(2999, 1, 1, tzinfo=UTC)))
    assert stored("id-0001").created_at == stored("id-0001").published_at
    assert stored("id-0002").created_at <= datetime.now(UTC)


def test_what_an_article_leaves_out_is_kept_or_goes_back(write, stored):
    """Only id, status, dates and views are kept; all else is made anew."""
    write(
        article(
            1, read_time=9.0, meta_title="Mine", meta_desc="Mine", schema_markup='{"@context":"x","@graph":[]}', views=5
        )
    )
    left_out = "id status published_at created_at views read_time meta_title meta_desc schema_markup"
    assert write(without(left_out)) == (0, 1, 0)
    now = stored("id-0001")
    assert (now.status, now.published_at, now.created_at, now.views) == (
        "published",
        PAST + timedelta(hours=1),
        PAST,
        5,
    )
    assert (now.read_time, now.meta_title, now.meta_desc) == (1, "Title 1", "Content of number 1.")
    assert json.loads(now.schema_markup)["@graph"][0]["headline"] == "Title 1"


def test_an_unpublished_article_stays_a_draft_until_it_is_told_otherwise(write, stored):
    write(article(1, status="draft"))
    write(without("status"))
    assert stored("id-0001").status == "draft"
    write(article(1))
    assert stored("id-0001").status == "published"


@pytest.mark.parametrize(
    "change",
    [
        {"title": "New"},
        {"slug": "new"},
        {"content_html": "<p>New</p>"},
        {"category": ""},
        {"keywords": "[]"},
        {"banner_url": ""},
        {"read_time": 2.5},
        {"meta_desc": "New"},
        {"schema_markup": '{"@context":"x","@graph":[]}'},
    ],
)
def test_the_update_moves_where_the_content_changes(write, stored, change):
    write(article(1))
    assert write(without("updated_at", **change)) == (0, 1, 0)
    assert datetime.now(UTC) - timedelta(seconds=30) < stored("id-0001").updated_at <= datetime.now(UTC)
    if "schema_markup" not in change:
        posting = json.loads(stored("id-0001").schema_markup)["@graph"][0]
        assert posting["dateModified"][:19] == stored("id-0001").updated_at.isoformat()[:19]


@pytest.mark.parametrize(
    "change", [{}, {"views": 99}, {"status": "draft"}, {"created_at": datetime(2020, 1, 1, tzinfo=UTC)}]
)
def test_the_update_stays_where_the_content_does(write, stored, change):
    write(article(1))
    assert write(without("updated_at", **change)) == (0, bool(change), not change)
    assert stored("id-0001").updated_at == PAST


def test_a_made_graph_follows_the_publication_and_the_update_stays(write, stored):
    write(article(1))
    write(without("updated_at", published_at=datetime(2025, 5, 1, tzinfo=UTC)))
    assert json.loads(stored("id-0001").schema_markup)["@graph"][0]["datePublished"] == "2025-05-01T00:00:00.000Z"
    assert stored("id-0001").updated_at == PAST


def test_what_was_made_given_back_is_no_change_and_still_follows(write, stored):
    """An instance's own output is imported into it again."""
    write(article(1))
    made = stored("id-0001")
    given = {name: getattr(made, name) for name in ("read_time", "meta_title", "meta_desc", "schema_markup")}
    assert write(without("updated_at", **given)) == (0, 0, 1)
    assert stored("id-0001").markup_is_made


def test_leaving_out_what_was_given_makes_it_anew_once(write, stored):
    write(article(1, schema_markup='{"@context":"x","@graph":[]}'))
    assert write(without("updated_at")) == (0, 1, 0)
    assert stored("id-0001").updated_at > PAST
    assert write(without("updated_at")) == (0, 0, 1)


def test_slugs_may_be_swapped_and_passed_on(write, stored):
    write(article(1), article(2), article(3))
    assert write(article(1, slug="slug-2"), article(2, slug="slug-1")) == (0, 2, 0)
    assert (stored("id-0001").slug, stored("id-0002").slug) == ("slug-2", "slug-1")
    assert stored("id-0001").search_text == "title 1\nslug-2"
    # A new article takes a slug that its holder leaves later in the same import, in another batch.
    rest = [article(number) for number in range(100, 700)]
    assert write(article(9, slug="slug-3"), *rest, article(3, slug="old-slug-3")) == (601, 1, 0)
    assert (stored("id-0009").slug, stored("id-0003").slug) == ("slug-3", "old-slug-3")


def test_a_new_id_cannot_take_another_articles_slug(write, sql):
    write(article(1))
    (fault,) = write(article(2), article(3, slug="slug-1"))
    assert fault.startswith("test, article 2: slug: The article with the id 'id-0001' has it. Give that id, or none")
    assert sql("SELECT id, slug FROM article") == [("id-0001", "slug-1")]


def test_an_article_twice_in_one_import_is_a_fault(write):
    write(article(1))
    assert write(article(2), *(article(number) for number in range(100, 700)), article(2, slug="x")) == [
        "test, article 602: The article with the id 'id-0002' stands in this import already."
    ]
    assert write(article(2), article(3, slug="slug-2")) == [
        "test, article 2: The article with the slug 'slug-2' stands in this import already."
    ]
    assert write(without("id"), article(1, slug="new")) == [
        "test, article 2: The article with the id 'id-0001' stands in this import already."
    ]


def test_a_slug_is_not_that_of_the_article_that_leaves_it_wherever_that_stands(write):
    """The same import is refused however many articles lie between the two."""
    write(article(1))
    for between in (1, 600):
        rest = [article(number) for number in range(100, 100 + between)]
        assert write(article(1, slug="moved"), *rest, without("id")) == [
            f"test, article {between + 2}: The article with the id 'id-0001' stands in this import already."
        ]


def test_a_graph_made_from_words_that_break_out_of_a_script_does_not(write, stored):
    assert write(article(1, title="What </Script> does", content_html="&lt;!-- and &lt;/script&gt; < b")) == (1, 0, 0)
    posting = json.loads(stored("id-0001").schema_markup)["@graph"][0]
    assert (posting["headline"], posting["description"]) == ("What < /Script> does", "< !-- and < /script> < b")
    assert stored("id-0001").meta_title == "What </Script> does"


def test_customers_may_have_the_same_ids_and_slugs(write):
    assert write(article(1)) == (1, 0, 0)
    assert write(article(1), customer="Other") == (1, 0, 0)
    assert write(without("id"), customer="Other") == (0, 0, 1)


def test_articles_may_come_as_they_are_made(app):
    """Half of them are enough to be written before the last one is made: no list of all is held."""

    def many():
        for number in range(2000):
            yield Place("test", "1"), article(number)
            if number == 1500:
                assert db.session.scalars(select(Article.pk)).all()

    with app.app_context():
        begin_write()
        assert save_articles(find_or_add_customer("Acme"), many(), Faults())["new"] == 2000


def test_nothing_is_written_until_the_commit(app, sql):
    with app.app_context():
        begin_write()
        save_articles(find_or_add_customer("Acme"), [(Place("test", "1"), article(1))], Faults())
        assert sql("SELECT count(*) FROM article") == [(0,)]
    assert sql("SELECT count(*) FROM article") == [(0,)]


@pytest.mark.sqlite
def test_a_second_writer_waits_for_the_first(app, write, sql, database):
    first = sqlite3.connect(database, check_same_thread=False, isolation_level=None)
    first.execute("BEGIN IMMEDIATE")
    first.execute("INSERT INTO customer (name) VALUES ('First')")
    threading.Timer(0.5, lambda: first.execute("COMMIT")).start()
    assert write(article(1)) == (1, 0, 0)
    assert sql("SELECT name FROM customer ORDER BY id") == [("First",), ("Acme",)]
    first.close()


@pytest.mark.sqlite
def test_dates_are_kept_as_given(write, sql):
    write(article(1, created_at=PAST, updated_at=PAST))
    assert sql("SELECT created_at, updated_at FROM article") == [("2025-03-01 09:30:00.000000",) * 2]
