"""The programs of docs/integrate.md, run as they stand there against a running service."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from conftest import LISTS, PROJECT, SITEMAP, article, get, url_of

DOCS = (PROJECT / "docs/integrate.md").read_text()
SAFE = "!'()*~"  # what JavaScript leaves as it is
SITE = "https://www.example.com/articles/"


def block(language, heading):
    """Give the first code block in a language after a line that starts with `heading`."""
    after = DOCS[re.search(f"^{re.escape(heading)}", DOCS, re.MULTILINE).start() :]
    return re.search(rf"```{language}\n(.*?)```", after, re.DOTALL)[1]


@pytest.fixture
def environment(server, key):
    address = f"http://127.0.0.1:{server.port}/api/public/v1"
    return os.environ | {"ARTICLES_URL": address, "ARTICLES_KEY": key, "SITE": SITE}


def data_of(server, key, path):
    return json.loads(get(server, path + "?take=100", x_api_key=key).body)["data"]


def structured_data(page):
    (markup,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.DOTALL)
    return json.loads(markup)


@pytest.mark.parametrize(
    ("language", "heading", "name", "program"),
    [
        ("js", "## JavaScript", "make-site.mjs", "node"),
        ("python", "## Python", "make_site.py", sys.executable),
        ("php", "## PHP", "make-site.php", "php"),
    ],
)
def test_a_program_makes_a_site_of_every_article(
    save, sql, server, key, environment, tmp_path, language, heading, name, program
):
    def make_site():
        return subprocess.run([program, name], cwd=tmp_path, env=environment, timeout=60).returncode

    odd = article(1, title='</title><script>x</script> & "más"', slug="a&b'ü", meta_desc='"><b>')
    odd["schema_markup"] = '{"@context":"https://schema.org","@graph":[{"name":"<\\/ScRiPt x <!-- &"}]}'
    save(odd, *(article(number) for number in range(2, 251)))
    (tmp_path / name).write_text(block(language, heading))
    assert make_site() == 0
    site = tmp_path / "site"
    pages = {path.stem: path.read_text() for path in site.glob("articles/*.html")}
    index = (site / "index.html").read_text()
    assert len(pages) == 250
    for each in data_of(server, key, LISTS[0]):
        page = pages[each["slug"]]
        assert structured_data(page) == each["schemaMarkup"]
        assert unescape(re.search("<h1>(.*)</h1>", page)[1]) == each["title"]
        assert each["contentHtml"] in page
        assert page.startswith('<!doctype html>\n<meta charset="utf-8">\n')
    assert "<script" not in pages["a&b'ü"].replace('<script type="application/ld+json">', "")
    addresses = [unescape(address) for address in re.findall('href="(.*?)"', index)]
    assert len(addresses) == 250
    root = ElementTree.parse(site / "sitemap.xml").getroot()  # noqa: S314
    entries = {unquote(url[0].text.removeprefix(SITE)): url[1].text for url in root}
    assert entries == {each["url"]: each["lastmod"] for each in data_of(server, key, SITEMAP)}
    assert {url[0].text for url in root} == set(addresses)
    assert all(re.fullmatch(r"[!-~]+", address) for address in addresses)
    sql("UPDATE article SET status = 'draft' WHERE slug = 'slug-7'")
    assert make_site() == 0
    assert {path.stem for path in site.glob("articles/*.html")} == pages.keys() - {"slug-7"}
    save(article(7, title="Back"))
    server.stop()
    before = {path: path.read_text() for path in site.glob("**/*.*")}
    assert make_site() > 0
    assert {path: path.read_text() for path in site.glob("**/*.*")} == before


def test_a_static_site_generator_makes_a_site_of_the_demo(save, sql, server, database, environment, tmp_path):
    seed = [sys.executable, "seed.py", "--key", "demo-key"]
    subprocess.run(seed, cwd=PROJECT, env=os.environ | {"DATABASE_URL": url_of(database)}, check=True, timeout=60)
    save(article(1, title="</title> & more", slug="a&b'ü"), customer="Demo")
    project, site = tmp_path / "project", tmp_path / "site"
    (project / "_data").mkdir(parents=True)
    (project / "package.json").write_text('{"type": "module"}')
    for name in ("_data/articles.js", "_data/sitemap.js", "article.njk", "index.njk", "sitemap.njk"):
        language = {".js": "js", ".njk": "xml" if "sitemap" in name else "html"}[Path(name).suffix]
        (project / name).write_text(block(language, f"`{name}`"))
    install = block("sh", "## A static site generator").split()
    subprocess.run([*install, "--no-audit", "--no-fund"], cwd=project, check=True, timeout=240)

    def make_site():
        options = {"cwd": project, "env": environment | {"ARTICLES_KEY": "demo-key"}, "timeout": 120}
        return subprocess.run(block("sh", "Each time that you"), shell=True, **options).returncode  # noqa: S602

    assert make_site() == 0
    for each in data_of(server, "demo-key", LISTS[0]):
        page = (site / each["slug"] / "index.html").read_text()
        assert structured_data(page) == each["schemaMarkup"]
        assert each["contentHtml"] in page
    slugs = {each["url"] for each in data_of(server, "demo-key", SITEMAP)}
    assert len(slugs) == 121
    assert {path.parent.name for path in site.glob("*/index.html")} == slugs
    root = ElementTree.parse(site / "sitemap.xml").getroot()  # noqa: S314
    assert {url[0].text for url in root} == {f"https://www.example.com/{quote(slug, safe=SAFE)}/" for slug in slugs}
    sql("UPDATE article SET status = 'draft' WHERE id = 'id-0001'")
    assert make_site() == 0
    assert {path.parent.name for path in site.glob("*/index.html")} == slugs - {"a&b'ü"}
    server.stop()
    assert make_site() > 0
    assert {path.parent.name for path in site.glob("*/index.html")} == slugs - {"a&b'ü"}
