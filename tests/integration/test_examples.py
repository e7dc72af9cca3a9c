"""The programs in examples/, run against a service with the commands of their README.md."""

import json
import re
import shutil
import subprocess
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from helpers import PROJECT, article_json, blocks, database_url, read_page, run_in_shell, write_files
from site_checks import SITE, SITE_NAME, ZONE, article_url, assert_site, parse

EXAMPLES = PROJECT / "examples"
PROGRAMS = ("javascript", "python", "php")
GENERATORS = ("astro", "eleventy", "nextjs")
WRONG_KEY = "The API key in the x-api-key header is not valid."
WRONG_VARIABLES = [
    ("ARTICLES_URL", ""),
    ("ARTICLES_URL", "127.0.0.1:8000/api/public/v1"),
    ("ARTICLES_URL", "http://127.0.0.1:2/api/public/v1"),
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
    publishedAt="2026-01-06T23:30:00.000Z",  # the 7th in Berlin
    contentHtml="<pre>wide</pre><table><tr><td>wide</td></tr></table>",
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The working folder, into which an example is copied."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def run(server, key, project):
    """Run shell commands in the project with a site's environment variables."""
    url = f"http://127.0.0.1:{server.port}/api/public/v1"
    site = {"ARTICLES_URL": url, "ARTICLES_KEY": key, "SITE": SITE, "SITE_NAME": SITE_NAME, "SITE_TIMEZONE": ZONE.key}
    telemetry = {"NEXT_TELEMETRY_DISABLED": "1", "ASTRO_TELEMETRY_DISABLED": "1"}
    return partial(run_in_shell, **telemetry, **site)


def copy_example(name, project):
    """Copy an example as its README.md says; return the commands that install it, and the one that builds the site."""
    copying, building, *_ = blocks(read_page(f"examples/{name}/README"), "sh")
    (copy,) = re.findall("^cp .*", copying, re.MULTILINE)
    assert run_in_shell(f"cd '{PROJECT}' && {copy.replace('../my-site', str(project))}").returncode == 0
    commands = building.splitlines()
    exported = [re.match(r"export (\w+)=", line)[1] for line in commands if line.startswith("export ")]
    assert exported == ["ARTICLES_URL", "ARTICLES_KEY", "SITE", "SITE_NAME", "SITE_TIMEZONE"]
    *install, build = commands[len(exported) :]
    return install, build


def install_example(name, project):
    """Copy and install an example as its README.md says; return its build command."""
    install, build = copy_example(name, project)
    assert run_in_shell("\n".join(["set -e", *install])).returncode == 0
    if name == "astro":
        install_recent_node()
    return build


def install_recent_node():
    """Install a Node.js that Astro supports, unless this machine has one."""
    version = subprocess.check_output(["node", "--version"], text=True)
    if tuple(int(number) for number in version[1:].split(".")) < (22, 12):
        assert run_in_shell("npm install --no-save --no-audit node@22.23.3").returncode == 0


def read_files(site):
    return {path: path.read_bytes() for path in site.glob("**/*") if path.is_file()}


@pytest.mark.parametrize("name", [*PROGRAMS, *GENERATORS])
def test_site_has_a_page_for_every_article(save, server, key, run, project, name):
    save(HOSTILE, *(article_json(number) for number in range(2, 121)))
    build = install_example(name, project)
    result = run(build, SITE=f"{SITE}/", ARTICLES_URL=f"http://127.0.0.1:{server.port}/api/public/v1/")
    assert result.returncode == 0, result.stdout + result.stderr
    assert_site(project / "site", server, key)
    before = read_files(project / "site")
    assert not any(key.encode() in content for content in before.values())
    wrong = run(build, ARTICLES_KEY="wrong")
    assert (wrong.returncode > 0, WRONG_KEY in wrong.stdout + wrong.stderr) == (True, True)
    assert read_files(project / "site") == before


@pytest.fixture
def other_server(tmp_path):
    """The URL of a server that answers API requests with HTML."""
    write_files(tmp_path / "other", {"articles/preview": "<p>Hello</p>"})
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path / "other")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("name", [*PROGRAMS, *GENERATORS])
def test_invalid_variables_are_a_one_line_error(run, project, other_server, name):
    _, build = copy_example(name, project)
    for variable, value in [*WRONG_VARIABLES, ("ARTICLES_URL", other_server)]:
        result = run(build, **{variable: value})
        assert (result.returncode, result.stderr.count("\n")) == (1, 1), result.stderr
        assert re.search(f"{variable} is |et {variable} to ", result.stderr)
    assert not (project / "site").exists()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_reads_a_list_that_changes_meanwhile_again(save, changing, run, project, name):
    save(*(article_json(number) for number in range(1, 121)))
    build = install_example(name, project)
    changing.changes = 1
    assert run(build, ARTICLES_URL=changing.url).returncode == 0
    assert {path.name for path in project.glob("site/articles/*")} == {f"slug-{number}" for number in range(1, 120)}
    before = read_files(project / "site")
    changing.changes = 3
    result = run(build, ARTICLES_URL=changing.url)
    assert (result.returncode, result.stderr.count("\n"), changing.changes) == (1, 1, 0)
    assert read_files(project / "site") == before


