"""Tests that run the programs of docs/integrate.md and docs/integrate/, as printed there, against a running service."""

import copy
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
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
    POSTGRESQL,
    PROJECT,
    SITEMAP,
    article_json,
    database_url,
    get,
    subprocess_args,
    wait_for,
)
from playwright.sync_api import sync_playwright

SITE = "https://www.example.com"
SITEMAP_XMLNS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
PROGRAMS = {
    "javascript": ["node", "make-site.mjs"],
    "python": [sys.executable, "make_site.py"],
    "php": ["php", "make-site.php"],
}
HOSTILE = article_json(1, title='</title><script>x</script> & "más"', slug="a&b'ü", metaDesc='"><b>', bannerUrl="")
LIGHTHOUSE = "lighthouse@12.8.2"
LIGHTHOUSE_OPTIONS = [
    "--output=json",
    "--quiet",
    "--chrome-flags=--headless --no-sandbox --disable-gpu",
    "--only-categories=accessibility,best-practices,seo",
]
CHROMIUM = "/usr/bin/chromium"


def read_docs(name):
    return (PROJECT / "docs" / f"{name}.md").read_text("utf-8")


def block(name, language, heading):
    """Return the first code block in a language after a line of docs/`name`.md that starts with `heading`."""
    docs = read_docs(name)
    after = docs[re.search(f"^{re.escape(heading)}", docs, re.MULTILINE).start() :]
    return re.search(rf"^```{language}\n(.*?)^```", after, re.DOTALL | re.MULTILINE)[1]


