"""Import of Ghost exports."""

import json
import re
import time

import pytest
from helpers import PROJECT, minimal_json
from importer import read_data

DATA = PROJECT / "tests/data"
SITE = "https://blog.example.com"


def test_posts_are_imported_with_their_fields(importer):
    printed = importer.imports(DATA / "ghost.json", "--site", SITE)
    for words in (
        "pages (1)",
        "only sent by email (1)",
        "codeinjection_head (1)",
        "feature_image_alt (1)",
        "author (1)",
        "no HTML for them (1)",
        ": paid (1)",
    ):
        assert words in printed
    states = {"kaese": "published", "second": "published", "scheduled": "scheduled"}
    assert importer.states() == states | {"untouched": "draft", "paid": "draft"}
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
    ids = {f"63f0b1c2d3e4f5a6b7c8d90{number}" for number in range(1, 6)}
    assert {article["id"] for article in articles.values()} == ids


def test_members_only_parts_are_removed(importer):
    parts = (
        f'<!--kg-gated-block:begin {who} memberSegment:"status:free" -->{who}<!--kg-gated-block:end-->'
        for who in ("nonMember:true", "nonMember:false", "")
    )
    export = json.loads(read_data("ghost.json"))
    export["db"][0]["data"]["posts"][1]["html"] = f"<p>a</p>{''.join(parts)}<p>z</p>"
    importer.write({"ghost.json": json.dumps(export)})
    assert "Parts for members were removed (1): second\n" in importer.imports("ghost.json", "--site", SITE)
    assert re.sub("<!--.*?-->", "", importer.only("second")["contentHtml"]) == "<p>a</p>nonMember:true<p>z</p>"


GHOST_HTML = """<a href="__GHOST_URL__">Home</a> <a href="__GHOST_URL__/">Home</a>
<img src="__GHOST_URL__/content/images/a.jpg" srcset="__GHOST_URL__/content/images/size/w600/a.jpg 600w,
 /content/images/a,b.jpg 1000w" sizes="1px">
<div style="background: url('__GHOST_URL__/content/media/b.jpg')" data-kg-thumbnail="__GHOST_URL__/c.jpg"></div>
<video poster="/d.jpg"></video><div style="background: url(&quot;/e.jpg&quot;)"></div>"""


def test_every_url_of_the_site_is_made_absolute(importer):
    export = json.loads(read_data("ghost.json"))
    export["db"][0]["data"]["posts"][1]["html"] = GHOST_HTML
    importer.write({"ghost.json": json.dumps(export)})
    importer.imports("ghost.json", "--site", SITE)
    html = importer.only("second")["contentHtml"]
    expected = GHOST_HTML.replace('"__GHOST_URL__"', f'"{SITE}/"').replace("__GHOST_URL__", SITE)
    for path in ("/content/images/a,b.jpg", "/d.jpg", "/e.jpg"):
        expected = re.sub(rf"(?<!com){path}", SITE + path, expected)
    assert html == expected


def test_relative_urls_are_reported_without_a_site(importer):
    importer.write({"ghost.json": read_data("ghost.json").replace("__GHOST_URL__/other/", "__GHOST_URL__")})
    printed = importer.imports("ghost.json")
    (line,) = (line for line in printed.splitlines() if "relative" in line)
    assert line.endswith("(1): kaese")
    assert '<a href="/">Read</a> <img src="/content/images/a.png">' in importer.only("kaese")["contentHtml"]


def ghost(*posts, **tables):
    """Return an export of posts, given as dictionaries of columns."""
    required = {
        "type": "post",
        "status": "published",
        "published_at": "2026-01-31T09:30:00.000Z",
        "html": "<p>Text</p>",
    }
    rows = [{"id": f"{n:024}", "title": "A", "slug": f"a{n}"} | required | post for n, post in enumerate(posts)]
    return json.dumps({"db": [{"data": {"posts": rows, "tags": [], "posts_tags": []} | tables}]})


def test_unused_columns_are_reported(importer):
    post = {
        "featured": 1,
        "canonical_url": "https://b.example",
        "custom_excerpt": "Short",
        "brand_new": "x",
        "uuid": "u",
    }
    meta = {"post_id": f"{0:024}", "meta_description": "About", "og_title": "Social", "twitter_title": None}
    tags = {"tags": [{"id": "t", "name": "#hidden"}], "posts_tags": [{"post_id": f"{0:024}", "tag_id": "t"}]}
    importer.write({"ghost.json": ghost(post, posts_meta=[meta], **tags)})
    printed = importer.imports("ghost.json")
    for name in ("featured", "canonical_url", "custom_excerpt", "brand_new", "og_title", "tag #hidden"):
        assert f"{name} (1)" in printed
    assert "uuid" not in printed
    assert "twitter_title" not in printed
    assert importer.only("a0")["metaDesc"] == "About"


@pytest.mark.parametrize(("site", "url"), [(SITE, f"{SITE}/a0/"), (f"{SITE}/blog/", f"{SITE}/blog/a0/"), ("", "/a0/")])
def test_redirects_lead_from_the_posts_of_the_site(importer, site, url):
    importer.write({"ghost.json": ghost({})})
    importer.run("import", "ghost.json", "--redirects", "new.csv", *(["--site", site] if site else []))
    assert (importer.folder / "new.csv").read_text().splitlines()[1:] == [f"{url},a0"]


def test_post_never_replaces_an_article_of_another_origin(importer, save):
    save(minimal_json(1, id="wordpress-1", slug="a0"))
    importer.write({"ghost.json": ghost({})})
    result = importer.run("import", "ghost.json")
    assert (result.exit_code, "wordpress-1" in result.stderr) == (1, True)
    assert importer.only("a0")["id"] == "wordpress-1"


