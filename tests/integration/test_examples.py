"""Tests that run the programs of examples/ against a running service, by the commands of their README.md."""

import copy
import json
import re
import shlex
import shutil
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import lxml.html
import pytest
from helpers import (
    LISTS,
    PROJECT,
    SITEMAP,
    article_json,
    blocks,
    database_url,
    get,
    read_page,
    run_in_shell,
    write_files,
)

EXAMPLES = PROJECT / "examples"
PROGRAMS = ("javascript", "python", "php")
GENERATORS = ("astro", "eleventy", "nextjs")
SITE = "https://www.example.com/blog"
SITE_NAME = "Tom & Ann’s <café>"
ZONE = ZoneInfo("Europe/Berlin")
SITEMAP_XMLNS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
ATOM_LINK = "{http://www.w3.org/2005/Atom}link"
WRONG_KEY = "The API key in the x-api-key header is not valid."
WRONG_VARIABLES = [
    ("ARTICLES_URL", ""),
    ("ARTICLES_URL", "127.0.0.1:8000/api/public/v1"),
    ("ARTICLES_URL", "http://127.0.0.1:2/api/public/v1"),
    ("ARTICLES_URL", "OTHER_SERVER"),
    ("ARTICLES_KEY", ""),
    ("ARTICLES_KEY", "wrong"),
    ("SITE", ""),
    ("SITE", "example.com"),
    ("SITE_TIMEZONE", "Berlin"),
]
HOSTILE = article_json(
    1,
    title='</title><script>x</script> & "más"',
    slug="a&b'ü",
    metaDesc='"><b>',
    bannerUrl="",
    category="C#",
    keywords=["C#", "c", "a/b", "..", "#", "Tea", "tea", "чай", "<b>'\""],
    publishedAt="2026-01-06T23:30:00.000Z",  # It is the 7th in Berlin.
    contentHtml="<pre>wide</pre><table><tr><td>wide</td></tr></table>",
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The folder that a user has copied an example to, which is the working folder."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def run(server, key, project):
    """Run commands in the project, with the variables of a site or others; return the finished process."""
    url = f"http://127.0.0.1:{server.port}/api/public/v1"
    site = {"ARTICLES_URL": url, "ARTICLES_KEY": key, "SITE": SITE, "SITE_NAME": SITE_NAME, "SITE_TIMEZONE": ZONE.key}
    telemetry = {"NEXT_TELEMETRY_DISABLED": "1", "ASTRO_TELEMETRY_DISABLED": "1"}
    return partial(run_in_shell, **telemetry, **site)


def copy_example(name, project):
    """Copy an example, and install what its README.md says; return the command that builds the site."""
    shutil.copytree(EXAMPLES / name, project, dirs_exist_ok=True)
    commands = blocks((project / "README.md").read_text("utf-8"), "sh")[0].splitlines()
    exported = [re.match(r"export (\w+)=", line)[1] for line in commands if line.startswith("export ")]
    assert exported == ["ARTICLES_URL", "ARTICLES_KEY", "SITE", "SITE_NAME", "SITE_TIMEZONE"]
    *install, build = commands[len(exported) :]
    assert run_in_shell("\n".join(["set -e", *install])).returncode == 0
    if name == "astro":
        install_recent_node()
    return build


def install_recent_node():
    """Install a Node.js that Astro supports, where npm finds it first, if this machine's is older."""
    version = subprocess.check_output(["node", "--version"], text=True)
    if tuple(int(number) for number in version[1:].split(".")) < (22, 12):
        assert run_in_shell("npm install --no-save --no-audit node@22.23.3").returncode == 0


def fetch_data(server, key, path):
    """Return every item of a list, or of the sitemap, by its slug."""
    responses = [get(server, f"{path}?take=100&skip={skip}", x_api_key=key) for skip in (0, 100)]
    items = [item for response in responses for item in json.loads(response.body)["data"]]
    return {item.get("slug") or item["url"]: item for item in items}


def parse(path):
    return lxml.html.document_fromstring(path.read_bytes(), parser=lxml.html.HTMLParser(encoding="utf-8"))


def article_url(slug):
    return f"{SITE}/articles/{slug}/"


def complete_markup(article, url):
    """Return an article's structured data as its page should have it."""
    markup = copy.deepcopy(article["schemaMarkup"])
    for node in markup["@graph"]:
        if node.get("@type") == "BlogPosting":
            node |= {"mainEntityOfPage": url}
            node["author"] |= {"url": f"{SITE}/"}
    return markup


def assert_head_and_facts(document, *articles):
    """Check that a page names its feed and has an icon, and shows the day and category of its articles."""
    (feed,) = document.xpath("//link[@type='application/rss+xml']")
    assert (feed.get("title"), feed.get("href")) == (SITE_NAME, f"{SITE}/feed.xml")
    assert document.xpath("//link[@rel='icon']/@href")[0].startswith("data:image/svg+xml,")
    assert document.get("lang") == "en"
    for date, article in zip(document.xpath("//time"), articles, strict=True):
        day = datetime.fromisoformat(article["publishedAt"]).astimezone(ZONE).date().isoformat()
        assert (date.get("datetime"), date.text_content()) == (article["publishedAt"], day)
        assert f" · {article['category']}" in date.getparent().text_content()


def assert_article_page(path, article):
    html, document = path.read_text("utf-8"), parse(path)
    (url,) = document.xpath("//link[@rel='canonical']/@href")
    assert re.fullmatch(r"[!-~]+", url)
    assert unquote(url) == article_url(article["slug"])
    assert html[:15].lower() == "<!doctype html>"
    meta = {tag.get("name") or tag.get("property"): tag.get("content") for tag in document.iter("meta")}
    expected = {
        "viewport": "width=device-width, initial-scale=1",
        "description": article["metaDesc"],
        "og:title": article["metaTitle"],
        "og:description": article["metaDesc"],
        "og:type": "article",
        "og:url": url,
        "article:published_time": article["publishedAt"],
    }
    assert meta.items() >= expected.items()
    assert document.findtext("head/title") == article["metaTitle"]
    assert meta.get("og:image", "") == article["bannerUrl"]
    assert document.xpath("//img[@class='banner']/@src") == [article["bannerUrl"]] * bool(article["bannerUrl"])
    (markup,) = document.xpath("//script[@type='application/ld+json']/text()")
    assert json.loads(markup) == complete_markup(article, url)
    assert document.xpath("//h1/text()") == [article["title"]]
    assert re.sub(r"<(pre|table)\b", r'<\1 tabindex="0"', article["contentHtml"]) in html
    assert_head_and_facts(document, article)
    assert "x" not in document.xpath("//script/text()")


def assert_lists(site, articles):
    """Check that the lists name the articles in their order, 50 on each page, and link to each other."""
    articles, last = list(articles), -(-len(articles) // 50)
    assert len([*site.glob("page/*")]) == last - 1
    for number in range(1, last + 1):
        page = parse(site / (f"page/{number}/index.html" if number > 1 else "index.html"))
        shown = articles[(number - 1) * 50 : number * 50]
        assert [unquote(url) for url in page.xpath("//li/a[1]/@href")] == [article_url(item["slug"]) for item in shown]
        assert_head_and_facts(page, *shown)
        (canonical,) = page.xpath("//link[@rel='canonical']/@href")
        assert page.xpath("//meta[@property='og:url']/@content") == [canonical]
        assert canonical.rstrip("/") == (f"{SITE}/page/{number}" if number > 1 else SITE)
        title = f"Articles, page {number}" if number > 1 else "Articles"
        assert page.findtext("head/title") == page.findtext(".//h1") == title
        assert page.xpath("//a[@rel='next']/@href") == [f"{SITE}/page/{number + 1}/"] * (number < last)


def page_at(site, url):
    return parse(site / unquote(url).removeprefix(f"{SITE}/") / "index.html")


def read_list(site, url):
    """Return the slugs of a list, from its first page to its last."""
    slugs = []
    while url:
        page = page_at(site, url)
        slugs += [unquote(link).split("/")[-2] for link in page.xpath("//li/a[1]/@href")]
        url = next(iter(page.xpath("//a[@rel='next']/@href")), None)
    return slugs


def assert_groups(site, articles, kind, names_of, links):
    """Check that articles link to the lists of their categories or keywords, and that these name the articles."""
    slugs_of, url_of = defaultdict(list), {}
    for slug, article in articles.items():
        shown = {link.text: link.get("href") for link in page_at(site, article_url(slug)).xpath(links)}
        assert list(shown) == names_of(article)
        url_of |= shown
        for name in shown:
            slugs_of[name].append(slug)
    assert {name: read_list(site, url) for name, url in url_of.items()} == slugs_of
    for name, url in url_of.items():
        assert page_at(site, url).findtext(".//h1") == f"{kind.title()}: {name}"
        assert re.fullmatch(rf"{SITE}/{kind}/[\w-]+/", unquote(url))
    assert len([*site.glob(f"{kind}/*")]) == len({url.lower() for url in url_of.values()}) == len(slugs_of)


def assert_neighbours(site, articles):
    """Check that each article links to the next newer and the next older one."""
    slugs = [None, *articles, None]
    for newer, slug, older in zip(slugs, articles, slugs[2:], strict=False):
        page = page_at(site, article_url(slug))
        for rel, label, neighbour in (("prev", "Newer", newer), ("next", "Older", older)):
            shown = [(link.text, unquote(link.get("href"))) for link in page.xpath(f"//a[@rel='{rel}']")]
            expected = neighbour and (f"{label}: {articles[neighbour]['title']}", article_url(neighbour))
            assert shown == ([expected] if expected else [])


def assert_feed(site, articles):
    channel = ElementTree.parse(site / "feed.xml").getroot()[0]  # noqa: S314
    assert (channel.findtext("title"), channel.findtext("link")) == (SITE_NAME, f"{SITE}/")
    own = {"rel": "self", "type": "application/rss+xml", "href": f"{SITE}/feed.xml"}
    assert channel.find(ATOM_LINK).attrib == own
    for item, article in zip(channel.findall("item"), [*articles][:20], strict=True):
        texts = [item.findtext(name) for name in ("guid", "title", "description")]
        assert texts == [article[name] for name in ("id", "title", "metaDesc")]
        assert unquote(item.findtext("link")) == article_url(article["slug"])
        published = datetime.fromisoformat(article["publishedAt"]).replace(microsecond=0)
        assert parsedate_to_datetime(item.findtext("pubDate")) == published


def read_sitemap(path):
    root = ElementTree.parse(path).getroot()  # noqa: S314
    assert root.tag == f"{SITEMAP_XMLNS}urlset"
    return {unquote(url.findtext(f"{SITEMAP_XMLNS}loc")): url.findtext(f"{SITEMAP_XMLNS}lastmod") for url in root}


def assert_site(site, server, key):
    """Check that a site has a page for each published article, lists, a feed and a sitemap.xml."""
    articles = fetch_data(server, key, LISTS[0])
    assert {path.name for path in site.glob("articles/*")} == articles.keys()
    for slug, article in articles.items():
        assert_article_page(site / "articles" / slug / "index.html", article)
    assert_lists(site, articles.values())
    assert_groups(site, articles, "category", lambda article: [article["category"]], "//p[time]//a")
    assert_groups(site, articles, "keyword", lambda article: article["keywords"], "//a[@rel='tag']")
    assert_neighbours(site, articles)
    assert_feed(site, articles.values())
    entries = fetch_data(server, key, SITEMAP)
    expected = {article_url(slug): entry["lastmod"] for slug, entry in entries.items()}
    assert read_sitemap(site / "sitemap.xml") == expected
    assert len(expected) == 120


def read_files(site):
    return {path: path.read_bytes() for path in site.glob("**/*") if path.is_file()}


@pytest.mark.parametrize("name", [*PROGRAMS, *GENERATORS])
def test_site_has_a_page_for_every_article(save, server, key, run, project, name):
    save(HOSTILE, *(article_json(number) for number in range(2, 121)))
    build = copy_example(name, project)
    result = run(build, SITE=f"{SITE}/", ARTICLES_URL=f"http://127.0.0.1:{server.port}/api/public/v1/")
    assert result.returncode == 0, result.stdout + result.stderr
    assert_site(project / "site", server, key)
    before = read_files(project / "site")
    assert not any(key.encode() in content for content in before.values())
    wrong = run(build, ARTICLES_KEY="wrong")
    assert wrong.returncode > 0
    assert WRONG_KEY in wrong.stdout + wrong.stderr
    assert read_files(project / "site") == before


@pytest.fixture
def other_server(tmp_path):
    """The URL of a server that responds with HTML to requests for articles and previews."""
    write_files(tmp_path / "other", {"articles/preview": "<p>Hello</p>"})
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path / "other")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("name", [*PROGRAMS, *GENERATORS])
def test_wrong_variables_are_explained_in_one_line(run, project, other_server, name):
    shutil.copytree(EXAMPLES / name, project, dirs_exist_ok=True)
    build = blocks((project / "README.md").read_text("utf-8"), "sh")[0].splitlines()[-1]
    for variable, value in WRONG_VARIABLES:
        result = run(build, **{variable: value.replace("OTHER_SERVER", other_server)})
        assert (result.returncode, result.stderr.count("\n")) == (1, 1), result.stderr
        assert f"{variable} is " in result.stderr or f"et {variable} to " in result.stderr
    assert not (project / "site").exists()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_changes_only_what_differs(save, sql, run, project, name):
    save(article_json(1, category="Old"), *(article_json(number) for number in range(2, 5)))
    # An import refuses such markup. Only another tool can write it.
    nodes = '{"name":"<\\/ScRiPt x <!-- &"},"text",{"@type":"Person","author":"Ann"},{"@type":"Article","author":"Ann"}'
    markup = f'{{"@context":"https://schema.org","@graph":[{nodes}]}}'
    sql("UPDATE article SET schema_markup = ? WHERE id = 'id-0002'", markup)
    build, site = f"{copy_example(name, project)} elsewhere", project / "elsewhere"
    assert run(build).returncode == 0
    (shown,) = parse(site / "articles/slug-2/index.html").xpath("//script[@type='application/ld+json']/text()")
    *others, article = json.loads(shown)["@graph"]
    assert others == json.loads(f"[{nodes}]")[:-1]
    assert article == {"@type": "Article", "author": "Ann", "mainEntityOfPage": article_url("slug-2")}

    untouched = (site / "articles/slug-4/index.html").stat().st_ino
    (site / "robots.txt").touch()
    save(article_json(2, title="Another title"), article_json(1, status="draft"))
    assert run(build).returncode == 0
    assert "Another title" in (site / "articles/slug-2/index.html").read_text()
    assert (site / "articles/slug-4/index.html").stat().st_ino == untouched
    assert not (site / "articles/slug-1").exists()
    assert [path.name for path in site.glob("category/*")] == ["news"]
    assert (site / "robots.txt").exists()


def test_preview_builds_a_site_with_a_draft(save, database, run, project):
    save(article_json(1, slug="spring-menu", status="draft"), article_json(2, slug="not-named", status="draft"))
    copy_example("python", project)
    line = re.search(r"^flask articles preview --only .*", read_page("docs/publish"), re.MULTILINE)[0]
    assert run(line, DATABASE_URL=database_url(database)).returncode == 0
    assert [path.name for path in project.glob("site/articles/*")] == ["spring-menu"]


def test_replaced_site_keeps_every_page_and_removes_old_ones(project):
    """Kills `replace-site.mjs` at ten moments, as the build of a generator may be."""
    shutil.copy(EXAMPLES / "astro/replace-site.mjs", project)
    names = [*(f"articles/{number}/index.html" for number in range(300)), "index.html", "assets/style.css"]
    old, new, last = ("old" * 20_000, "new" * 20_000, "last")

    def replace(content, names, prefix=""):
        shutil.rmtree("built", ignore_errors=True)
        write_files(project / "built", dict.fromkeys(names, content))
        began = time.monotonic()
        run_in_shell(f"{prefix} node replace-site.mjs built site")
        return time.monotonic() - began

    (project / "site").mkdir()
    replace(old, names)
    duration = replace(old, names)
    for number in range(1, 11):
        replace((old, new)[number % 2], names, f"timeout --signal=KILL {duration * number / 11}")
        files = {path: content for path, content in read_files(project / "site").items() if path.suffix != ".new"}
        assert set(files.values()) <= {old.encode(), new.encode()}
        assert files.keys() == {project / "site" / name for name in names}
    replace(last, names[1:])
    assert set(read_files(project / "site").values()) == {b"last"}
    assert not (project / "site/articles/0").exists()


FETCH_ONE = {
    "javascript": (
        "node --input-type=module --eval",
        "import { fetchArticle } from './articles.mjs'; console.log((await fetchArticle('SLUG'))?.slug ?? 'none')",
    ),
    "python": (
        "python -c",
        "from articles import fetch_article; print((fetch_article('SLUG') or {}).get('slug', 'none'))",
    ),
    "php": ("php -r", "require 'articles.php'; echo fetch_article('SLUG')->slug ?? 'none', PHP_EOL;"),
}


@pytest.mark.parametrize("name", FETCH_ONE)
def test_program_finds_one_article_by_its_slug(save, run, project, name):
    save(*(article_json(number) for number in range(1, 205)))
    copy_example(name, project)
    command, code = FETCH_ONE[name]
    for slug, expected in {"slug-1": "slug-1", "SLUG-1": "none", "slug": "none"}.items():
        assert run(f"{command} {shlex.quote(code.replace('SLUG', slug))}").stdout == f"{expected}\n"


def test_banners_are_downloaded_once(save, server, run, project):
    banner = f"http://127.0.0.1:{server.port}/static/banners/writing.svg"
    missing = f"http://127.0.0.1:{server.port}/static/banners/missing.svg"
    save(*(article_json(number, bannerUrl=url) for number, url in enumerate([banner, banner, missing, ""])))
    build = copy_example("javascript", project)
    call, after = "await downloadBanners(articles, site);", "const { articles, lists } = await readContent();\n"
    assert call in (project / "README.md").read_text()
    program = (project / "make-site.mjs").read_text()
    program = program.replace(after, after + call)
    (project / "make-site.mjs").write_text(f'import {{ downloadBanners }} from "./banners.mjs";\n{program}')
    assert run(build).returncode == 0
    (file,) = project.glob("site/banners/*")
    assert file.read_bytes() == (PROJECT / "static/banners/writing.svg").read_bytes()
    pages = [parse(project / f"site/articles/slug-{number}/index.html") for number in range(4)]
    shown = [page.xpath("//img[@class='banner']/@src") for page in pages]
    assert shown == [[f"{SITE}/banners/{file.name}"], [f"{SITE}/banners/{file.name}"], [missing], []]


def test_rebuild_script_builds_only_after_a_change(save, run, project):
    save(*(article_json(number) for number in range(1, 251)))
    shutil.copy(EXAMPLES / "rebuild.sh", project)

    def rebuild(command="sh -c 'echo built >>builds'"):
        return run(f"sh rebuild.sh {command}").returncode

    assert rebuild() == rebuild() == 0
    save(article_json(2, title="The last page of the list"))
    assert rebuild("false") > 0
    assert rebuild() == rebuild() == 0
    assert (project / "builds").read_text() == "built\n" * 2
    assert run("sh rebuild.sh true", ARTICLES_KEY="wrong").returncode > 0


@pytest.mark.parametrize("name", ["articles.mjs", "replace-site.mjs", "check.mjs", "content.mjs"])
def test_copies_of_a_module_are_equal(name):
    copies = [path.read_text() for path in EXAMPLES.glob(f"*/{name}")]
    assert len(copies) > 1
    assert len(set(copies)) == 1


def test_overview_links_to_each_example():
    linked = set(re.findall(r"\]\(\.\./examples/(\w+)/README\.md\)", read_page("docs/integrate")))
    assert linked == {path.parent.name for path in EXAMPLES.glob("*/README.md")}
