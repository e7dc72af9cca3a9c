"""The database: folding, moments, what it refuses, and which indexes the selects read."""

import sqlite3
from datetime import UTC, datetime, timedelta, timezone
from itertools import product

import pytest
from conftest import PAST, article
from sqlalchemy import insert, select
from sqlalchemy.dialects import sqlite

from database import create_tables
from models import ApiKey, Article, Customer, customer_of_key, db, published_page, published_slugs, published_total
from schemas import SORT_COLUMNS, ArticlePreviewSchema
from search import fold, search_words, word_parameters


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Café", "cafe"),
        ("cafe\u0301", "cafe"),
        ("Straße", "strasse"),
        ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
        ("İstanbul", "istanbul"),
        ("ﬁne ①", "fine 1"),
        ("１００％", "100%"),
        ("Łódź", "łodz"),
        ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("\u0301", ""),
        ("😀", "😀"),
    ],
)
def test_fold_ignores_case_accents_and_compatibility_forms(text, folded):
    assert fold(text) == folded


def test_search_words_are_folded_and_distinct_and_marks_alone_are_none():
    assert search_words(" Café  CAFE\u3000\u0301 tea ´ \n") == ["cafe", "tea"]


def test_like_wildcards_in_a_word_are_literal():
    assert word_parameters(["50%_\\"]) == {"word_0": "%50\\%\\_\\\\%"}


def test_a_moment_comes_back_in_utc_to_the_millisecond(app, save):
    summer = datetime(2025, 7, 1, 9, 0, 0, 123_999, tzinfo=timezone(timedelta(hours=2)))
    save(article(1, published_at=summer))
    with app.app_context():
        stored = db.session.scalar(select(Article.published_at))
    assert stored == datetime(2025, 7, 1, 7, 0, 0, 123_000, tzinfo=UTC)
    assert stored.tzinfo is UTC


def plan(app, statement):
    """Ask SQLite how it would run a select."""
    with app.app_context():
        sql = str(statement.compile(dialect=sqlite.dialect()))
        cursor = db.engine.raw_connection().cursor()
        return [row[3] for row in cursor.execute(f"EXPLAIN QUERY PLAN {sql}", ["x"] * sql.count("?"))]


PREVIEW_COLUMNS = ArticlePreviewSchema().columns


@pytest.fixture(params=["fresh", "analysed"])
def planned_app(request, app, save, sql):
    """The planner must choose well without statistics and with them."""
    save(*(article(number) for number in range(500)), article(999, status="draft"))
    if request.param == "analysed":
        sql("ANALYZE")
    return app


@pytest.mark.sqlite
@pytest.mark.parametrize(("order_by", "order", "words"), list(product(SORT_COLUMNS.values(), ("asc", "desc"), (0, 2))))
def test_a_page_is_found_in_the_index_of_its_order_alone(planned_app, order_by, order, words):
    index = {
        "published_at": "article_by_publication",
        "created_at": "article_by_creation",
        "folded_title": "article_by_title",
        "views": "article_by_views",
    }[order_by]
    steps = plan(planned_app, published_page(PREVIEW_COLUMNS, order_by, order, words))
    assert steps == [
        "SEARCH article USING INTEGER PRIMARY KEY (rowid=?)",
        "LIST SUBQUERY 1",
        f"SEARCH article USING COVERING INDEX {index} (customer_id=? AND status=?)",
        "USE TEMP B-TREE FOR ORDER BY",  # of the page's own rows
    ]


@pytest.mark.sqlite
@pytest.mark.parametrize("words", [0, 1, 3])
def test_a_total_is_counted_on_indexes_alone(planned_app, words):
    reads = [step for step in plan(planned_app, published_total(words)) if "article" in step]
    assert reads
    assert not [step for step in reads if "COVERING INDEX" not in step]


@pytest.mark.sqlite
def test_the_sitemap_is_read_from_its_index_alone(planned_app):
    (step,) = plan(planned_app, published_slugs())
    assert step.startswith("SEARCH article USING COVERING INDEX article_by_slug (customer_id=? AND status=?)")


def test_the_sitemap_asks_for_its_order():
    assert str(published_slugs()).endswith("ORDER BY article.slug")


