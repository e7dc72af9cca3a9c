"""Matching imported articles with stored ones: ids of WordPress and Ghost, slugs, other origins; redirects."""

from datetime import timedelta

import pytest
from helpers import PAST, article_json, import_articles, iso, minimal_json
from sqlalchemy import select

from converters.records import SourceArticle
from models import Customer, db
from storage.engine import release_connection, write_transaction
from transfer.redirects import create_redirects
from transfer.report import ImportFailedError, ImportReport
from transfer.writer import save_articles

GHOST = "63f0b1c2d3e4f5a6b7c8d90{}"


@pytest.fixture
def imports(app, key):
    """Import converted articles for Acme; return the numbers of new, changed and unchanged ones, and the report."""

    def imports(*articles, **options):
        report = ImportReport()
        with app.app_context():
            try:
                with write_transaction():
                    owner = db.session.scalar(select(Customer))
                    counts = save_articles(owner, articles, report, **options)
            finally:
                release_connection()
        return (counts["new"], counts["changed"], counts["unchanged"]), " ".join(report.lines())

    return imports


@pytest.fixture
def ids(sql):
    """Return a function that returns all ids by slug."""
    return lambda: dict(sql("SELECT slug, id FROM article"))


def wordpress(blog, number, slug, title="Post", **fields):
    fields = {"id": f"wordpress-{blog}-{number}", "slug": slug, "title": title, "contentHtml": "<p>Text</p>"} | fields
    where, former = f"{blog}.xml, post {number}", f"wordpress-{number}"
    old = [f"https://{blog}/{slug}"]
    return SourceArticle(where, {"publishedAt": iso(PAST)} | fields, has_own_id=True, former_id=former, old_urls=old)


def ghost(number, slug, **fields):
    article = wordpress("ghost", number, slug, **fields)
    article.fields["id"], article.former_id = GHOST.format(number), ""
    return article


def markdown(slug, **fields):
    return SourceArticle(f"{slug}.md", {"slug": slug, "title": "File", "contentHtml": "<p>Text</p>"} | fields)


@pytest.mark.parametrize("together", [True, False])
def test_second_blog_never_overwrites_the_first(imports, ids, together):
    first = [wordpress("a.example", 1, "hello-world", "A poem"), wordpress("a.example", 2, "a")]
    second = [wordpress("b.example", 2, "b"), wordpress("b.example", 1, "hello-world", "Hello world!")]
    if not together:
        assert imports(*first)[0] == (2, 0, 0)
    with pytest.raises(ImportFailedError, match=r"b.example.xml, post 1, slug 'hello-world'.*a.example"):
        imports(*(first if together else []), *second)
    assert imports(*first)[0] == ((2, 0, 0) if together else (0, 0, 2))
    assert imports(second[0])[0] == (1, 0, 0)
    assert ids()["hello-world"] == "wordpress-a.example-1"


@pytest.mark.parametrize(
    ("stored", "changed", "is_same"),
    [
        ("wordpress-7", {}, True),
        ("wordpress-7", {"publishedAt": iso(PAST - timedelta(days=1))}, False),
        ("wordpress-8", {}, False),
        (GHOST.format(1), {}, False),
        ("7", {}, False),
    ],
)
def test_article_of_1_2_1_matches_by_number_slug_and_date(imports, save, ids, stored, changed, is_same):
    save(minimal_json(1, id=stored, slug="menu", title="Old", publishedAt=iso(PAST)))
    rest = [wordpress("a.example", number, f"slug-{number}") for number in range(100, 700)]
    export = [*rest, wordpress("a.example", 7, "menu", "New", **changed)]
    if is_same:
        assert imports(*export) == ((600, 1, 0), "")
        assert imports(*export) == ((0, 0, 601), "")
        assert ids()["menu"] == stored
    else:
        with pytest.raises(
            ImportFailedError, match=rf"post 7, slug 'menu'.*Old.*{stored}.*[Rr]ename or delete.*customer"
        ):
            imports(*export)
        assert ids() == {"menu": stored}


def test_same_content_from_another_origin_is_unchanged(imports, ids):
    assert imports(ghost(1, "menu"))[0] == (1, 0, 0)
    assert imports(wordpress("a.example", 5, "menu", views=9)) == ((0, 0, 1), "")
    assert imports(wordpress("a.example", 5, "menu"), unpublish_missing=True) == ((0, 0, 1), "")
    assert ids() == {"menu": GHOST.format(1)}


