"""Tests that run the programs of docs/integrate.md and docs/integrate/, as printed there, against a running service."""

import copy
import http.server
import json
import os
import re
import shlex
import shutil
import subprocess
import threading
import time
import xml.etree.ElementTree as ElementTree
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import partial
from urllib.parse import unquote

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
    printed_files,
    read_page,
    run_in_shell,
    subprocess_args,
    write_files,
)
from playwright.sync_api import sync_playwright

SITE = "https://www.example.com"
SITEMAP_XMLNS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
INTEGRATE = read_page("docs/integrate")
PAGES = {path.stem: path.read_text("utf-8") for path in (PROJECT / "docs/integrate").glob("*.md")}
PROGRAMS = ("javascript", "python", "php")
GENERATORS = ("eleventy", "nextjs", "astro")
MODULES = printed_files(PAGES["javascript"]) | printed_files(INTEGRATE)  # which other programs import, too
HOSTILE = article_json(1, title='</title><script>x</script> & "más"', slug="a&b'ü", metaDesc='"><b>', bannerUrl="")
LIGHTHOUSE = "lighthouse@12.8.2"
LIGHTHOUSE_OPTIONS = [
    "--output=json",
    "--quiet",
    "--chrome-flags=--headless --no-sandbox --disable-gpu",
    "--only-categories=accessibility,best-practices,seo",
]
CHROMIUM = "/usr/bin/chromium"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The folder of a site's programs, which is the working folder. The site is beside it."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def site(tmp_path):
    """The folder of the built site."""
    return tmp_path / "site"


@pytest.fixture
def run(server, key, project):
    """Run commands in the project, with the three variables or others; return the finished process."""
    url = f"http://127.0.0.1:{server.port}/api/public/v1"
    telemetry = {"NEXT_TELEMETRY_DISABLED": "1", "ASTRO_TELEMETRY_DISABLED": "1"}
    return partial(run_in_shell, **telemetry, ARTICLES_URL=url, ARTICLES_KEY=key, SITE=SITE)


def write_program(name, project):
    """Follow a page of docs/integrate/ in a project; return the line that builds the site."""
    *set_up, build = blocks(PAGES[name], "sh")
    for line in "".join(set_up).splitlines():
        assert run_in_shell(line).returncode == 0, line
    write_files(project, MODULES | printed_files(PAGES[name]))
    return build if name in GENERATORS else f"{build.strip()} ../site"


def write_recipe(after, name, project):
    """Write a program of docs/integrate.md, and the modules that it imports, into the project."""
    write_files(project, MODULES | {name: blocks(INTEGRATE, "js", after)[0]})


def fetch_data(server, key, path):
    """Return every item of a list, or of the sitemap, by its slug."""
    responses = [get(server, f"{path}?take=100&skip={skip}", x_api_key=key) for skip in (0, 100, 200)]
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


def assert_article_page(path, article):
    html, document = path.read_text(), parse(path)
    (url,) = document.xpath("//link[@rel='canonical']/@href")
    assert re.fullmatch(r"[!-~]+", url)
    assert unquote(url) == article_url(article["slug"])
    assert html[:15].lower() == "<!doctype html>"
    assert document.get("lang") == "en"
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


def assert_head_and_facts(document, *articles):
    """Check that a page names its feed and has an icon, and shows the date and category of its articles."""
    assert document.xpath("//link[@type='application/rss+xml']/@href") == [f"{SITE}/feed.xml"]
    assert document.xpath("//link[@rel='icon']/@href")[0].startswith("data:image/svg+xml,")
    for date, article in zip(document.xpath("//time"), articles, strict=True):
        assert (date.get("datetime"), date.text_content()) == (article["publishedAt"], article["publishedAt"][:10])
        assert article["category"] in date.getparent().text_content()