@pytest.mark.parametrize("name", GENERATORS)
def test_generator_reads_a_list_that_changes_meanwhile_again(save, changing, run, project, name):
    save(*(article_json(number) for number in range(1, 121)))
    copy_example(name, project)
    changing.changes = 1
    assert run("node fetch-content.mjs", ARTICLES_URL=changing.url).returncode == 0
    content = json.loads(Path("content.json").read_text())
    slugs = [article["slug"] for article in content["articles"]]
    assert slugs == [f"slug-{number}" for number in range(119, 0, -1)]
    assert {entry["url"] for entry in content["sitemap"]} == set(slugs)


@pytest.mark.parametrize("name", [*PROGRAMS, *GENERATORS])
def test_empty_list_never_replaces_a_site(run, project, name):
    _, build = copy_example(name, project)
    write_files(project / "site", {"index.html": "old", "articles/a/index.html": "old"})
    before = read_files(project / "site")
    result = run(build)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert read_files(project / "site") == before


@pytest.mark.parametrize("name", [*PROGRAMS, *GENERATORS])
@pytest.mark.parametrize("slugs", [("Tea", "tea"), ("caf\u00e9", "cafe\u0301"), ("straße", "STRASSE")])
def test_slugs_that_share_a_folder_stop_the_build(save, run, project, name, slugs):
    """On file systems of macOS or Windows; in PHP without mbstring and intl, only ASCII letters are compared."""
    if name == "php" and slugs[0] != "Tea":
        pytest.skip("needs PHP's mbstring and intl")
    save(*(article_json(number, slug=slug) for number, slug in enumerate(slugs)))
    _, build = copy_example(name, project)
    result = run(build)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert all(slug in result.stderr for slug in slugs)
    assert not (project / "site").exists()


@pytest.mark.parametrize("name", PROGRAMS)
def test_full_disk_is_a_one_line_error_that_names_the_file(save, run, project, name):
    save(article_json(1))
    build = install_example(name, project)
    result = run(build)
    assert (result.returncode, result.stdout) == (0, "Articles in site: 1\n")
    Path("site/index.html").unlink()
    Path("site/index.html.new").symlink_to("/dev/full")
    result = run(build)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("site/index.html: ")
    assert "no space left" in result.stderr.lower()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_only_changes_what_differs(save, sql, run, project, name):
    save(article_json(1, category="Old"), *(article_json(number) for number in range(2, 5)))
    nodes = '{"name":"</b> <a &"},"text",{"@type":"Person","author":"Ann"},{"@type":"Article","author":"Ann"}'
    markup = f'{{"@context":"https://schema.org","@graph":[{nodes}]}}'
    sql("UPDATE article SET schema_markup = ? WHERE id = 'id-0002'", markup)
    build, site = f"{install_example(name, project)} elsewhere", project / "elsewhere"
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
    save(article_json(1, slug="spring-menu", status="draft"), article_json(2, slug="other", status="draft"))
    install_example("python", project)
    line = re.search(r"^flask articles preview --only .*", read_page("docs/publish"), re.MULTILINE)[0]
    assert run(line, DATABASE_URL=database_url(database)).returncode == 0
    assert [path.name for path in project.glob("site/articles/*")] == ["spring-menu"]