@pytest.mark.parametrize("distance", [0, 600])
@pytest.mark.parametrize("order", [1, -1])
def test_new_post_with_a_freed_slug_replaces_the_old_one(imports, ids, distance, order):
    """Deleting or renaming a post frees its slug for another post of the same blog."""
    imports(wordpress("a.example", 1, "deleted"), wordpress("a.example", 2, "renamed"))
    rest = [wordpress("a.example", number, f"slug-{number}") for number in range(100, 100 + distance)]
    again = [wordpress("a.example", 11, "deleted", "New"), wordpress("a.example", 12, "renamed", "New")]
    export = [*again, *rest, wordpress("a.example", 2, "moved")][::order]
    counts, report = imports(*export)
    assert counts == (1 + distance, 2, 0)
    assert "Replaced" in report
    assert "deleted" in report
    assert imports(*export) == ((0, 0, 3 + distance), "")
    assert [ids()[slug].rpartition("-")[2] for slug in ("deleted", "moved", "renamed")] == ["1", "2", "12"]


def test_slug_freed_by_the_same_import_is_available(imports, ids):
    imports(ghost(1, "menu"))
    assert imports(wordpress("a.example", 1, "menu"), ghost(1, "old-menu"))[0] == (1, 1, 0)
    assert ids() == {"menu": "wordpress-a.example-1", "old-menu": GHOST.format(1)}


def test_renamed_post_cannot_take_the_slug_of_another_origin(imports, save):
    save(article_json(1, slug="menu"))
    imports(wordpress("a.example", 1, "soup"))
    with pytest.raises(ImportFailedError, match=r"id-0001.*[Rr]ename or delete"):
        imports(wordpress("a.example", 1, "menu"))


def test_files_match_by_slug_and_report_replaced_posts(imports, ids):
    imports(wordpress("a.example", 1, "menu"), markdown("soup"))
    counts, report = imports(markdown("menu"), markdown("soup", title="New"))
    assert counts == (0, 2, 0)
    assert "menu" in report
    assert "soup" not in report
    assert imports(markdown("menu"), markdown("soup", title="New")) == ((0, 0, 2), "")
    assert ids()["menu"] == "wordpress-a.example-1"


# Old URLs


@pytest.fixture
def run_import(app, key):
    """Run `flask articles import` for one article with these fields."""
    return lambda *options, **fields: import_articles(app, minimal_json(1, **fields), options=options)


def test_redirects_cover_new_and_unchanged_articles(imports, tmp_path):
    imports(wordpress("a.example", 1, "a"))
    posts = wordpress("a.example", 1, "a"), wordpress("a.example", 2, "x")
    posts[1].old_urls = ["/one,two/", "/x"]
    file = tmp_path / "redirects.csv"
    with create_redirects(file) as redirects:
        imports(*posts, redirects=redirects)
        redirects.save()
    assert file.read_text() == 'old_url,slug\nhttps://a.example/a,a\n"/one,two/",x\n/x,x\n'
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize(
    ("options", "article", "exit_code", "is_written"),
    [([], {}, 0, True), (["--dry-run"], {}, 0, False), ([], {"title": 1}, 1, False)],
)
def test_redirects_are_only_written_by_successful_imports(
    run_import, tmp_path, options, article, exit_code, is_written
):
    file = tmp_path / "redirects.csv"
    result = run_import("--redirects", file, *options, **article)
    assert (result.exit_code, file.exists()) == (exit_code, is_written)
    assert list(tmp_path.glob(".*")) == []


def test_import_is_rolled_back_if_the_redirects_file_appears(run_import, tmp_path, sql, monkeypatch):
    file = tmp_path / "new.csv"
    monkeypatch.setattr("transfer.writer.ArticleWriter.reject_taken_slugs", lambda _: file.write_text("precious"))
    result = run_import("--redirects", file)
    assert (result.exit_code, "new.csv" in result.stderr, ".tmp" in result.stderr) == (1, True, False)
    assert (file.read_text(), sql("SELECT * FROM article")) == ("precious", [])


def test_redirects_need_a_new_file_in_an_existing_folder(run_import, tmp_path, sql):
    (tmp_path / "old.csv").write_text("precious")
    existing, missing = (run_import("--redirects", tmp_path / name) for name in ("old.csv", "missing/new.csv"))
    assert (existing.exit_code, "old.csv" in existing.stderr) == (2, True)
    assert (missing.exit_code, missing.stderr.count("\n"), "missing/new.csv" in missing.stderr) == (1, 1, True)
    assert (tmp_path / "old.csv").read_text() == "precious"
    assert sql("SELECT * FROM article") == []
