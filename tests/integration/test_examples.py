"""The programs in examples/, run against a service with the commands of their README.md."""

import json
import os
import re
import subprocess
from contextlib import ExitStack
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from urllib.parse import unquote

import lxml.html
import pytest
from helpers import LISTS, PROJECT, article_json, blocks, get, read_page, run_in_shell
from site_checks import SITE, SITE_NAME, assert_site, fetch_data

from benchmarks.servers import free_port, listening

EXAMPLES = PROJECT / "examples"
SITES = ("python", "astro", "hugo")
SERVERS = ("javascript", "php")
HOSTILE = article_json(
    1,
    title='</title><script>x</script> & "más"',
    slug="a&b'ü:c",
    metaDesc='"><b>',
    bannerUrl="",
    category="<b>C#</b>",
    publishedAt="2026-01-06T23:30:00.000Z",
    updatedAt="2026-01-31T09:30:00.000Z",
    contentHtml="<pre>wide</pre><table><tr><td>wide</td></tr></table>",
)
FETCH_ONE = {
    "javascript": """node --input-type=module --eval "import { fetchArticle } from './articles.mjs';
        console.log((await fetchArticle('SLUG'))?.slug ?? 'none')\"""",
    "python": """python -c "import articles; print((articles.fetch_article('SLUG') or {}).get('slug', 'none'))\"""",
    "php": """php -r "require 'articles.php'; echo fetch_article('SLUG')->slug ?? 'none', PHP_EOL;\"""",
}


