"""What is made of an article's content, and how articles are written."""

from datetime import UTC, datetime

import pytest
from conftest import PAST, article
from sqlalchemy import select

from auth import find_or_add_customer
from content import complete, save_articles, start_of, text_of
from models import Article, begin_write, db


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One</p><p>two</p>", "One two"),
        ("<p>Mid<em>word</em>, <a href='x>y'>link</a>.</p>", "Midword, y'>link."),
        ("<h2>A &amp; B</h2>\n<ul><li>caf&eacute;</li></ul>", "A & B café"),
        ("a<br>b<!-- not\nthis -->c<script>not('<p>this');</script >d<STYLE>p{}</STYLE>", "a b c d"),
        ("1 &lt; 2 <p", "1 < 2 <p"),
        ("", ""),
    ],
)
def test_the_text_of_html_is_what_a_reader_sees(html, text):
    assert text_of(html) == text


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
    ],
)
def test_the_start_of_a_text_is_cut_at_a_word(text, start):
    assert start_of(text, 8) == start


@pytest.mark.parametrize(("words", "minutes"), [(0, 1), (1, 1), (238, 1), (239, 2), (2380, 10)])
def test_reading_time_is_238_words_a_minute_rounded_up(words, minutes):
    made = complete(article(1, content_html="<p>" + "word " * words + "</p>"), "Acme")
    assert made["read_time"] == minutes


def test_what_was_given_stays():
    given = {"read_time": 7.5, "meta_title": "", "meta_desc": "Mine", "schema_markup": {"@graph": []}}
    assert complete(article(1, **given), "Acme") == article(1, **given)


def test_the_made_graph_agrees_with_the_article():
    made = complete(article(1, content_html=f"<p>{'word ' * 500}</p>"), "Acme")
    assert made["meta_title"] == "Title 1"
    assert made["meta_desc"] == " ".join(["word"] * 31)  # 155 characters would be one letter more
    (posting,) = made["schema_markup"]["@graph"]
    assert made["schema_markup"]["@context"] == "https://schema.org"
    assert posting == {
        "@type": "BlogPosting",
        "headline": "Title 1",
        "description": made["meta_desc"],
        "keywords": ["one", "two"],
        "articleSection": "News",
        "timeRequired": "PT3M",
        "dateModified": "2025-03-01T09:30:00.000Z",
        "datePublished": "2025-03-01T10:30:00.000Z",
        "image": ["https://www.example.com/banner.jpg"],
        "author": {"@type": "Organization", "name": "Acme"},
        "publisher": {"@type": "Organization", "name": "Acme"},
    }


def test_a_draft_without_a_banner_has_neither_date_nor_image():
    made = complete(article(1, status="draft", published_at=None, banner_url=""), "Acme")
    assert not {"datePublished", "image"} & made["schema_markup"]["@graph"][0].keys()


@pytest.fixture
def write(app):
    """Write articles and tell how many were new, changed and unchanged."""

    def write(*articles):
        with app.app_context():
            begin_write()
            counts = save_articles(find_or_add_customer("Acme").id, (complete(each, "Acme") for each in articles))
            db.session.commit()
        return counts["new"], counts["changed"], counts["unchanged"]

    return write


def test_writing_the_same_again_changes_nothing(write):
    articles = [article(number) for number in range(1200)]
    assert write(*articles) == (1200, 0, 0)
    assert write(*articles) == (0, 0, 1200)


def test_only_what_differs_is_overwritten(write, app):
    write(article(1), article(2), article(3))
    assert write(article(1), article(2, title="New"), article(4), article(3, keywords=["one"])) == (1, 2, 1)
    with app.app_context():
        found = {each.id: each for each in db.session.scalars(select(Article))}
    assert found["id-0002"].title == "New"
    assert found["id-0002"].search_text == "new\nslug-2"
    assert found["id-0003"].keywords == '["one"]'


def test_articles_may_come_as_they_are_made(app):
    """Half of them are enough to be written before the last one is made: no list of all is held."""
    made = 0

    def many():
        nonlocal made
        for made in range(2000):
            yield complete(article(made), "Acme")
            if made == 1500:
                assert db.session.scalars(select(Article.pk)).all()

    with app.app_context():
        begin_write()
        assert save_articles(find_or_add_customer("Acme").id, many())["new"] == 2000


def test_nothing_is_written_until_the_commit(app, sql):
    with app.app_context():
        begin_write()
        save_articles(find_or_add_customer("Acme").id, [complete(article(1, updated_at=datetime.now(UTC)), "Acme")])
        assert sql("SELECT count(*) FROM article") == [(0,)]
    assert sql("SELECT count(*) FROM article") == [(0,)]


def test_a_second_writer_waits_for_the_first(app, write, sql, database):
    import sqlite3
    import threading

    first = sqlite3.connect(database, check_same_thread=False, isolation_level=None)
    first.execute("BEGIN IMMEDIATE")
    first.execute("INSERT INTO customer (name) VALUES ('First')")
    threading.Timer(0.5, lambda: first.execute("COMMIT")).start()
    assert write(article(1)) == (1, 0, 0)
    assert sql("SELECT name FROM customer ORDER BY id") == [("First",), ("Acme",)]
    first.close()


def test_dates_are_kept_as_given(write, sql):
    write(article(1, created_at=PAST, updated_at=PAST))
    assert sql("SELECT created_at, updated_at FROM article") == [("2025-03-01 09:30:00.000000",) * 2]
