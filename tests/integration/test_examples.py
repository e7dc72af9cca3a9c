"""The programs in examples/, run against a service with the commands of their README.md."""

import json
import os
import re
import shutil
import subprocess
import time
from contextlib import ExitStack
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from urllib.parse import unquote

import lxml.html
import pytest
from helpers import LISTS, PROJECT, article_json, blocks, database_url, get, read_page, run_in_shell, write_files
from site_checks import SITE, SITE_NAME, ZONE, assert_site, fetch_data

from benchmarks.servers import free_port, listening

EXAMPLES = PROJECT / "examples"
GENERATORS = ("astro", "eleventy", "nextjs")
SITES = ("python", "hugo", *GENERATORS)
UNINSTALLED = ("python", "nextjs")  # nextjs reads the API before its build, with the client of all generators
SERVERS = ("javascript", "php")
HOSTILE = article_json(
    1,
    title='</title><script>x</script> & "más"',
    slug="a&b'ü",
    metaDesc='"><b>',
    bannerUrl="",
    category="C#",
    keywords=["C#", "c", "a/b", "..", "#", "Tea", "tea", "чай", "<b>'\""],
    publishedAt="2026-01-06T23:30:00.000Z",  # the 7th in Berlin
    updatedAt="2026-01-31T09:30:00.000Z",
    contentHtml="<pre>wide</pre><table><tr><td>wide</td></tr></table>",
)
HUGO_FIELDS = {"slug": "a&b'ü:c", "keywords": ["C#", "чай", "<b>'\""]}  # Hugo cannot tell Tea from tea