def assert_lists(site, articles):
    """Check that the lists name the articles in their order, 50 on each page; return the articles' URLs."""
    urls, last = [], -(-len(articles) // 50)
    assert len([*site.glob("page/*")]) == last - 1
    for number in range(1, last + 1):
        page = parse(site / (f"page/{number}/index.html" if number > 1 else "index.html"))
        shown = [*articles.values()][len(urls) : len(urls) + 50]
        links = page.xpath("//li/a/@href")
        assert [unquote(url) for url in links] == [article_url(article["slug"]) for article in shown]
        assert_head_and_facts(page, *shown)
        (canonical,) = page.xpath("//link[@rel='canonical']/@href")
        assert page.xpath("//meta[@property='og:url']/@content") == [canonical]
        assert canonical.rstrip("/") == (f"{SITE}/page/{number}" if number > 1 else SITE)
        title = f"Articles, page {number}" if number > 1 else "Articles"
        assert page.findtext("head/title") == page.findtext(".//h1") == title
        assert page.xpath("//a[@rel='next']/@href") == [f"{SITE}/page/{number + 1}/"] * (number < last)
        urls += links
    return urls


def assert_feed(site, articles):
    channel = ElementTree.parse(site / "feed.xml").getroot()[0]  # noqa: S314
    for item, article in zip(channel.findall("item"), [*articles.values()][:20], strict=True):
        texts = [item.findtext(name) for name in ("guid", "title", "description")]
        assert texts == [article[name] for name in ("id", "title", "metaDesc")]
        assert unquote(item.findtext("link")) == article_url(article["slug"])
        published = datetime.fromisoformat(article["publishedAt"]).replace(microsecond=0)
        assert parsedate_to_datetime(item.findtext("pubDate")) == published


def assert_site(site, server, key):
    """Check that a site has a page for each published article, lists, a feed and a sitemap.xml; return its slugs."""
    articles = fetch_data(server, key, LISTS[0])
    assert {path.name for path in site.glob("articles/*")} == articles.keys()
    for slug, article in articles.items():
        assert_article_page(site / "articles" / slug / "index.html", article)
    assert_feed(site, articles)
    urls = assert_lists(site, articles)
    entries = read_sitemap(site / "sitemap.xml")
    assert entries.keys() == set(urls)
    lastmods = {unquote(url).removeprefix(f"{SITE}/articles/")[:-1]: lastmod for url, lastmod in entries.items()}
    assert lastmods == {slug: entry["lastmod"] for slug, entry in fetch_data(server, key, SITEMAP).items()}
    return set(articles)


def read_sitemap(path):
    root = ElementTree.parse(path).getroot()  # noqa: S314
    assert root.tag == f"{SITEMAP_XMLNS}urlset"
    return {url.findtext(f"{SITEMAP_XMLNS}loc"): url.findtext(f"{SITEMAP_XMLNS}lastmod") for url in root}


def read_files(site):
    return {path: path.read_bytes() for path in site.glob("**/*") if path.is_file()}


def use_recent_node():
    """Install a Node.js that Astro supports into the project, where npx finds it first, if this machine's is older."""
    version = subprocess.check_output(["node", "--version"], text=True)
    if tuple(int(number) for number in version[1:].split(".")) < (22, 12):
        assert run_in_shell("npm install --no-save --no-audit node@22.23.3").returncode == 0


@pytest.mark.parametrize("name", [*PROGRAMS, *GENERATORS])
def test_site_has_a_page_for_every_article(save, sql, server, database, run, project, site, name):
    seed = subprocess_args(database, "seed.py", "--articles", "210", "--key", "demo-key")
    subprocess.run(**seed, check=True, timeout=60)
    save(HOSTILE, customer="Demo")
    run, build = partial(run, ARTICLES_KEY="demo-key"), write_program(name, project)
    if name == "astro":
        use_recent_node()
    assert run(build, SITE="").returncode > 0
    assert not site.exists()
    assert run(build, SITE=f"{SITE}/").returncode == 0
    slugs = assert_site(site, server, "demo-key")
    assert len(slugs) == 211

    draft = article_json(999, slug="spring-menu", title="Not <yet> published", status="draft")
    save(draft, article_json(998, slug="not-named", status="draft"), customer="Demo")
    line = re.search(r"^(flask articles preview --only .*) -- ", read_page("docs/publish"), re.MULTILINE)[1]
    preview = f"{line} --customer Demo -- sh -c {shlex.quote(build)}"
    assert run(preview, DATABASE_URL=database_url(database)).returncode == 0
    assert parse(site / "articles/spring-menu/index.html").xpath("//h1/text()") == ["Not <yet> published"]
    assert not (site / "articles/not-named").exists()

    sql("UPDATE article SET status = 'draft' WHERE id = 'id-0001'")
    assert run(build).returncode == 0
    assert assert_site(site, server, "demo-key") == slugs - {"a&b'ü"}
    server.stop()
    before = read_files(site)
    assert run(build).returncode > 0
    assert read_files(site) == before


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_explains_errors_and_leaves_other_files_alone(save, sql, run, project, site, name):
    save(*(article_json(number) for number in range(1, 4)))
    # An import refuses such markup; only another tool can write it.
    nodes = '{"name":"<\\/ScRiPt x <!-- &"},"text",{"@type":"Person","author":"Ann"},{"@type":"Article","author":"Ann"}'
    markup = f'{{"@context":"https://schema.org","@graph":[{nodes}]}}'
    sql("UPDATE article SET schema_markup = ? WHERE id = 'id-0002'", markup)
    build = write_program(name, project)
    for variable in ("ARTICLES_URL", "ARTICLES_KEY", "SITE"):
        result = run(build, **{variable: ""})
        assert (result.returncode, result.stderr) == (1, f"Set the environment variable {variable}.\n")
    wrong = run(build, ARTICLES_KEY="wrong")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
    assert "/api/public/v1" in wrong.stderr
    assert not site.exists()

    assert run(build).returncode == 0
    (shown,) = parse(site / "articles/slug-2/index.html").xpath("//script[@type='application/ld+json']/text()")
    *others, article = json.loads(shown)["@graph"]
    assert others == json.loads(f"[{nodes}]")[:-1]
    assert article == {"@type": "Article", "author": "Ann", "mainEntityOfPage": article_url("slug-2")}

    untouched = (site / "articles/slug-3/index.html").stat().st_ino
    (site / "robots.txt").touch()
    save(article_json(2, title="Another title"))
    assert run(build).returncode == 0
    assert "Another title" in (site / "articles/slug-2/index.html").read_text()
    assert (site / "articles/slug-3/index.html").stat().st_ino == untouched
    assert (site / "robots.txt").exists()
    assert run(blocks(PAGES[name], "sh")[0]).returncode == 0
    assert len([*project.glob("site/articles/*/index.html")]) == 3


@pytest.mark.parametrize("name", PROGRAMS)
def test_visitors_miss_no_page_while_a_build_runs_and_is_killed(save, sql, run, project, site, name):
    """Follows the list every ten milliseconds while all pages change twenty times, and every other build is killed."""
    save(*(article_json(number) for number in range(1, 120)))
    build, misses, reads = write_program(name, project), [], 0
    began = time.monotonic()
    assert run(build).returncode == 0
    duration = time.monotonic() - began
    done = threading.Event()

    def visit():
        nonlocal reads
        while not done.wait(0.01):
            reads += 1
            for url in re.findall(r'<li><a href="[^"]*/articles/([^"/]*)/"', (site / "index.html").read_text()):
                page = site / "articles" / url / "index.html"
                if not page.exists() or not page.read_text().endswith("</html>\n"):
                    misses.append(url)

    visitor = threading.Thread(target=visit, daemon=True)
    visitor.start()
    for round in range(20):
        sql("UPDATE article SET content_html = ?", f"<p>Round {round}</p>")
        if round % 2:
            run(f"timeout --signal=KILL {duration * round / 20} {build}")
        else:
            assert run(build).returncode == 0
    done.set()
    visitor.join()
    assert reads > 20
    assert misses == []
    assert len([*site.glob("articles/*/index.html")]) == 119
    assert run(build).returncode == 0
    assert not [*site.glob("**/*.new")]


def test_replaced_site_keeps_every_page_and_removes_old_ones(project):
    """Kills `replace-site.mjs` at many moments, as a build of a generator may be."""
    write_files(project, MODULES)
    names = [*(f"articles/{number}/index.html" for number in range(300)), "index.html", "assets/style.css"]

    def replace(content, names, prefix=""):
        shutil.rmtree("new", ignore_errors=True)
        write_files(project / "new", dict.fromkeys(names, content))
        run_in_shell(f"{prefix} node replace-site.mjs new site")

    (project / "site").mkdir()
    replace("old", names)
    for milliseconds in range(20, 120, 10):
        replace("new", names, f"timeout --signal=KILL {milliseconds / 1000}")
        files = read_files(project / "site")
        assert set(files.values()) <= {b"old", b"new"}
        assert files.keys() == {project / "site" / name for name in names}
    replace("last", names[1:])
    assert set(read_files(project / "site").values()) == {b"last"}
    assert not (project / "site/articles/0").exists()
    assert not (project / "new").exists()


FETCH_ONE = {
    "javascript": (
        "node --input-type=module --eval",
        "import { fetchArticle } from './articles.mjs'; console.log((await fetchArticle('SLUG'))?.slug ?? 'none')",
    ),
    "python": (
        "python -c",
        "from make_site import fetch_article; print((fetch_article('SLUG') or {}).get('slug', 'none'))",
    ),
    "php": ("php -r", "require 'make-site.php'; echo fetch_article('SLUG')->slug ?? 'none', PHP_EOL;"),
}


@pytest.mark.parametrize("name", FETCH_ONE)
def test_program_finds_one_article_by_its_slug(save, run, project, name):
    save(*(article_json(number) for number in range(1, 205)))
    write_program(name, project)
    command, code = FETCH_ONE[name]
    for slug, expected in {"slug-1": "slug-1", "SLUG-1": "none", "slug": "none"}.items():
        assert run(f"{command} {shlex.quote(code.replace('SLUG', slug))}").stdout == f"{expected}\n"


def test_banners_are_downloaded_once(save, server, run, project):
    banner = f"http://127.0.0.1:{server.port}/static/banners/writing.svg"
    missing = f"http://127.0.0.1:{server.port}/static/banners/missing.svg"
    urls = {1: banner, 2: banner, 3: missing, 4: ""}
    save(*(article_json(number, bannerUrl=url) for number, url in urls.items()))
    write_recipe("`bannerUrl` may be", "banners.mjs", project)
    (project / "program.mjs").write_text(
        f"""import {{ fetchArticles }} from "./articles.mjs";
        import {{ downloadBanners }} from "./banners.mjs";
        const articles = await fetchArticles({{ orderBy: "createdAt", order: "asc" }});
        {blocks(INTEGRATE, "js", "Call it where")[0]}
        console.log(articles.map((article) => article.bannerUrl).join(" "));"""
    )
    printed = run("node program.mjs").stdout
    (file,) = project.glob("site/banners/*")
    assert file.read_bytes() == (PROJECT / "static/banners/writing.svg").read_bytes()
    assert printed == f"{SITE}/banners/{file.name} {SITE}/banners/{file.name} {missing} \n"


def test_sitemap_index_names_every_sitemap(save, run, project):
    save(*(article_json(number) for number in range(1, 6)))
    write_recipe("## More than 50,000 articles", "sitemaps.mjs", project)
    assert run("sed -i s/20_000/2/ sitemaps.mjs && node sitemaps.mjs .").returncode == 0
    root = ElementTree.parse(project / "sitemap.xml").getroot()  # noqa: S314
    assert root.tag == f"{SITEMAP_XMLNS}sitemapindex"
    assert [sitemap[0].text for sitemap in root] == [f"{SITE}/sitemap-{number}.xml" for number in (1, 2, 3)]
    urls = [url for number in (1, 2, 3) for url in read_sitemap(project / f"sitemap-{number}.xml")]
    assert urls == [article_url(f"slug-{number}") for number in range(1, 6)]


def test_rebuild_script_builds_only_after_a_change(save, server, run, project):
    save(*(article_json(number) for number in range(1, 251)))
    write_files(project, {"rebuild.sh": blocks(INTEGRATE, "sh", "**On another machine**")[0]})

    def rebuild(command="sh -c 'echo built >>builds'"):
        return run(f"sh rebuild.sh {command}").returncode

    def builds():
        return (project / "builds").read_text().count("built\n")

    assert rebuild() == rebuild() == 0
    assert builds() == 1
    save(article_json(2, title="The last page of the list"))
    assert rebuild("false") > 0
    assert rebuild() == rebuild() == 0
    assert builds() == 2
    server.stop()
    assert rebuild() > 0
    assert builds() == 2


def inspect(url, tools):
    """Check a page with Lighthouse and axe. Performance depends on the machine's load."""
    command = [str(tools / ".bin/lighthouse"), url, *LIGHTHOUSE_OPTIONS]
    report = json.loads(subprocess.check_output(command, env=os.environ | {"CHROME_PATH": CHROMIUM}, timeout=120))
    failed = [name for name, audit in report["audits"].items() if audit["score"] not in (None, 1)]
    scores = {name: category["score"] for name, category in report["categories"].items()}
    assert scores == {"accessibility": 1, "best-practices": 1, "seo": 1}, (url, failed)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 360, "height": 740})
        page.goto(url)
        page.evaluate((tools / "axe-core/axe.min.js").read_text())
        assert page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))") == []
        browser.close()


def test_lighthouse_and_axe_find_nothing(save, server, run, project, site):
    banner = f"http://127.0.0.1:{server.port}/static/banners/writing.svg"
    html = f'<h2>Part</h2><p>See <a href="https://www.example.com/">the example</a>.</p><pre>{"x = 1; " * 99}</pre>'
    save(*(article_json(number, bannerUrl=banner, contentHtml=html) for number in range(1, 60)))
    assert run_in_shell(f"npm install --no-audit --no-fund {LIGHTHOUSE}").returncode == 0
    build = write_program("javascript", project)
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as web_server:
        threading.Thread(target=web_server.serve_forever, daemon=True).start()
        own = f"http://127.0.0.1:{web_server.server_port}"
        assert run(build, SITE=own).returncode == 0
        for url in (f"http://127.0.0.1:{server.port}/", f"{own}/", f"{own}/articles/slug-1/"):
            inspect(url, project / "node_modules")
        web_server.shutdown()


def test_every_page_is_linked_from_the_index():
    linked = re.findall(r"\]\(integrate/(\w+)\.md\)", INTEGRATE.split("\n## ")[0])
    assert set(linked) == PAGES.keys()