@pytest.fixture
def proxy(server):
    """A proxy of the service. Tests replace `respond`, which returns a status, headers and a body."""

    def respond(path):
        response = get(server, path, x_api_key=proxy.key)
        return response.status, response.headers, response.body

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            proxy.keys.append(self.headers["x-api-key"])
            proxy.key = self.headers["x-api-key"] or ""
            status, headers, body = proxy.respond(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        proxy.keys, proxy.respond, proxy.pass_on = [], respond, respond
        proxy.url = f"http://127.0.0.1:{proxy.server_port}/api/public/v1"
        Thread(target=proxy.serve_forever).start()
        yield proxy
        proxy.shutdown()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The working folder, into which an example is copied."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def run(server, key, project):
    """Run shell commands in the project with a site's environment variables."""
    exported = re.findall(r"^export (\w+)=", read_page("examples/README"), re.MULTILINE)
    values = f"http://127.0.0.1:{server.port}/api/public/v1", key, SITE, SITE_NAME
    hugo = {"HUGO_BASEURL": f"{SITE}/", "HUGO_TITLE": SITE_NAME}
    variables = dict(zip(exported, values, strict=True))
    return partial(run_in_shell, ASTRO_TELEMETRY_DISABLED="1", **hugo, **variables)


def copy_example(name, project):
    """Copy an example as its README.md says; return the commands that install it, and the one that runs it."""
    copy, *install, command = blocks(read_page(f"examples/{name}/README"), "sh")[0].splitlines()
    (copy,) = re.findall("cp -R .* ../my-site(?= )", copy)
    assert run_in_shell(f"cd '{PROJECT}' && {copy.replace('../my-site', str(project))}").returncode == 0
    return install, command


def install_example(name, project):
    """Copy and install an example as its README.md says; return its build command."""
    install, build = copy_example(name, project)
    if name == "astro" and subprocess.check_output(["node", "--version"], text=True) < "v22.12":
        install.append("npm install --no-save --no-audit node@22.23.3")
    assert run_in_shell("\n".join(["set -e", *install])).returncode == 0
    return build


def read_files(site):
    return {path: path.read_bytes() for path in site.glob("**/*") if path.is_file()}


@pytest.mark.parametrize("name", SITES)
def test_build_writes_a_complete_site_or_changes_nothing(save, sql, server, key, proxy, run, project, name):
    save(HOSTILE, *(article_json(number) for number in range(2, 121)))
    build = install_example(name, project)
    result = run(build, SITE=f"{SITE}/", ARTICLES_URL=f"{proxy.url}/")
    assert result.returncode == 0, result.stdout + result.stderr
    assert_site(project / "site", server, key)
    before = read_files(project / "site")
    assert key.encode() not in b"".join(before.values())

    def assert_stops(reason, **variables):
        result = run(build, **variables)
        lines = 2 if name == "hugo" else 1
        assert (result.returncode, result.stderr.count("\n")) == (1, lines), result.stderr
        assert reason in result.stderr
        assert read_files(project / "site") == before

    def change_while_it_is_read(statement, path_of):
        def respond(path):
            if path_of in path:
                sql(statement)
            return proxy.pass_on(path)

        proxy.respond = respond
        assert_stops("The articles changed", ARTICLES_URL=proxy.url)

    change_while_it_is_read("UPDATE article SET status = 'draft' WHERE id = 'id-0120'", "skip=100")
    change_while_it_is_read("UPDATE article SET slug = slug || 'x' WHERE id = 'id-0002'", "sitemap")
    assert_stops("ARTICLES_URL", ARTICLES_URL="")
    assert_stops("Unauthorized" if name == "hugo" else "The API key in the x-api-key header", ARTICLES_KEY="wrong")
    sql("UPDATE article SET status = 'draft'")
    assert_stops("No article is published")


@pytest.mark.parametrize("name", [*FETCH_ONE, "hugo"])
def test_key_is_not_sent_to_another_host(run, project, proxy, name):
    _, build = copy_example(name, project)
    other = proxy.url.replace("127.0.0.1", "localhost")
    proxy.respond = lambda path: (301, {"Location": f"{other}{path}"}, b"")
    result = run(FETCH_ONE.get(name, build), ARTICLES_URL=proxy.url)
    assert (result.returncode != 0, "http://localhost:" in result.stderr) == (True, True)
    assert len(proxy.keys) == 1


@pytest.mark.parametrize("slug", ["..", "a\\b"])
def test_slug_that_cannot_be_a_folder_stops_the_build(save, run, project, slug):
    save(article_json(1), article_json(2, slug=slug))
    _, build = copy_example("python", project)
    result = run(build)
    assert (result.returncode, f"The slug {slug} " in result.stderr, result.stderr.count("\n")) == (1, True, 1)
    assert not (project / "site").exists()


def test_program_removes_only_pages_of_articles(save, run, project):
    save(*(article_json(number) for number in range(1, 4)))
    build, site = f"{copy_example('python', project)[1]} elsewhere", project / "elsewhere"
    assert run(build).returncode == 0
    (site / "robots.txt").touch()
    save(article_json(2, title="Another title"), article_json(1, status="draft"))
    assert run(build).returncode == 0
    assert "Another title" in (site / "articles/slug-2/index.html").read_text()
    assert sorted(path.name for path in site.glob("articles/*")) == ["slug-2", "slug-3"]
    assert (site / "robots.txt").exists()


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
    assert sorted(map(unquote, links)) == [f"{example.site}/articles/{slug}/" for slug in (HOSTILE["slug"], "slug-2")]
    page = document(get(example, "/blog/articles/a%26b%27%C3%BC%3Ac/?utm=1"))
    assert page.findtext(".//h1") == page.findtext("head/title") == HOSTILE["title"]
    assert page.findtext(".//time") == "2026-01-06"
    assert page.xpath("//meta[@name='description']/@content") == [HOSTILE["metaDesc"]]
    (markup,) = page.xpath("//script/text()")
    assert json.loads(markup) == fetch_data(server, key, LISTS[0])[0]["schemaMarkup"]
    save(article_json(2, title="Another title"))
    assert document(get(example, "/blog/articles/slug-2/")).findtext(".//h1") == "Another title"


def test_rebuild_script_builds_only_after_a_change(save, run, project):
    save(*(article_json(number) for number in range(1, 251)))
    Path("rebuild.sh").write_bytes((EXAMPLES / "rebuild.sh").read_bytes())

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