def test_replaced_site_keeps_every_page_and_removes_old_ones(project):
    """Even if `replace-site.mjs` is killed at any of ten moments."""
    shutil.copy(EXAMPLES / "shared/replace-site.mjs", project)
    names = [*(f"articles/{number}/index.html" for number in range(300)), "index.html", "assets/style.css"]

    def replace(content, names, prefix=""):
        shutil.rmtree("built", ignore_errors=True)
        write_files(project / "built", dict.fromkeys(names, content))
        began = time.monotonic()
        run_in_shell(f"{prefix} node replace-site.mjs built site")
        return time.monotonic() - began

    (project / "site").mkdir()
    duration = max(replace("old" * 20_000, names) for _ in range(2))
    for number in range(1, 11):
        replace(("old", "new")[number % 2] * 20_000, names, f"timeout --signal=KILL {duration * number / 11}")
        files = {path: content for path, content in read_files(project / "site").items() if path.suffix != ".new"}
        assert set(files.values()) <= {b"old" * 20_000, b"new" * 20_000}
        assert files.keys() == {project / "site" / name for name in names}
    replace("last", names[1:])
    assert run_in_shell("node replace-site.mjs built site").stdout == "Articles in site: 299\n"
    assert set(read_files(project / "site").values()) == {b"last"}
    assert not (project / "site/articles/0").exists()


FETCH_ONE = {
    "javascript": """node --input-type=module --eval "import { fetchArticle } from './articles.mjs';
        console.log((await fetchArticle('SLUG'))?.slug ?? 'none')\"""",
    "python": """python -c "import articles; print((articles.fetch_article('SLUG') or {}).get('slug', 'none'))\"""",
    "php": """php -r "require 'articles.php'; echo fetch_article('SLUG')->slug ?? 'none', PHP_EOL;\"""",
}


@pytest.mark.parametrize("name", FETCH_ONE)
def test_program_finds_one_article_by_its_slug(save, run, project, name):
    save(*(article_json(number) for number in range(1, 205)))
    copy_example(name, project)
    for slug, expected in {"slug-1": "slug-1", "SLUG-1": "none", "slug": "none"}.items():
        assert run(FETCH_ONE[name].replace("SLUG", slug)).stdout == f"{expected}\n"


def test_generators_report_files_that_cannot_be_written(save, run, project):
    save(article_json(1))
    copy_example("astro", project)
    Path("content.json").symlink_to("/dev/full")
    write_files(project, {"built/articles/a/index.html": "new", "site/articles": ""})
    for command, name in (("node fetch-content.mjs", "content.json"), ("node replace-site.mjs built site", "articles")):
        result = run(command)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
        assert name in result.stderr


def test_banners_are_downloaded_once(save, server, run, project):
    banner, missing = (f"http://127.0.0.1:{server.port}/static/banners/{name}.svg" for name in ("writing", "missing"))
    save(*(article_json(number, bannerUrl=url) for number, url in enumerate([banner, banner, missing, ""])))
    build = install_example("javascript", project)
    call = "await downloadBanners(articles, site);"
    after = "const { articles, lists, sitemap } = prepareContent(await fetchAll());\n"
    assert call in (project / "README.md").read_text()
    program = (project / "make-site.mjs").read_text().replace(after, after + call)
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
    for wrong in ({"ARTICLES_KEY": "wrong"}, {"ARTICLES_KEY": ""}, {"ARTICLES_URL": ""}):
        result = run("sh rebuild.sh true", **wrong)
        assert (result.returncode > 0, result.stderr.count("\n")) == (True, 1)


def test_overview_links_to_each_example():
    linked = set(re.findall(r"\]\(\.\./examples/(\w+)/README\.md\)", read_page("docs/integrate")))
    assert linked == {path.parent.name for path in EXAMPLES.glob("*/README.md")}