def test_small_numbers_are_not_used_as_ids(importer):
    for slug in ("a", "b"):
        importer.write({f"{slug}.json": ghost({"id": 1, "slug": slug})})
        importer.imports(f"{slug}.json")
    assert set(importer.articles()) == {"a", "b"}
    assert "1 unchanged" in importer.run("import", "a.json").stdout


def test_title_is_plain_text(importer):
    importer.write({"ghost.json": ghost({"title": "Option<T> &amp; <canvas>"})})
    importer.imports("ghost.json")
    assert importer.only("a0")["title"] == "Option<T> &amp; <canvas>"


@pytest.mark.parametrize(
    ("export", "words"),
    [
        (ghost({}, tags=None), ["ghost.json: ", "tags"]),
        (ghost({}, posts_tags=[1]), ["ghost.json: ", "posts_tags"]),
        (json.dumps({"db": [{"data": {"posts": [{"title": "A"}]}}]}), ["ghost.json: ", "tags"]),
        (json.dumps({"data": {"posts": [1], "tags": [], "posts_tags": []}}), ["ghost.json: ", "posts"]),
        (json.dumps({"data": {"posts": [{"title": "A"}], "tags": [], "posts_tags": []}}), ["post 1 'A'", "slug"]),
        (ghost({"status": "archived"}), ["status", "archived"]),
        (ghost({"slug": None, "title": None}), ["title"]),
        (ghost({"published_at": "soon"}), ["published_at", "soon"]),
        (ghost({"html": ["x"]}), ["HTML"]),
    ],
)
def test_incomplete_export_is_one_clear_error(importer, export, words):
    importer.write({"ghost.json": export})
    result = importer.run("import", "ghost.json")
    assert result.exit_code == 1, result.stdout
    assert isinstance(result.exception, SystemExit)
    assert all(word in result.stderr for word in words), result.stderr


def ghost_export(**columns):
    """Return the export with the columns of its second post replaced."""
    export = json.loads(read_data("ghost.json"))
    export["db"][0]["data"]["posts"][1] |= columns
    return json.dumps(export)


def test_email_only_post_is_not_imported(importer):
    importer.write({"ghost.json": ghost_export(status="scheduled", published_at="2999-01-01 00:00:00", email_only=1)})
    assert "only sent by email (2)" in importer.imports("ghost.json", "--site", SITE)
    assert "second" not in importer.states()


@pytest.mark.parametrize("status", ["scheduled", "published"])
def test_post_without_a_date_is_a_draft(importer, status):
    importer.write({"ghost.json": ghost_export(status=status, published_at=None)})
    assert "no date (1)" in importer.imports("ghost.json", "--site", SITE)
    assert importer.states()["second"] == "draft"


@pytest.mark.parametrize("columns", [{"id": ["x"]}, {"status": ["published"]}, {"id": None}])
def test_column_of_the_wrong_type_is_one_error(importer, columns):
    importer.write({"ghost.json": ghost_export(**columns)})
    result = importer.run("import", "ghost.json", "--site", SITE)
    assert result.exit_code == 1
    assert next(iter(columns)) in result.stderr
    assert "Traceback" not in result.stderr
    assert importer.states() == {}


@pytest.mark.parametrize(
    ("visibility", "state"),
    [(None, "published"), ("", "published"), ("Public", "published"), (" public ", "published")]
    + [(value, "draft") for value in ("members", "Paid", "tiers", "unheard", 0, ["public"])],
)
def test_only_public_posts_are_published(importer, visibility, state):
    importer.write({"ghost.json": ghost({"visibility": visibility})})
    printed = importer.imports("ghost.json")
    assert importer.states() == {"a0": state}
    assert ("Saved as drafts" in printed) == (state == "draft")


def test_every_entry_of_db_is_read(importer):
    exports = [json.loads(ghost({"id": letter * 24, "slug": letter})) for letter in "ab"]
    importer.write({"ghost.json": json.dumps({"db": [entry for export in exports for entry in export["db"]]})})
    importer.imports("ghost.json")
    assert importer.states() == {"a": "published", "b": "published"}
    importer.write({"ghost.json": json.dumps({"db": [*exports[0]["db"], {"data": None}]})})
    assert "ghost.json: " in importer.run("import", "ghost.json").stderr


def test_post_that_ends_up_empty_is_reported(importer):
    members = "<!--kg-gated-block:begin nonMember:false -->Secret<!--kg-gated-block:end-->"
    importer.write({"ghost.json": ghost({"html": "<p></p>"}, {"html": members}, {"html": "", "status": "draft"})})
    assert "Published without any content (2): a0, a1\n" in importer.imports("ghost.json")


@pytest.mark.parametrize(
    "unit", ["<!--kg-gated-block:begin ", "<!-- ", "<!--kg-gated-block:begin>", "__GHOST_URL__", "<"]
)
def test_time_is_linear_in_the_length_of_a_post(importer, unit):
    importer.write({"ghost.json": ghost({"html": unit * (200_000 // len(unit))})})
    start = time.process_time()
    assert importer.run("import", "ghost.json").exit_code == 0
    assert time.process_time() - start < 3


def test_relative_urls_without_a_site_are_reported_once(importer):
    html = '<a href="__GHOST_URL__/b/">b</a> <img src="/c.jpg"> <img src="../d.jpg">'
    importer.write({"ghost.json": ghost({"html": html})})
    (line,) = importer.imports("ghost.json").splitlines()
    assert "--site" in line