def write_files(name, folder):
    """Write each file that docs/integrate/`name`.md prints into the folder."""
    for path, text in re.findall(
        r"^`([^`\n]+)`[^\n]*:\n\n```\w+\n(.*?)^```", read_docs(f"integrate/{name}"), re.S | re.M
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def write_articles_module(folder):
    (folder / "articles.mjs").write_text(block("integrate/javascript", "js", "`articles.mjs`"))
    (folder / "replace-site.mjs").write_text(block("integrate", "js", "`replace-site.mjs`"))


def write_recipe(heading, name, folder):
    """Write a program of docs/integrate.md, and the module that it imports, into the folder."""
    write_articles_module(folder)
    (folder / name).write_text(block("integrate", "js", heading))


@pytest.fixture
def environment(server, key):
    url = f"http://127.0.0.1:{server.port}/api/public/v1"
    telemetry = {"NEXT_TELEMETRY_DISABLED": "1", "ASTRO_TELEMETRY_DISABLED": "1"}
    return os.environ | telemetry | {"ARTICLES_URL": url, "ARTICLES_KEY": key, "SITE": SITE}


def fetch_data(server, key, path):
    """Return every item of a list, or of the sitemap, by its slug."""
    items, skip = {}, 0
    while page := json.loads(get(server, f"{path}?take=100&skip={skip}", x_api_key=key).body)["data"]:
        items |= {item.get("slug") or item["url"]: item for item in page}
        skip += len(page)
        if path == SITEMAP:
            break
    return items


def complete_markup(article, url):
    """Return an article's structured data as its page should have it."""
    markup = copy.deepcopy(article["schemaMarkup"])
    for node in markup["@graph"]:
        if node.get("@type") == "BlogPosting":
            node |= {"mainEntityOfPage": url}
            node["author"] |= {"url": f"{SITE}/"}
    return markup


def assert_article_page(html, article):
    document = lxml.html.document_fromstring(html.encode(), parser=lxml.html.HTMLParser(encoding="utf-8"))
    meta = {tag.get("name") or tag.get("property"): tag.get("content") for tag in document.iter("meta")}
    (url,) = document.xpath("//link[@rel='canonical']/@href")
    assert re.fullmatch(r"[!-~]+", url)
    assert unquote(url) == f"{SITE}/articles/{article['slug']}/"
    assert html[:15].lower() == "<!doctype html>"
    assert document.get("lang") == "en"
    assert meta["viewport"] == "width=device-width, initial-scale=1"
    assert document.findtext("head/title") == meta["og:title"] == article["metaTitle"]
    assert meta["description"] == meta["og:description"] == article["metaDesc"]
    assert meta["og:type"] == "article"
    assert meta["og:url"] == url
    assert meta.get("og:image", "") == article["bannerUrl"]
    assert document.xpath("//img[@class='banner']/@src") == [article["bannerUrl"]] * bool(article["bannerUrl"])
    assert meta["article:published_time"] == article["publishedAt"]
    (markup,) = document.xpath("//script[@type='application/ld+json']/text()")
    assert json.loads(markup) == complete_markup(article, url)
    assert [heading.text_content() for heading in document.iter("h1")] == [article["title"]]
    assert re.sub(r"<(pre|table)\b", r'<\1 tabindex="0"', article["contentHtml"]) in html
    assert_head_and_facts(document, article)
    assert "x" not in document.xpath("//script/text()")


def assert_head_and_facts(document, *articles):
    """Check that a page names its feed and has an icon, and shows the date and category of its articles."""
    assert document.xpath("//link[@type='application/rss+xml']/@href") == [f"{SITE}/feed.xml"]
    assert document.xpath("//link[@rel='icon']/@href")[0].startswith("data:image/svg+xml,")
    dates = document.xpath("//time")
    assert [date.get("datetime") for date in dates] == [article["publishedAt"] for article in articles]
    for date, article in zip(dates, articles, strict=True):
        assert date.text_content() == article["publishedAt"][:10]
        assert article["category"] in date.getparent().text_content()


def assert_lists(site, articles):
    """Check that the lists name the articles in their order, 50 on each page; return the articles' URLs."""
    urls, number, path = [], 1, site / "index.html"
    while path:
        page = lxml.html.document_fromstring(path.read_bytes())
        urls += (named := page.xpath("//li/a/@href"))
        assert [unquote(url) for url in named] == [
            f"{SITE}/articles/{slug}/" for slug in [*articles][: len(urls)][-len(named) :]
        ]
        assert_head_and_facts(page, *[articles[unquote(url).split("/")[-2]] for url in named])
        assert page.xpath("//link[@rel='canonical']/@href") == page.xpath("//meta[@property='og:url']/@content")
        (canonical,) = page.xpath("//link[@rel='canonical']/@href")
        assert canonical.rstrip("/") == (f"{SITE}/page/{number}" if number > 1 else SITE)
        assert (
            page.findtext("head/title")
            == page.findtext(".//h1")
            == f"Articles, page {number}"[: None if number > 1 else 8]
        )
        number += 1
        later = page.xpath("//a[@rel='next']/@href")
        assert later in ([], [f"{SITE}/page/{number}/"])
        path = site / f"page/{number}/index.html" if later else None
    assert number - 1 == -(-len(articles) // 50) == 1 + len([*site.glob("page/*")])
    return urls


def assert_feed(site, articles):
    channel = ElementTree.parse(site / "feed.xml").getroot()[0]  # noqa: S314
    items = channel.findall("item")
    newest = [*articles.values()][:20]
    assert [item.findtext("guid") for item in items] == [article["id"] for article in newest]
    for item, article in zip(items, newest, strict=True):
        assert item.findtext("title") == article["title"]
        assert unquote(item.findtext("link")) == f"{SITE}/articles/{article['slug']}/"
        assert parsedate_to_datetime(item.findtext("pubDate")) == datetime.fromisoformat(
            article["publishedAt"][:-5] + "Z"
        )
        assert item.findtext("description") == article["metaDesc"]


def assert_site(site, server, key):
    """Check that a site has a page for each published article, lists, a feed and a sitemap.xml; return its slugs."""
    articles = fetch_data(server, key, LISTS[0])
    assert {path.parent.name for path in site.glob("articles/*/index.html")} == articles.keys()
    for slug, article in articles.items():
        assert_article_page((site / "articles" / slug / "index.html").read_text(), article)
    assert_feed(site, articles)
    urls = assert_lists(site, articles)
    entries = read_sitemap(site / "sitemap.xml")
    assert entries.keys() == set(urls)
    lastmods = {unquote(url)[len(SITE) + 10 : -1]: lastmod for url, lastmod in entries.items()}
    assert lastmods == {slug: entry["lastmod"] for slug, entry in fetch_data(server, key, SITEMAP).items()}
    return set(articles)


def read_sitemap(path):
    root = ElementTree.parse(path).getroot()  # noqa: S314
    assert root.tag == f"{SITEMAP_XMLNS}urlset"
    return {url.findtext(f"{SITEMAP_XMLNS}loc"): url.findtext(f"{SITEMAP_XMLNS}lastmod") for url in root}


@pytest.fixture
def build_preview(save, database, environment):
    """Save a draft, build a site as docs/publish.md shows a draft, and check that the draft is in the built pages."""

    def build_preview(customer, build, project, site):
        draft = article_json(999, slug="spring-menu", title="Not <yet> published", status="draft")
        save(draft, article_json(998, slug="not-named", status="draft"), customer=customer)
        line = re.search(r"^(flask articles preview --only .*) -- ", read_docs("publish"), re.MULTILINE)[1]
        command = [sys.executable, "-m", *line.split(), "--customer", customer, "--", *build]
        values = environment | {"DATABASE_URL": database_url(database), "FLASK_APP": str(PROJECT / "app.py")}
        assert subprocess.run(command, cwd=project, env=values, timeout=240).returncode == 0
        page = lxml.html.document_fromstring((site / "articles/spring-menu/index.html").read_bytes())
        assert [heading.text_content() for heading in page.iter("h1")] == ["Not <yet> published"]
        assert not (site / "articles/not-named").exists()

    return build_preview


def read_files(site):
    return {path: path.read_bytes() for path in site.glob("**/*") if path.is_file()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_writes_a_site_of_every_article(save, sql, server, key, environment, build_preview, tmp_path, name):
    save(HOSTILE, *(article_json(number) for number in range(2, 251)))
    # An import refuses such markup; only another tool can write it.
    nodes = '{"name":"<\\/ScRiPt x <!-- &"},"text",{"@type":"Person","author":"Ann"},{"@type":"Article","author":"Ann"}'
    sql(
        "UPDATE article SET schema_markup = ? WHERE id = 'id-0002'",
        f'{{"@context":"https://schema.org","@graph":[{nodes}]}}',
    )
    project, site = tmp_path / "project", tmp_path / "project/site"
    project.mkdir()
    write_files(name, project)

    def make_site(**variables):
        return subprocess.run(
            PROGRAMS[name], cwd=project, env=environment | variables, stderr=subprocess.PIPE, timeout=60
        )

    for variable in ("ARTICLES_URL", "ARTICLES_KEY", "SITE"):
        result = make_site(**{variable: ""})
        assert (result.returncode, result.stderr) == (1, f"Set the environment variable {variable}.\n".encode())
    wrong = make_site(ARTICLES_KEY="wrong")
    assert wrong.returncode == 1
    assert wrong.stderr.count(b"\n") == 1
    assert environment["ARTICLES_URL"].encode() in wrong.stderr
    assert not site.exists()

    assert make_site(SITE=f"{SITE}/").returncode == 0
    page = (site / "articles/slug-2/index.html").read_text()
    (markup,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.DOTALL)
    *others, article = json.loads(markup)["@graph"]
    assert others == json.loads(f"[{nodes}]")[:-1]
    assert article == {"@type": "Article", "author": "Ann", "mainEntityOfPage": f"{SITE}/articles/slug-2/"}

    untouched = (site / "articles/slug-3/index.html").stat().st_ino
    (site / "robots.txt").touch()
    save(article_json(2, title="Another title"))
    build_preview("Acme", PROGRAMS[name], project, site)
    sql("UPDATE article SET status = 'draft' WHERE slug = 'slug-7'")
    assert make_site().returncode == 0
    slugs = assert_site(site, server, key)
    assert slugs == {"a&b'ü", *(f"slug-{number}" for number in range(2, 251) if number != 7)}

    assert (site / "articles/slug-3/index.html").stat().st_ino == untouched
    assert (site / "robots.txt").exists()
    server.stop()
    before = read_files(site)
    assert make_site().returncode > 0
    assert read_files(site) == before


@pytest.mark.parametrize("name", PROGRAMS)
def test_visitors_miss_no_page_while_a_build_runs_and_is_killed(save, sql, environment, tmp_path, name):
    """Follows the list every ten milliseconds while all pages change twenty times, and every other build is killed."""
    save(*(article_json(number) for number in range(1, 120)))
    write_files(name, tmp_path)
    site, misses, reads = tmp_path / "site", [], 0
    build = partial(subprocess.run, PROGRAMS[name], cwd=tmp_path, env=environment, check=True)
    duration = -time.monotonic()
    build()
    duration += time.monotonic()
    done = threading.Event()

    def visit():
        nonlocal reads
        while not done.wait(0.01):
            reads += 1
            for url in re.findall(r'<li><a href="[^"]*/articles/([^"/]*)/"', (site / "index.html").read_text()):
                page = site / "articles" / url / "index.html"
                if not page.exists() or not page.read_text().endswith("</html>\n"):
                    misses.append(url)

    visitor = threading.Thread(target=visit)
    visitor.start()
    for round in range(20):
        sql("UPDATE article SET content_html = ?", f"<p>Round {round}</p>")
        if round % 2:
            with subprocess.Popen(PROGRAMS[name], cwd=tmp_path, env=environment) as process:
                time.sleep(duration * round / 20)
                process.kill()
        else:
            build()
    done.set()
    visitor.join()
    assert reads > 20
    assert misses == []
    assert len([*site.glob("articles/*/index.html")]) == 119
    build()
    assert not [*site.glob("**/*.new")]


def test_replaced_site_keeps_every_page_and_removes_old_ones(tmp_path):
    """Kills `replace-site.mjs` at many moments, as a build of a generator may be."""
    write_articles_module(tmp_path)
    names = [*(f"articles/{number}/index.html" for number in range(300)), "index.html", "assets/style.css"]

    def start(content, files):
        shutil.rmtree(tmp_path / "new", ignore_errors=True)
        for file in files:
            (tmp_path / "new" / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "new" / file).write_text(content)
        return subprocess.Popen(["node", "replace-site.mjs", "new", "site"], cwd=tmp_path)

    (tmp_path / "site").mkdir()
    with start("old", names):
        pass
    for milliseconds in range(20, 120, 10):
        with start("new", names) as process:
            time.sleep(milliseconds / 1000)
            process.kill()
        assert {path.read_text() for path in read_files(tmp_path / "site")} <= {"old", "new"}
        assert read_files(tmp_path / "site").keys() == {tmp_path / "site" / name for name in names}
    with start("last", names[1:]):
        pass
    assert {*map(bytes.decode, read_files(tmp_path / "site").values())} == {"last"}
    assert not (tmp_path / "site/articles/0").exists()
    assert not (tmp_path / "new").exists()


def use_recent_node(project):
    """Install a Node.js that Astro supports into the project, where npx finds it first, if this machine's is older."""
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(int(number) for number in version[1:].split(".")) < (22, 12):
        subprocess.run(
            ["npm", "install", "--no-save", "--no-audit", "node@22.23.3"], cwd=project, check=True, timeout=240
        )


@pytest.mark.parametrize("name", ["eleventy", "nextjs", "astro"])
def test_generator_builds_a_site_of_every_article(
    save, sql, server, database, environment, build_preview, tmp_path, name
):
    seed = subprocess_args(database, "seed.py", "--articles", "110", "--key", "demo-key")
    subprocess.run(**seed, check=True, timeout=60)
    save(HOSTILE, customer="Demo")
    project, site = tmp_path / "project", tmp_path / "site"
    project.mkdir()
    for command in block(f"integrate/{name}", "sh", "# ").splitlines():
        subprocess.run(command, shell=True, cwd=project, check=True, timeout=300)  # noqa: S602
    if name == "astro":
        use_recent_node(project)
    write_files(name, project)
    write_articles_module(project)
    build = block(f"integrate/{name}", "sh", "Set the [three variables]")

    def make_site(**variables):
        values = environment | {"ARTICLES_KEY": "demo-key"} | variables
        return subprocess.run(build, shell=True, cwd=project, env=values, timeout=240).returncode  # noqa: S602

    assert make_site(SITE="") > 0
    assert not site.exists()
    assert make_site() == 0
    slugs = assert_site(site, server, "demo-key")
    assert len(slugs) == 111
    build_preview("Demo", ["sh", "-c", build], project, site)
    sql("UPDATE article SET status = 'draft' WHERE id = 'id-0001'")
    assert make_site() == 0
    assert assert_site(site, server, "demo-key") == slugs - {"a&b'ü"}
    server.stop()
    before = read_files(site)
    assert make_site() > 0
    assert read_files(site) == before


FETCH_ONE = {
    "javascript": (
        ["node", "--input-type=module", "--eval"],
        "import { fetchArticle } from './articles.mjs'; console.log((await fetchArticle('SLUG'))?.slug ?? 'none')",
    ),
    "python": (
        [sys.executable, "-c"],
        "from make_site import fetch_article; print((fetch_article('SLUG') or {}).get('slug', 'none'))",
    ),
    "php": (["php", "-r"], "require 'make-site.php'; echo fetch_article('SLUG')->slug ?? 'none', PHP_EOL;"),
}


@pytest.mark.parametrize("name", FETCH_ONE)
def test_program_finds_one_article_by_its_slug(save, environment, tmp_path, name):
    save(*(article_json(number) for number in range(1, 205)))
    write_files(name, tmp_path)
    args, code = FETCH_ONE[name]
    for slug, expected in {"slug-1": "slug-1", "SLUG-1": "none", "slug": "none"}.items():
        command = [*args, code.replace("SLUG", slug)]
        result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert result.stdout == f"{expected}\n"


def test_banners_are_downloaded_once(save, server, environment, tmp_path):
    banner = f"http://127.0.0.1:{server.port}/static/banners/writing.svg"
    missing = f"http://127.0.0.1:{server.port}/static/banners/missing.svg"
    urls = {1: banner, 2: banner, 3: missing, 4: ""}
    save(*(article_json(number, bannerUrl=url) for number, url in urls.items()))
    write_recipe("`bannerUrl` may be", "banners.mjs", tmp_path)
    call = block("integrate", "js", "Call it where")
    (tmp_path / "program.mjs").write_text(
        f"""import {{ fetchArticles }} from "./articles.mjs";
        import {{ downloadBanners }} from "./banners.mjs";
        const articles = await fetchArticles({{ orderBy: "createdAt", order: "asc" }});
        {call}
        console.log(articles.map((article) => article.bannerUrl).join(" "));"""
    )
    printed = subprocess.check_output(["node", "program.mjs"], cwd=tmp_path, env=environment, text=True)
    (file,) = tmp_path.glob("site/banners/*")
    assert file.read_bytes() == (PROJECT / "static/banners/writing.svg").read_bytes()
    assert printed == f"{SITE}/banners/{file.name} {SITE}/banners/{file.name} {missing} \n"


def test_sitemap_index_names_every_sitemap(save, environment, tmp_path):
    save(*(article_json(number) for number in range(1, 6)))
    write_recipe("## More than 50,000 articles", "sitemaps.mjs", tmp_path)
    program = tmp_path / "sitemaps.mjs"
    program.write_text(program.read_text().replace("20_000", "2"))
    subprocess.run(["node", "sitemaps.mjs", "."], cwd=tmp_path, env=environment, check=True)
    root = ElementTree.parse(tmp_path / "sitemap.xml").getroot()  # noqa: S314
    assert root.tag == f"{SITEMAP_XMLNS}sitemapindex"
    assert [sitemap[0].text for sitemap in root] == [f"{SITE}/sitemap-{number}.xml" for number in (1, 2, 3)]
    urls = [url for number in (1, 2, 3) for url in read_sitemap(tmp_path / f"sitemap-{number}.xml")]
    assert urls == [f"{SITE}/articles/slug-{number}/" for number in range(1, 6)]


def test_rebuild_script_builds_only_after_a_change(save, server, environment, tmp_path):
    save(*(article_json(number) for number in range(1, 251)))
    (tmp_path / "rebuild.sh").write_text(block("integrate", "sh", "**On another machine**"))

    def rebuild(*command):
        return subprocess.run(["sh", "rebuild.sh", *command], cwd=tmp_path, env=environment, timeout=60).returncode

    def builds():
        return (tmp_path / "builds").read_text().count("built\n")

    build = ("sh", "-c", "echo built >>builds")
    assert rebuild(*build) == rebuild(*build) == 0
    assert builds() == 1
    save(article_json(2, title="The last page of the list"))
    assert rebuild("false") > 0
    assert rebuild(*build) == rebuild(*build) == 0
    assert builds() == 2
    server.stop()
    assert rebuild(*build) > 0
    assert builds() == 2


@pytest.mark.skipif(POSTGRESQL != "", reason="watch is tested on PostgreSQL by tests/test_watch.py")
def test_watch_command_builds_the_site(save, database, environment, tmp_path):
    save(article_json(1))
    write_files("javascript", tmp_path)
    _, command = block("integrate", "sh", "**On the machine of the API**").splitlines()
    flask = [sys.executable, "-m", *command.replace("/opt/articles/app.py", str(PROJECT / "app.py")).split()]
    flask[2] = "flask"
    with subprocess.Popen(flask, cwd=tmp_path, env=environment | {"DATABASE_URL": database_url(database)}) as watch:
        page = tmp_path / "site/articles/slug-2/index.html"
        wait_for((tmp_path / "site/sitemap.xml").exists, lambda: "no site", 30)
        save(article_json(2))
        wait_for(page.exists, lambda: "no page of the new article", 30)
        watch.terminate()
        assert watch.wait(timeout=30) == 0


@pytest.fixture
def inspect(tmp_path):
    """Return a function that checks a page with Lighthouse and axe. Performance depends on the machine's load."""
    folder = tmp_path / "lighthouse"
    folder.mkdir()
    install = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", LIGHTHOUSE]
    subprocess.run(install, cwd=folder, check=True, timeout=300)
    axe = (folder / "node_modules/axe-core/axe.min.js").read_text()

    def inspect(url):
        command = [str(folder / "node_modules/.bin/lighthouse"), url, *LIGHTHOUSE_OPTIONS]
        values = os.environ | {"CHROME_PATH": CHROMIUM}
        result = subprocess.run(command, env=values, capture_output=True, text=True, check=True, timeout=120)
        report = json.loads(result.stdout)
        failed = [name for name, audit in report["audits"].items() if audit["score"] not in (None, 1)]
        scores = {name: category["score"] for name, category in report["categories"].items()}
        assert scores == {"accessibility": 1, "best-practices": 1, "seo": 1}, (url, failed)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 360, "height": 740})
            page.goto(url)
            page.evaluate(axe)
            assert page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))") == []
            browser.close()

    return inspect


@pytest.fixture
def web_server(tmp_path):
    """Serve the folder `site` of the test's folder."""
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "site")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_lighthouse_and_axe_find_nothing(inspect, save, server, environment, web_server, tmp_path):
    banner = f"http://127.0.0.1:{server.port}/static/banners/writing.svg"
    html = f'<h2>Part</h2><p>See <a href="https://www.example.com/">the example</a>.</p><pre>{"x = 1; " * 99}</pre>'
    save(*(article_json(number, bannerUrl=banner, contentHtml=html) for number in range(1, 60)))
    write_files("javascript", tmp_path)
    subprocess.run(PROGRAMS["javascript"], cwd=tmp_path, env=environment | {"SITE": web_server}, check=True)
    for url in (f"http://127.0.0.1:{server.port}/", f"{web_server}/", f"{web_server}/articles/slug-1/"):
        inspect(url)


def test_every_page_is_linked_from_the_index():
    pages = {path.relative_to(PROJECT / "docs").as_posix() for path in (PROJECT / "docs/integrate").glob("*.md")}
    assert set(re.findall(r"\]\((integrate/\w+\.md)\)", read_docs("integrate").split("\n## ")[0])) == pages
