"""Import of Ghost exports."""

import json
import re
from datetime import UTC

import pytest
from helpers import PROJECT
from importer import SITE, ghost

from converters.ghost import read_ghost
from converters.source_articles import SourceOptions


def test_posts_are_imported_with_their_fields(importer):
    file = PROJECT / "tests/data/ghost.json"
    printed = importer.imports(file, "--site", SITE, "--timezone", "Asia/Tokyo")  # times are in UTC
    assert "sent by email (1)" in printed
    assert "restricted: paid (1)" in printed
    states = {"kaese": "published", "second": "published", "scheduled": "scheduled"}
    assert importer.states() == states | dict.fromkeys(("untouched", "paid", "sent"), "draft")
    articles = importer.articles()
    expected = {
        "title": "Käse & Brot",
        "bannerUrl": f"{SITE}/content/images/2026/01/cheese.jpg",
        "keywords": ["Food", "News"],
        "metaTitle": "Cheese",
        "metaDesc": "About cheese",
        "publishedAt": "2026-01-31T09:30:00.000Z",
        "category": "Food",
        "contentHtml": f'<p><a href="{SITE}/other/">Read</a> <img src="{SITE}/content/images/a.png"></p>',
    }
    assert articles["kaese"].items() >= expected.items()
    other = articles["second"]
    assert (other["metaDesc"], other["publishedAt"]) == ("In short", "2026-01-31T09:30:00.000Z")
    ids = {f"63f0b1c2d3e4f5a6b7c8d90{number}" for number in range(1, 7)}
    assert {article["id"] for article in articles.values()} == ids


def test_members_only_parts_are_removed_and_reported(importer):
    parts = (
        f'<!--kg-gated-block:begin {who} memberSegment:"status:free" -->{who}<!--kg-gated-block:end-->'
        for who in ("nonMember:true", "nonMember:false", "")
    )
    printed = importer.imports(ghost({"html": f"<p>a</p>{''.join(parts)}<p>z</p>"}))
    assert printed == "Members-only parts were removed (1): a0\n"
    assert re.sub("<!--.*?-->", "", importer.only()["contentHtml"]) == "<p>a</p>nonMember:true<p>z</p>"


@pytest.mark.parametrize(
    ("export", "words"),
    [
        (ghost({}, tags=None), "tags"),
        (ghost({}, posts_tags=[1]), "posts_tags"),
        (ghost({"id": None}), "id"),
        (ghost({"title": None}), "title"),
        (ghost({"published_at": "soon"}), "published_at.*soon"),
        (ghost({"html": None}), "HTML"),
        (ghost({"type": "page"}, {"type": "page"}), "no posts, but 2 pages"),
    ],
)
def test_incomplete_export_is_one_clear_error(importer, export, words):
    (line,) = importer.rejects(export).splitlines()
    assert re.search(f"^ghost.json[:,] .*{words}", line)


CLAIMS = {
    "published": [
        *({}, {"status": "scheduled", "published_at": "2999-01-01 00:00:00"}, {"email_only": 0}),
        *({"visibility": None}, {"visibility": "public"}, {"published_at": None}),
    ],
    "withheld": [
        *({"status": "draft", "html": None}, {"status": "sent"}, {"status": "Published"}, {"status": ["published"]}),
        *({"email_only": 1}, {"visibility": "members"}, {"visibility": "Public"}, {"visibility": ["public"]}),
        {"status": "scheduled", "published_at": None},
    ],
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_post_for_everyone_on_the_web_is_published(tmp_path, claim):
    for post in CLAIMS[claim]:
        (tmp_path / "ghost.json").write_text(ghost(post)["ghost.json"])
        (article,) = read_ghost(str(tmp_path / "ghost.json"), SourceOptions("", UTC))
        assert (article.claim, "status" in article.fields) == (claim, False), post


def test_unknown_status_is_reported(importer):
    assert "status: in-review (1): a0" in importer.imports(ghost({"status": "in-review"}, {"status": "draft"}))


def test_post_that_cannot_be_read_is_not_missing(importer):
    importer.imports(ghost({}, {}, {}))
    result = importer.run("import", ghost({"html": None}, {}), "--unpublish-missing", "--skip-invalid")
    assert (result.exit_code, importer.states()) == (0, {"a0": "published", "a1": "published", "a2": "draft"})


def test_small_numbers_may_repeat_in_the_exports_of_two_sites(importer):
    for site in "ab":
        importer.run("import", ghost({"id": 1, "slug": site}), "--source", site)
    assert importer.states() == {"a": "pending", "b": "pending"}


@pytest.mark.parametrize("version", ["003", "3.42.0"])
def test_export_before_version_4_is_rejected(importer, version):
    data = json.loads(ghost({})["ghost.json"])["db"][0]["data"]
    export = {"meta": {"exported_on": 1, "version": version}, "data": data}
    for document in (export, {"db": [export]}):
        assert re.search(rf"Ghost 4 or newer.*{version}", importer.rejects({"ghost.json": json.dumps(document)}))


UNITS = ["<!--kg-gated-block:begin ", "<!-- ", "<!--kg-gated-block:begin>", "__GHOST_URL__", "<"]


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_post_is_converted(importer, unit):
    """In quadratic time, this would take minutes."""
    assert importer.run("import", ghost({"html": unit * (500_000 // len(unit))})).exit_code == 0
