"""Tests that run the programs of docs/import.md, as printed there, on exports as their sources write them."""

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from types import SimpleNamespace

import pytest
from helpers import LISTS, PROJECT, client_with_key, database_url, run_command, run_in_shell

from commands.articles import articles as commands
from schemas import ArticleImportSchema

DOCS = (PROJECT / "docs/import.md").read_text("utf-8")
PROGRAMS = dict(re.findall(r"[Ss]ave (?:this|it) as `(\w+\.py)`:\n\n```python\n(.*?)```", DOCS, re.DOTALL))
FUTURE = "2099-01-31T09:30:00.000Z"


def section(title):
    return re.split(r"^## ", DOCS.split(f"\n## {title}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]


def block(language, title):
    """Return the first code block in a language of a section."""
    return re.search(rf"```{language}\n(.*?)```", section(title), re.DOTALL)[1]


def pipelines(title):
    """Return the lines of a section that run a program and import what it prints."""
    return re.findall(r"^python .*\| flask .*$", section(title), re.MULTILINE)


def counts(printed):
    """Return how many articles an import says are new, changed and unchanged."""
    return tuple(map(int, re.match(r"(\d+) new.*?(\d+) changed, (\d+) unchanged", printed).groups()))


@pytest.fixture
def site(app, tmp_path, monkeypatch):
    """A folder with the programs, and the customer that the page's own command creates.

    A line of the page runs a program in a new process and `flask` in this one.
    """
    for name, program in PROGRAMS.items():
        (tmp_path / name).write_text(program, "utf-8")
    monkeypatch.chdir(tmp_path)

    def run_program(command, status=0):
        arguments = [sys.executable, *shlex.split(command)[1:]]
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
        assert result.returncode == status, result.stderr
        return result

    def run(line, status=0):
        program, _, command = line.rpartition(" | ")
        printed = run_program(program).stdout if program else None
        result = run_command(app, *shlex.split(command)[1:], input=printed)
        assert result.exit_code == status, result.stderr
        return result

    def import_twice(title, number):
        """Run the section's import, first with --dry-run, then twice; return the published articles by slug."""
        preview, line = pipelines(title)
        assert preview == f"{line} --dry-run"
        result = run(preview)
        assert (counts(result.stdout), result.stderr) == ((number, 0, 0), "")
        assert list_articles() == {}
        assert counts(run(line).stdout) == (number, 0, 0)
        assert counts(run(line).stdout) == (0, 0, number)
        return read_articles()

    def list_articles():
        """Return the state of every article by its slug."""
        lines = run('flask articles list --customer "My Site"').stdout.splitlines()
        return {line.split("\t")[2]: line.split("\t")[0] for line in lines}

    def read_articles():
        return {article["slug"]: article for article in client.get(f"{LISTS[0]}?take=100").get_json()["data"]}

    (create,) = re.findall(r"^flask keys create .*$", DOCS, re.MULTILINE)
    client = client_with_key(app, run(create).stdout.strip())
    return SimpleNamespace(
        folder=tmp_path,
        run=run,
        run_program=run_program,
        import_twice=import_twice,
        list_articles=list_articles,
        read_articles=read_articles,
    )


def test_article_by_hand_is_imported(site):
    (site.folder / "first.jsonl").write_text(block("json", "One article by hand"), "utf-8")
    preview, imported, listed = [site.run(line).stdout for line in block("sh", "One article by hand").splitlines()]
    assert counts(preview) == counts(imported) == (1, 0, 0)
    assert "dry run" in preview
    assert listed == "published\t2026-03-01T07:00:00.000Z\tspring-menu\tOur spring menu\n"


def wordpress_item(number, title, content="", *, more="", **fields):
    """Return an item as WordPress exports it; `fields` replace those of a post that was published."""
    fields = {
        "post_id": number,
        "post_date": "2026-01-31 10:30:00",
        "post_date_gmt": "2026-01-31 09:30:00",
        "post_modified": "2026-02-01 11:00:00",
        "post_modified_gmt": "2026-02-01 10:00:00",
        "comment_status": "open",
        "ping_status": "open",
        "post_name": f"post-{number}",
        "status": "publish",
        "post_parent": 0,
        "menu_order": 0,
        "post_type": "post",
        "post_password": "",
        "is_sticky": 0,
    } | fields
    rows = "\n\t\t".join(f"<wp:{name}><![CDATA[{value}]]></wp:{name}>" for name, value in fields.items())
    return f"""
\t<item>
\t\t<title><![CDATA[{title}]]></title>
\t\t<link>https://blog.example.com/?p={number}</link>
\t\t<pubDate>Sat, 31 Jan 2026 09:30:00 +0000</pubDate>
\t\t<dc:creator><![CDATA[editor]]></dc:creator>
\t\t<guid isPermaLink="false">https://blog.example.com/?p={number}</guid>
\t\t<description></description>
\t\t<content:encoded><![CDATA[{content}]]></content:encoded>
\t\t{more if "excerpt:encoded" in more else "<excerpt:encoded><![CDATA[]]></excerpt:encoded>" + more}
\t\t{rows}
\t\t<wp:postmeta>
\t\t\t<wp:meta_key><![CDATA[_edit_last]]></wp:meta_key>
\t\t\t<wp:meta_value><![CDATA[1]]></wp:meta_value>
\t\t</wp:postmeta>
\t</item>"""


def wordpress_export(*items):
    return f"""<?xml version="1.0" encoding="UTF-8" ?>
<!-- generator="WordPress/6.8" created="2026-03-01 12:00" -->
<rss version="2.0"
\txmlns:excerpt="http://wordpress.org/export/1.2/excerpt/"
\txmlns:content="http://purl.org/rss/1.0/modules/content/"
\txmlns:wfw="http://wellformedweb.org/CommentAPI/"
\txmlns:dc="http://purl.org/dc/elements/1.1/"
\txmlns:wp="http://wordpress.org/export/1.2/"
>
<channel>
\t<title>Café Blog</title>
\t<link>https://blog.example.com</link>
\t<language>en-US</language>
\t<wp:wxr_version>1.2</wp:wxr_version>
\t<wp:base_site_url>https://blog.example.com</wp:base_site_url>
\t<wp:author><wp:author_id>1</wp:author_id><wp:author_login><![CDATA[editor]]></wp:author_login></wp:author>
\t<wp:category><wp:term_id>2</wp:term_id><wp:cat_name><![CDATA[Food &amp; Drink]]></wp:cat_name></wp:category>
{"".join(items)}
</channel>
</rss>
"""


BLOCKS = """<!-- wp:paragraph {"align":"center"} -->
<p class="has-text-align-center">Asparagus is back.</p>
<!-- /wp:paragraph -->

<!-- wp:image {"id":30} -->
<figure class="wp-block-image"><img src="https://blog.example.com/wp-content/uploads/a.jpg" alt=""/></figure>
<!-- /wp:image -->

<!-- wp:latest-posts {"postsToShow":3} /-->"""
CLASSIC = """The first paragraph
goes on, with <em>emphasis</em> &amp; 1 < 2.

<h2>A heading</h2>
Right after it, *no* _Markdown_.
<ul>
<li>One</li>
<li>Two</li>
</ul>
<blockquote>A quote

of two paragraphs</blockquote>
<pre>
a

    b
</pre>
[gallery ids="1,2"]"""
TERMS = """
\t\t<category domain="category" nicename="food"><![CDATA[Food &amp; Drink]]></category>
\t\t<category domain="category" nicename="news"><![CDATA[News]]></category>
\t\t<category domain="post_tag" nicename="menu"><![CDATA[menu]]></category>
\t\t<category domain="post_tag" nicename="q-and-a"><![CDATA[Q&amp;A]]></category>
\t\t<wp:postmeta>
\t\t\t<wp:meta_key><![CDATA[_thumbnail_id]]></wp:meta_key>
\t\t\t<wp:meta_value><![CDATA[30]]></wp:meta_value>
\t\t</wp:postmeta>"""
EXCERPT = "<excerpt:encoded><![CDATA[<p>What we cook &amp; why.</p>\n]]></excerpt:encoded>"
NEVER = "0000-00-00 00:00:00"
BANNER = "https://blog.example.com/wp-content/uploads/2026/01/asparagus.jpg"


def test_wordpress_posts_arrive(site):
    export = wordpress_export(
        wordpress_item(17, "Fish &amp; Chips", BLOCKS, post_name="sm%c3%b8rrebr%c3%b8d", more=EXCERPT + TERMS),
        wordpress_item(18, "Classic ]]]]><![CDATA[> \x08“quoted”", CLASSIC),
        wordpress_item(19, "Scheduled", post_date_gmt="2099-01-31 09:30:00", status="future"),
        wordpress_item(20, "Draft", post_name="", post_date_gmt=NEVER, post_modified_gmt=NEVER, status="draft"),
        wordpress_item(21, "For friends", post_password="friends"),  # noqa: S106
        wordpress_item(22, "Private", status="private"),
        wordpress_item(23, "About us", post_type="page"),
        wordpress_item(24, "Gone", post_name="gone__trashed", status="trash"),
        wordpress_item(
            30,
            "asparagus",
            post_type="attachment",
            status="inherit",
            more=f"<wp:attachment_url><![CDATA[{BANNER}]]></wp:attachment_url>",
        ),
    )
    (site.folder / "export.xml").write_text(export, "utf-8")
    published = site.import_twice("WordPress", 6)
    assert set(published) == {"smørrebrød", "post-18"}
    assert site.list_articles() == {
        "smørrebrød": "published",
        "post-18": "published",
        "post-19": "scheduled",
        "draft-20": "draft",
        "post-21": "draft",
        "post-22": "draft",
    }
    article = published["smørrebrød"]
    markup = article.pop("schemaMarkup")["@graph"][0]
    assert markup["dateModified"] == "2026-02-01T10:00:00.000Z"
    assert article == {
        "id": "wordpress-17",
        "title": "Fish & Chips",
        "slug": "smørrebrød",
        "bannerUrl": BANNER,
        "keywords": ["menu", "Q&A"],
        "metaTitle": "Fish & Chips",
        "metaDesc": "What we cook & why.",
        "publishedAt": "2026-01-31T09:30:00.000Z",
        "category": "Food & Drink",
        "readTime": 1,
        "contentHtml": '<p class="has-text-align-center">Asparagus is back.</p>\n\n'
        '<figure class="wp-block-image"><img src="https://blog.example.com/wp-content/uploads/a.jpg" alt=""/></figure>',
    }
    classic = published["post-18"]
    assert classic["title"] == "Classic ]]> “quoted”"
    assert (classic["category"], classic["keywords"], classic["bannerUrl"]) == ("", [], "")
    assert classic["metaDesc"].startswith("The first paragraph goes on, with emphasis & 1 < 2. A heading")


def test_wordpress_paragraphs_are_made_as_wordpress_does(site):
    (site.folder / "export.xml").write_text(wordpress_export(wordpress_item(1, "Classic", CLASSIC)), "utf-8")
    article = site.import_twice("WordPress", 1)["post-1"]
    assert article["contentHtml"].splitlines() == [
        "<p>The first paragraph<br>",
        "goes on, with <em>emphasis</em> &amp; 1 &lt; 2.</p>",
        "<h2>A heading</h2>",
        "<p>Right after it, *no* _Markdown_.</p>",
        "<ul>",
        "<li>One</li>",
        "<li>Two</li>",
        "</ul>",
        "<blockquote>",
        "<p>A quote</p>",
        "<p>of two paragraphs</p>",
        "</blockquote>",
        "<pre>",
        "a",
        "",
        "    b",
        "</pre>",
        "<p>[gallery ids=&quot;1,2&quot;]</p>",
    ]
    counting = re.search(r"`(python wordpress.py export.xml \| grep .*)`", DOCS)[1]
    assert run_in_shell(counting).stdout.split() == ["1", "[gallery"]


def test_wordpress_export_of_an_older_version_arrives(site):
    """Before WordPress 5.7 titles were escaped and the time of the last change was missing."""
    export = wordpress_export(wordpress_item(1, "Fish"))
    export = re.sub(r"<wp:post_modified.*\n", "", export).replace("/export/1.2/", "/export/1.0/")
    export = export.replace("<![CDATA[Fish]]>", "Fish &#038; Chips &amp; more")
    (site.folder / "export.xml").write_text(export, "utf-8")
    assert site.import_twice("WordPress", 1)["post-1"]["title"] == "Fish & Chips & more"


def test_wordpress_edits_arrive_with_the_next_import(site):
    export = wordpress_export(wordpress_item(1, "Title"), wordpress_item(2, "Other"))
    (site.folder / "export.xml").write_text(export, "utf-8")
    site.import_twice("WordPress", 2)
    export = export.replace("post-1]", "renamed]").replace("2026-02-01 10:00:00", "2026-02-02 10:00:00", 1)
    (site.folder / "export.xml").write_text(export, "utf-8")
    line = pipelines("WordPress")[1]
    assert counts(site.run(line).stdout) == (0, 1, 1)
    assert site.read_articles()["renamed"]["id"] == "wordpress-1"


def ghost_post(id, **fields):
    return {
        "id": id,
        "uuid": "4b1d0d3c-5f5e-4a3c-9b8e-0d8a2f5c7e11",
        "title": f"Post {id}",
        "slug": f"post-{id}",
        "mobiledoc": None,
        "lexical": '{"root":{"children":[]}}',
        "html": "<p>Text</p>",
        "comment_id": id,
        "plaintext": "Text",
        "feature_image": None,
        "featured": 0,
        "type": "post",
        "status": "published",
        "visibility": "public",
        "created_at": "2026-01-30T08:00:00.000Z",
        "updated_at": "2026-02-01T10:00:00.000Z",
        "published_at": "2026-01-31T09:30:00.000Z",
        "custom_excerpt": None,
    } | fields


def test_ghost_posts_arrive(site):
    first, second, untouched = "63f0b1c2d3e4f5a6b7c8d901", "63f0b1c2d3e4f5a6b7c8d902", "63f0b1c2d3e4f5a6b7c8d903"
    posts = [
        ghost_post(
            first,
            title="Käse & Brot",
            slug="kaese",
            feature_image="__GHOST_URL__/content/images/2026/01/cheese.jpg",
            html='<p><a href="__GHOST_URL__/other/">Read</a> <img src="__GHOST_URL__/content/images/a.png"></p>',
        ),
        ghost_post(second, custom_excerpt="In short", published_at="2026-01-31 09:30:00"),
        ghost_post(untouched, status="draft", published_at=None, html=None),
        ghost_post("scheduled", status="scheduled", published_at=FUTURE),
        ghost_post("paid", visibility="paid"),
        ghost_post("sent", status="sent"),
        ghost_post("about", type="page"),
    ]
    data = {
        "posts": posts,
        "posts_meta": [{"id": "m1", "post_id": first, "meta_title": "Cheese", "meta_description": "About cheese"}],
        "tags": [
            {"id": "t1", "name": "News", "slug": "news", "visibility": "public"},
            {"id": "t2", "name": "Food", "slug": "food", "visibility": "public"},
            {"id": "t3", "name": "#newsletter", "slug": "hash-newsletter", "visibility": "internal"},
        ],
        "posts_tags": [
            {"id": "l1", "post_id": first, "tag_id": "t1", "sort_order": 2},
            {"id": "l2", "post_id": first, "tag_id": "t2", "sort_order": 1},
            {"id": "l3", "post_id": first, "tag_id": "t3", "sort_order": 0},
        ],
    }
    export = {"db": [{"meta": {"exported_on": 1772366400000, "version": "5.130.0"}, "data": data}]}
    (site.folder / "ghost.json").write_text(json.dumps(export, ensure_ascii=False), "utf-8")
    published = site.import_twice("Ghost", 5)
    assert set(published) == {"kaese", f"post-{second}"}
    assert site.list_articles() == {
        "kaese": "published",
        f"post-{second}": "published",
        f"post-{untouched}": "draft",
        "post-scheduled": "scheduled",
        "post-paid": "draft",
    }
    article = published["kaese"]
    del article["schemaMarkup"]
    assert article == {
        "id": first,
        "title": "Käse & Brot",
        "slug": "kaese",
        "bannerUrl": "https://blog.example.com/content/images/2026/01/cheese.jpg",
        "keywords": ["Food", "News"],
        "metaTitle": "Cheese",
        "metaDesc": "About cheese",
        "publishedAt": "2026-01-31T09:30:00.000Z",
        "category": "Food",
        "readTime": 1,
        "contentHtml": '<p><a href="https://blog.example.com/other/">Read</a> '
        '<img src="https://blog.example.com/content/images/a.png"></p>',
    }
    other = published[f"post-{second}"]
    assert (other["metaDesc"], other["category"], other["keywords"]) == ("In short", "", [])
    assert other["publishedAt"] == "2026-01-31T09:30:00.000Z"


def write_posts(site, posts):
    for name, text in posts.items():
        path = site.folder / "posts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def test_markdown_files_arrive(site):
    body = """Some **bold** text, a [link](/about/?a=1&b=2), [mail](mailto:a@example.com) and [below](#below).

![Asparagus](images/asparagus.png)

| Dish | Price |
|---|---|
| Soup | 5 |

```html
<img src="/x.png">
```

<p><a href="../other/">HTML</a></p>
"""
    posts = {
        "spring-menu.md": block("yaml", "Markdown") + body,
        "2026-02-03-jekyll-name.md": "\ufeff---\ntitle: 'Jekyll: a post'\ntags: one, two\ncategory: News\n---\nText\n",
        "2026-02-04-jekyll.md": "---\ntitle: With an offset\ndate: 2026-02-04 23:30:00 -0500\n---\nText\n",
        "bundle/index.md": "---\ntitle: 2026\ndate: 2026-02-05\ntags: [2026, true]\n---\n![](photo.jpg)\n",
        "zulu.md": f"---\ntitle: Later\nslug: später\ndate: {FUTURE}\n---\nText\n",
        "naive.md": "---\ntitle: Naive\ndate: 2026-02-06T08:00:00\n---\nText\n",
        "draft.md": "---\ntitle: Draft\ndate: 2026-02-07\ndraft: true\n---\nText\n",
        "hidden.md": "---\ntitle: Hidden\ndate: 2026-02-07\npublished: false\n---\nText\n",
        "undated.md": "---\ntitle: Undated\n---\nText\n",
        "_index.md": "---\ntitle: A list of posts\n---\n",
    }
    write_posts(site, posts)
    published = site.import_twice("Markdown", 9)
    states = {name: state for name, state in site.list_articles().items() if state != "published"}
    assert states == {"später": "scheduled", "draft": "draft", "hidden": "draft", "undated": "draft"}
    assert {slug: article["publishedAt"] for slug, article in published.items()} == {
        "spring-menu": "2026-03-01T07:00:00.000Z",
        "jekyll-name": "2026-02-03T00:00:00.000Z",
        "jekyll": "2026-02-05T04:30:00.000Z",
        "bundle": "2026-02-05T00:00:00.000Z",
        "naive": "2026-02-06T08:00:00.000Z",
    }
    article = published["spring-menu"]
    assert (article["title"], article["category"]) == ("Our spring menu", "News")
    assert article["keywords"] == ["menu", "asparagus"]
    assert article["metaDesc"] == "What we cook in March."
    assert article["bannerUrl"] == "https://www.example.com/images/asparagus.jpg"
    html = article["contentHtml"]
    assert "Some <strong>bold</strong> text" in html
    assert '<a href="https://www.example.com/about/?a=1&amp;b=2">' in html
    assert '<a href="mailto:a@example.com">' in html
    assert '<a href="#below">' in html
    assert '<img src="https://www.example.com/blog/images/asparagus.png" alt="Asparagus"' in html
    assert "<td>Soup</td>" in html
    assert "&lt;img src=&quot;/x.png&quot;&gt;" in html
    assert '<p><a href="https://www.example.com/other/">HTML</a></p>' in html
    assert '<img src="https://www.example.com/blog/bundle/photo.jpg"' in published["bundle"]["contentHtml"]
    assert (published["bundle"]["title"], published["bundle"]["keywords"]) == ("2026", ["2026", "True"])
    assert published["jekyll-name"]["keywords"] == ["one", "two"]
    assert published["jekyll-name"]["category"] == "News"


def test_markdown_dates_take_the_zone_that_the_program_names(site):
    write_posts(site, {"a.md": "---\ntitle: A\ndate: 2026-02-06\n---\n"})
    program = PROGRAMS["markdown_folder.py"].replace("ZONE = UTC", 'ZONE = zoneinfo.ZoneInfo("Europe/Berlin")')
    (site.folder / "markdown_folder.py").write_text("import zoneinfo\n" + program, "utf-8")
    published = site.import_twice("Markdown", 1)
    assert published["a"]["publishedAt"] == "2026-02-05T23:00:00.000Z"


def test_csv_example_arrives(site):
    (site.folder / "articles.csv").write_text(block("csv", "CSV"), "utf-8")
    published = site.import_twice("CSV", 2)
    assert site.list_articles() == {"spring-menu": "published", "opening-hours": "draft"}
    article = published["spring-menu"]
    assert article["keywords"] == ["menu", "asparagus"]
    assert article["publishedAt"] == "2026-03-01T08:00:00.000Z"
    assert article["contentHtml"] == "<p>Asparagus is back.</p>"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_of_excel_arrives(site, separator):
    """Excel writes a byte order mark, CRLF, line breaks in cells, and empty rows after the last one."""
    rows = [
        ["id", "title", "slug", "status", "publishedAt", "views", "keywords", "contentHtml"],
        [1, 'Äpfel, "süß"; sauer', "aepfel", "published", "2026-01-31 09:30", 12, "Obst, Süßes", "<p>a;\n\nb,\tc</p>"],
        [2, "Später", "spaeter", "", "2099-01-31 09:30", "", "", "<p>" + "x" * 200_000 + "</p>"],
        ["", "", "", "", "", "", "", ""],
    ]
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerows(rows)
    (site.folder / "articles.csv").write_text(text.getvalue(), "utf-8-sig", newline="")
    published = site.import_twice("CSV", 2)
    assert site.list_articles() == {"aepfel": "published", "spaeter": "scheduled"}
    article = published["aepfel"]
    assert (article["id"], article["title"]) == ("1", 'Äpfel, "süß"; sauer')
    assert (article["keywords"], article["contentHtml"]) == (["Obst", "Süßes"], "<p>a;\n\nb,\tc</p>")


@pytest.mark.parametrize(
    ("command", "file", "text", "message"),
    [
        ("wordpress.py export.xml", "", "", "export.xml: .*No such file"),
        ("wordpress.py", "", "", "Usage: python wordpress.py export.xml"),
        ("wordpress.py export.xml", "export.xml", wordpress_export(wordpress_item(1, "a"))[:-30], "export.xml: .*line"),
        ("wordpress.py export.xml", "export.xml", "<rss><channel/></rss>", "export.xml: not a WordPress export"),
        (
            "wordpress.py export.xml",
            "export.xml",
            wordpress_export(wordpress_item(1, "a"))
            .replace("excerpt:encoded", "description")
            .replace("xmlns:excerpt", "xmlns:e"),
            "export.xml: prefix 'excerpt' not found",
        ),
        ("ghost.py ghost.json", "", "", "Usage: python ghost.py ghost.json https://blog.example.com"),
        ("ghost.py ghost.json https://a.example", "ghost.json", '{"db": [', "ghost.json: .*line 1"),
        ("ghost.py ghost.json https://a.example", "ghost.json", '{"db": []}', "ghost.json: not an export of Ghost 3"),
        ("ghost.py ghost.json https://a.example", "ghost.json", "[]", "ghost.json: not an export of Ghost 3"),
        ("markdown_folder.py posts", "", "", "Usage: python markdown_folder.py FOLDER"),
        ("markdown_folder.py posts https://a.example", "", "", "posts: no .md files"),
        ("markdown_folder.py . https://a.example", "a.md", "+++\ntitle = 'TOML'\n+++", "a.md: no title in the front"),
        ("markdown_folder.py . https://a.example", "a.md", "---\ntitle: a: b\n---", "a.md: mapping values are not"),
        ("markdown_folder.py . https://a.example", "a.md", "---\ntitle: a\ndate: May\n---", "a.md: Invalid isoformat"),
        ("spreadsheet.py articles.csv", "", "", "articles.csv: .*No such file|.*No such file.*articles.csv"),
        ("spreadsheet.py articles.csv", "articles.csv", "title\nÄ".encode("cp1252"), "articles.csv: not UTF-8"),
        ("spreadsheet.py articles.csv", "articles.csv", "slug,title\na,b\nc,d,e", "line 3: more cells than the first"),
        ("spreadsheet.py articles.csv", "articles.csv", 'slug,title\na,"b', "near line 1: unexpected end of data"),
        (
            "spreadsheet.py articles.csv",
            "articles.csv",
            "slug,publishedAt\na,01.03.2026 08:00",
            "line 2: time data '01.03.2026 08:00' does not match format",
        ),
    ],
)
def test_mistake_is_explained_and_prints_no_articles(site, command, file, text, message):
    if file:
        (site.folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    result = site.run_program(f"python {command}", status=1)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert re.search(message, result.stderr)


def test_pipeline_works_in_a_shell(site, database):
    """Runs it as the page says, with an export and without: the import then says that nothing came."""
    line = pipelines("CSV")[1]
    failed = run_in_shell(line, DATABASE_URL=database_url(database))
    assert "articles.csv" in failed.stderr
    assert failed.stdout.strip() == "0 new, 0 changed, 0 unchanged"
    assert "`0 new, 0 changed, 0 unchanged`" in DOCS
    (site.folder / "articles.csv").write_text(block("csv", "CSV"), "utf-8")
    assert counts(run_in_shell(line, DATABASE_URL=database_url(database)).stdout) == (2, 0, 0)
    assert set(site.read_articles()) == {"spring-menu"}


def test_wrong_article_is_named_by_its_line(site):
    (site.folder / "articles.csv").write_text("slug,title,contentHtml\na,A,x\nb,,x\n", "utf-8")
    line = pipelines("CSV")[1]
    result = site.run(line, status=1)
    assert "standard input, line 2, slug 'b': title:" in result.stderr
    assert site.list_articles() == {}


def test_commands_and_fields_of_the_page_exist():
    used = set(re.findall(r"flask articles (\w+)", DOCS))
    assert {"import", "list", "unpublish"} <= used <= set(commands.commands)
    options = {option for command in commands.commands.values() for param in command.params for option in param.opts}
    assert set(re.findall(r"flask .*?(--[a-z-]+)", DOCS)) <= options
    fields = {field.data_key or name for name, field in ArticleImportSchema().fields.items()}
    for name, program in PROGRAMS.items():
        assert set(re.findall(r'^ {4,}"(\w+)": ', program, re.MULTILINE)) <= fields, name
    assert set(block("csv", "CSV").splitlines()[0].split(",")) <= fields


def test_libraries_of_the_page_are_those_of_the_tests():
    pinned = dict(re.findall(r"^([\w-]+)==(.+)$", (PROJECT / ".ci/requirements.txt").read_text(), re.MULTILINE))
    commands = re.findall(r"^pip install (.*)$", DOCS, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert set(shlex.split(command)) <= set(pinned)


def test_links_of_the_page_lead_somewhere():
    for path in re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", DOCS):
        assert (PROJECT / "docs" / path).exists(), path
    for anchor in re.findall(r"\]\(#([\w-]+)\)", DOCS):
        assert f"\n## {anchor}\n" in DOCS.lower()
    assert "](docs/import.md)" in (PROJECT / "README.md").read_text("utf-8")
