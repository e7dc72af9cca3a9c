"""Import of Ghost exports."""

import json
import re
from datetime import UTC

import pytest
from helpers import PROJECT
from importer import SITE, ghost

from converters.articles import SourceOptions
from converters.ghost import read_ghost
from converters.note_kinds import NO_DATE


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


def test_authors_keep_their_order(tmp_path):
    users = [{"id": "1", "name": "Jane"}, {"id": "2", "name": "Doe, Joe"}]
    links = [{"post_id": f"{0:024}", "author_id": id, "sort_order": order} for id, order in (("1", 1), ("2", 0))]
    (tmp_path / "ghost.json").write_text(ghost({}, users=users, posts_authors=links)["ghost.json"])
    (article,) = read_ghost(str(tmp_path / "ghost.json"), SourceOptions("", UTC))
    assert article.fields["authors"] == ["Doe, Joe", "Jane"]


HTML = """<a href="__GHOST_URL__">Home</a> <a href="__GHOST_URL__/">Home</a>
<img src="__GHOST_URL__/content/images/a.jpg" srcset="__GHOST_URL__/content/images/size/w600/a.jpg 600w,
 /content/images/a,b.jpg 1000w" sizes="1px">
<div style="background: url('__GHOST_URL__/content/media/b.jpg')" data-kg-thumbnail="__GHOST_URL__/c.jpg"></div>
<video poster="/d.jpg"></video><div style="background: url(&quot;/e.jpg&quot;)"></div>"""


def test_every_url_of_the_site_is_made_absolute(importer):
    links, pictures = importer.imports(ghost({"html": HTML}), "--site", SITE).splitlines()
    assert links.startswith(f"Links to the old site stay (1 URL): {SITE}/.")
    assert "blog.example.com (6)" in pictures
    expected = HTML.replace('"__GHOST_URL__"', f'"{SITE}/"').replace("__GHOST_URL__", SITE)
    for path in ("/content/images/a,b.jpg", "/d.jpg", "/e.jpg"):
        expected = re.sub(rf"(?<!com){path}", SITE + path, expected)
    assert importer.only()["contentHtml"] == expected


def test_relative_urls_are_reported_without_a_site(importer):
    html = '<a href="__GHOST_URL__">b</a> <img src="/c.jpg">'
    (line,) = importer.imports(ghost({"html": html})).splitlines()
    assert "(1): a0. Write absolute URLs" in line
    assert importer.only()["contentHtml"] == html.replace("__GHOST_URL__", "/")


@pytest.mark.parametrize(("site", "url"), [(SITE, f"{SITE}/a0/"), (f"{SITE}/blog/", f"{SITE}/blog/a0/"), ("", "/a0/")])
def test_redirects_lead_from_the_posts_of_the_site(importer, site, url):
    importer.run("import", ghost({}), "--redirects", "new.csv", *(["--site", site] if site else []))
    assert (importer.folder / "new.csv").read_text().splitlines()[1:] == [f"{url},a0"]


@pytest.mark.parametrize(
    ("export", "words"),
    [
        (ghost({}, tags=None), "tags"),
        (ghost({}, posts_tags=[1]), "posts_tags"),
        ({"ghost.json": json.dumps({"data": {"posts": [1], "tags": [], "posts_tags": []}})}, "posts"),
        ({"ghost.json": ghost({})["ghost.json"].replace("]}}]}", ']}}, {"data": null}]}')}, "data"),
        (ghost({"id": None}), "id"),
        (ghost({"title": None}), "title"),
        (ghost({"title": "☕", "slug": None}), "slug"),
        (ghost({"published_at": "soon"}), "published_at.*soon"),
        (ghost({"html": ["x"]}), "HTML"),
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
        *({"visibility": None}, {"visibility": ""}, {"visibility": "public"}),
    ],
    "withheld": [
        *({"status": "draft"}, {"status": "sent"}, {"status": "archived"}, {"status": "Published"}, {"status": None}),
        *({"status": ["published"]}, {"email_only": 1}, {"visibility": "members"}, {"visibility": "Public"}),
        *({"visibility": "tiers"}, {"visibility": 0}, {"visibility": ["public"]}, {"status": "draft", "html": None}),
    ],
    None: [{"published_at": None}, {"status": "scheduled", "published_at": None}],
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_post_for_everyone_on_the_web_with_a_date_is_published(tmp_path, claim):
    for post in CLAIMS[claim]:
        (tmp_path / "ghost.json").write_text(ghost(post)["ghost.json"])
        (article,) = read_ghost(str(tmp_path / "ghost.json"), SourceOptions("", UTC))
        assert (article.claim, "status" in article.fields) == (claim, False), post
        assert (NO_DATE in [note.kind for note in article.notes]) == (claim is None)


@pytest.mark.parametrize("version", ["003", "0.11.14", "1.26.2", "3.42.0"])
def test_export_before_version_4_is_rejected(importer, version):
    data = json.loads(ghost({})["ghost.json"])["db"][0]["data"]
    export = {"meta": {"exported_on": 1, "version": version}, "data": data}
    for document in (export, {"db": [export]}):
        assert re.search(rf"Ghost 4 or newer.*{version}", importer.rejects({"ghost.json": json.dumps(document)}))


def test_every_entry_of_db_is_imported(importer):
    entries = []
    for letter, version in zip("abc", ("4.0.0", "5.120.1", "10.0.0"), strict=True):
        (entry,) = json.loads(ghost({"id": letter * 24, "slug": letter})["ghost.json"])["db"]
        entries.append(entry | {"meta": {"version": version}})
    importer.imports({"ghost.json": json.dumps({"db": entries})})
    assert importer.states() == dict.fromkeys("abc", "published")


def test_post_that_ends_up_empty_is_reported(importer):
    members = "<!--kg-gated-block:begin nonMember:false -->Secret<!--kg-gated-block:end-->"
    printed = importer.imports(ghost({"html": "<p></p>"}, {"html": members}, {"html": "", "status": "draft"}))
    assert "Articles without any content (2): a0, a1\n" in printed


UNITS = ["<!--kg-gated-block:begin ", "<!-- ", "<!--kg-gated-block:begin>", "__GHOST_URL__", "<"]


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_post_is_converted(importer, unit):
    """In quadratic time, this would take minutes."""
    assert importer.run("import", ghost({"html": unit * (500_000 // len(unit))})).exit_code == 0


def test_rows_without_ids_or_names_belong_to_nobody(importer):
    tags = [{"id": 1, "name": None}, {"id": 2}, {"name": "Lost"}, {"id": 3, "name": "Found"}]
    links = [{"post_id": f"{0:024}", "tag_id": id} for id in (1, 2, None, 3)]
    tables = {"tags": tags, "posts_tags": links, "posts_meta": [{"meta_title": "Lost"}]}
    importer.imports(ghost({}, {}, **tables))
    assert importer.values("metaTitle") == {"a0": None, "a1": None}
    assert importer.values("keywords") == {"a0": ["Found"], "a1": []}