@pytest.fixture
def proxy(server):
    """A proxy of the service. Tests replace `get`, with which it gets responses."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            response = proxy.get(server, self.path, self.command, x_api_key=self.headers["x-api-key"])
            self.send_response(response.status)
            for name, value in response.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(response.body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        proxy.url = f"http://127.0.0.1:{proxy.server_port}/api/public/v1"
        Thread(target=proxy.serve_forever).start()
        yield proxy
        proxy.shutdown()


@pytest.fixture
def changing(proxy, sql):
    """A proxy that withdraws article 120, or publishes it again, after each first page; `changes` times."""

    def get_and_change(server, path, *arguments, **headers):
        response = get(server, path, *arguments, **headers)
        if "/articles?" in path and "skip=0" in path and proxy.changes:
            proxy.changes -= 1
            sql("UPDATE article SET status = iif(status = 'draft', 'published', 'draft') WHERE id = 'id-0120'")
        return response

    proxy.get = get_and_change
    return proxy


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
    hugo = {"HUGO_BASEURL": f"{SITE}/", "HUGO_TITLE": SITE_NAME, "HUGO_PARAMS_TIMEZONE": ZONE.key}
    telemetry = {"NEXT_TELEMETRY_DISABLED": "1", "ASTRO_TELEMETRY_DISABLED": "1"}
    return partial(run_in_shell, **telemetry, **hugo, **site)


def copy_example(name, project):
    """Copy an example as its README.md says; return the commands that install it, and the one that runs it."""
    page = "examples/README" if name in GENERATORS else f"examples/{name}/README"
    copying, building, *_ = blocks(read_page(page), "sh")
    (copy,) = re.findall("^cp .*", copying.replace("examples/astro/", f"examples/{name}/"), re.MULTILINE)
    assert run_in_shell(f"cd '{PROJECT}' && {copy.replace('../my-site', str(project))}").returncode == 0
    commands = building.splitlines()
    exported = re.findall(r"^export (\w+)=", building, re.MULTILINE)
    expected = ["ARTICLES_URL", "ARTICLES_KEY", "SITE", "SITE_NAME", "SITE_TIMEZONE"]
    assert exported == (expected[:2] if name == "hugo" else expected)
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


@pytest.mark.parametrize("name", SITES)
def test_build_writes_a_complete_site_or_changes_nothing(save, sql, server, key, changing, run, project, name):
    hostile = HOSTILE | (HUGO_FIELDS if name == "hugo" else {})
    save(hostile, *(article_json(number) for number in range(2, 121)))
    build = install_example(name, project)
    changing.changes = 1
    result = run(build, SITE=f"{SITE}/", ARTICLES_URL=f"{changing.url}/")
    assert result.returncode == 0, result.stdout + result.stderr
    assert_site(project / "site", server, key)
    before = read_files(project / "site")
    written = b"".join(before.values())
    assert b"max-width: 42rem" in written or b"max-width:42rem" in written  # the style
    assert key.encode() not in written

    def assert_stops(reason, **variables):
        result = run(build, **variables)
        lines = 2 if name == "hugo" else 1
        assert (result.returncode, reason in result.stderr, result.stderr.count("\n")) == (1, True, lines)
        assert read_files(project / "site") == before

    changing.changes = 3
    assert_stops("three times", ARTICLES_URL=changing.url)
    assert_stops("ARTICLES_URL", ARTICLES_URL="")
    assert_stops("Unauthorized" if name == "hugo" else "The API key in the x-api-key header", ARTICLES_KEY="wrong")
    save(article_json(200, slug="SLUG-2"))
    assert_stops("SLUG-2")
    sql("UPDATE article SET status = 'draft'")
    assert_stops("No article is published")


@pytest.mark.parametrize("name", [*UNINSTALLED, "php"])
def test_wrong_variable_is_named_in_a_one_line_error(run, project, proxy, name):
    def get_html(*arguments, **headers):
        response = get(*arguments, **headers)
        response.body = b"<p>Hello</p>"
        return response

    proxy.get = get_html
    _, build = copy_example(name, project)
    wrong = [
        ("ARTICLES_URL", ""),
        ("ARTICLES_URL", "127.0.0.1:8000/api/public/v1"),
        ("ARTICLES_KEY", ""),
        ("SITE", ""),
        ("SITE", "example.com"),
        ("SITE_TIMEZONE", "Berlin"),
    ]
    if name == "php":
        build = "php articles.php"  # reads the variables, but not the API
    else:
        wrong += [
            ("ARTICLES_URL", "http://127.0.0.1:2/api/public/v1"),
            ("ARTICLES_URL", proxy.url),
            ("ARTICLES_KEY", "wrong"),
        ]
    for variable, value in wrong:
        result = run(build, **{variable: value})
        assert (result.returncode, result.stderr.count("\n")) == (1, 1), result.stderr
        assert re.search(rf"\b{variable}\b", result.stderr)
    assert not (project / "site").exists()


@pytest.mark.parametrize("name", UNINSTALLED)
@pytest.mark.parametrize("slugs", [("Tea", "tea"), ("caf\u00e9", "cafe\u0301"), ("straße", "STRASSE")])
def test_slugs_that_share_a_folder_stop_the_build(save, run, project, name, slugs):
    """On file systems of macOS or Windows."""
    save(*(article_json(number, slug=slug) for number, slug in enumerate(slugs)))
    _, build = copy_example(name, project)
    result = run(build)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert all(slug in result.stderr for slug in slugs)
    assert not (project / "site").exists()


@pytest.mark.parametrize(
    ("name", "command", "path"),
    [
        ("python", "python3 make_site.py", "site/index.html.new"),
        ("nextjs", "node fetch-content.mjs", "content.json"),
        ("nextjs", "node replace-site.mjs built site", "site/index.html.new"),
    ],
)
def test_unwritable_file_is_named_in_a_one_line_error(save, run, project, name, command, path):
    save(article_json(1))
    copy_example(name, project)
    write_files(project, {"built/index.html": "new", "site/old.html": ""})
    Path(path).symlink_to("/dev/full")
    result = run(command)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert path.removesuffix(".new") in result.stderr


def test_program_only_changes_what_differs(save, run, project):
    save(article_json(1, category="Old"), *(article_json(number) for number in range(2, 5)))
    build, site = f"{install_example('python', project)} elsewhere", project / "elsewhere"
    assert run(build).returncode == 0
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
def test_client_finds_an_article_even_without_the_filter(save, run, project, proxy, name):
    """Other servers of this API may ignore the parameter `slug`."""
    proxy.get = lambda server, path, *arguments, **headers: get(
        server, path.replace("slug=", "x="), *arguments, **headers
    )
    save(*(article_json(number) for number in range(1, 102)))
    copy_example(name, project)
    for slug, expected in {"slug-1": "slug-1", "SLUG-1": "none"}.items():
        assert run(FETCH_ONE[name].replace("SLUG", slug), ARTICLES_URL=proxy.url).stdout == f"{expected}\n"


def document(response):
    assert response.status == 200
    return lxml.html.document_fromstring(response.body.decode())


@pytest.fixture
def serve(run, project):
    """Start the server of an example, on a free port and below a path."""
    with ExitStack() as stack:

        def start(name, **variables):
            port = free_port()
            _, command = copy_example(name, project)
            environment = run.keywords | variables | {"SITE": f"http://127.0.0.1:{port}/blog"}
            command = ["sh", "-c", f"exec {command.replace('8080', str(port))}"]
            stack.enter_context(listening(command, port, env=os.environ | environment))
            return SimpleNamespace(host="127.0.0.1", port=port, site=environment["SITE"])

        yield start


@pytest.mark.parametrize("name", SERVERS)
def test_server_renders_the_list_and_each_article_on_request(save, server, key, serve, name):
    save(HOSTILE, article_json(2))
    example = serve(name)
    links = document(get(example, "/blog/")).xpath("//li/a/@href")
    assert sorted(map(unquote, links)) == [f"{example.site}/articles/{slug}/" for slug in ("a&b'ü", "slug-2")]
    page = document(get(example, "/blog/articles/a%26b%27%C3%BC/?utm=1"))
    assert page.findtext(".//h1") == page.findtext("head/title") == HOSTILE["title"]
    assert page.findtext(".//time") == "2026-01-07"
    assert page.xpath("//meta[@name='description']/@content") == [HOSTILE["metaDesc"]]
    (markup,) = page.xpath("//script/text()")
    assert json.loads(markup) == fetch_data(server, key, LISTS[0])[0]["schemaMarkup"]
    save(article_json(2, title="Another title"))
    assert document(get(example, "/blog/articles/slug-2/")).findtext(".//h1") == "Another title"
    if name == "javascript":
        assert get(example, "/blog/sitemap.xml").body.count(b"<loc>") == 2


@pytest.mark.parametrize("name", SERVERS)
def test_server_responds_with_404_or_503(save, serve, name):
    save(article_json(1), article_json(2, status="draft"))
    example = serve(name)
    assert get(example, "/").status == 404
    for slug in ("slug-2", "%", "%00", "%ff", "x" * 201):
        assert get(example, f"/blog/articles/{slug}/").status == 404, slug
    response = get(serve(name, ARTICLES_KEY="wrong"), "/blog/")
    assert (response.status, response.headers["Retry-After"]) == (503, "30")


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


@pytest.mark.parametrize(("status", "header", "reason"), [(200, "ETag", "ETag"), (405, "Allow", "405")])
def test_rebuild_script_says_what_a_proxy_removes(run, project, proxy, status, header, reason):
    """Otherwise, the site would never be built again, and cron would have nothing to mail."""

    def get_and_remove(server, path, method, **headers):
        response = get(server, path, method, **headers)
        del response.headers[header]
        response.status = status if method == "HEAD" else response.status
        return response

    proxy.get = get_and_remove
    shutil.copy(EXAMPLES / "rebuild.sh", project)
    result = run("sh rebuild.sh touch built", ARTICLES_URL=proxy.url)
    assert (result.returncode, reason in result.stderr, result.stderr.count("\n")) == (1, True, 1)
    assert not (project / "built").exists()


def test_overview_links_to_each_example():
    linked = set(re.findall(r"\]\(\.\./(examples/[\w/]*README\.md)\)", read_page("docs/integrate")))
    assert linked == {path.relative_to(PROJECT).as_posix() for path in EXAMPLES.glob("**/README.md")}