@pytest.mark.parametrize("customers", [1, 2])
def test_an_article_is_published_from_its_very_moment_on(app, save, customers):
    for name in ("Acme", "Other")[:customers]:
        save(article(1, published_at=PAST), customer=name)
    for moment, count in ((PAST - timedelta(milliseconds=1), 0), (PAST, 1)):
        bound = {"customer_id": 1, "now": moment, "take": 9, "skip": 0}
        with app.app_context():
            assert db.session.scalar(published_total(0), bound) == count
            assert len(db.session.execute(published_page(("id",), "views", "asc", 0), bound).all()) == count
            assert len(db.session.execute(published_slugs(), bound).all()) == count


@pytest.mark.sqlite
def test_a_key_is_found_by_its_index(app):
    assert not [step for step in plan(app, customer_of_key()) if step.startswith("SCAN")]


def test_a_preview_page_names_no_long_column():
    sql = str(published_page(PREVIEW_COLUMNS, "views", "asc", 1))
    assert "content_html" not in sql
    assert "schema_markup" not in sql


@pytest.mark.sqlite
def test_sqlite_logs_ahead_so_that_readers_and_a_writer_do_not_wait(app, sql):
    assert sql("PRAGMA journal_mode") == [("wal",)]


def test_making_the_tables_again_changes_nothing(app, save, sql):
    save(article(1))
    with app.app_context():
        create_tables()
    assert sql("SELECT count(*) FROM article") == [(1,)]


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "assignment",
    [
        "status = 'live'",
        "published_at = NULL",
        "published_at = 1700000000",
        "published_at = '2025-01-01T00:00:00Z'",
        "published_at = '2025-01-01 00:00:00+02:00'",
        "published_at = '2025-02-30 00:00:00'",
        "published_at = '2025-01-01 00:00:00 '",
        "published_at = '2025-01-01 00:00:00.1 +00:00'",
        "published_at = '2025-01-01 00:00:00Z'",
        "published_at = '0000-01-01 00:00:00'",
        "title = x'41'",
        "slug = x'41'",
        "content_html = x'41'",
        "keywords = '[]' || char(0) || 'x'",
        "created_at = 'yesterday'",
        "updated_at = ''",
        "read_time = 'five'",
        "read_time = -1",
        "read_time = 9e999",
        "keywords = 'one, two'",
        "keywords = '{}'",
        "schema_markup = '[]'",
        "schema_markup = '{'",
        "title = NULL",
        "id = 'id-0002'",
        "slug = 'slug-2'",
    ],
)
def test_what_no_endpoint_could_render_is_refused_from_any_tool(app, save, sql, assignment):
    save(article(1), article(2))
    with pytest.raises(sqlite3.IntegrityError):
        sql(f"UPDATE article SET {assignment} WHERE id = 'id-0001'")


@pytest.mark.sqlite
@pytest.mark.parametrize("moment", ["datetime('now')", "'2025-12-31 23:59:59'", "'2024-02-29 12:00:00.999'"])
def test_moments_in_the_form_of_sqlites_own_are_welcome(client, save, sql, moment):
    save(article(1))
    sql(f"UPDATE article SET published_at = {moment}, updated_at = {moment}, created_at = {moment}")
    assert client.get("/api/public/v1/articles").get_json()["meta"]["total"] == 1
    assert client.get("/api/public/v1/sitemap").status_code == 200


def test_two_customers_may_hold_the_same_ids_and_slugs(save, sql):
    save(article(1))
    save(article(1), customer="Other")
    assert sql("SELECT count(*) FROM article") == [(2,)]


@pytest.mark.sqlite
def test_a_key_needs_a_customer(app):
    key = {"customer_id": 99, "hash": "x", "first_characters": "x", "created_at": PAST}
    with app.app_context(), pytest.raises(Exception, match="FOREIGN KEY"):
        db.session.execute(insert(ApiKey), [key])


@pytest.mark.sqlite
def test_customers_have_distinct_names(app):
    with app.app_context(), pytest.raises(Exception, match="UNIQUE"):
        db.session.execute(insert(Customer), [{"name": "Acme"}, {"name": "Acme"}])
