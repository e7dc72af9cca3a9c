"""The page, and cross-origin requests, in Chromium driven by Playwright."""

import pytest
from click.testing import CliRunner
from helpers import LISTS, PROJECT, article_json, blocks, database_url, read_page, section
from playwright.sync_api import expect, sync_playwright

import seed
from benchmarks.servers import free_port, listening

KEY = "demo-key"
CHROMIUM_OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
EVIL = """<p>Fine</p><script>parent.stolen = 1; top.stolen = 1</script><script src="/static/page/page.js"></script>
<meta http-equiv="refresh" content="0; url=/stolen"><img src="x" onerror="parent.document.title = 'stolen'">
<a href="javascript:top.stolen = 1">Run</a>
<svg height="20"><a href="javascript:top.stolen = 1"><text y="15">Draw</text></a></svg>
<a href="https://www.example.com/1" target="name">Name</a> <a href="https://www.example.com/2" target="_top">Top</a>
<a href="https://www.example.com/3" rel="opener">Opener</a>
<form action="/steal"><button onclick="top.stolen = 1">Send</button></form><iframe src="/"></iframe><iframe></iframe>"""


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM_OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def home(server, database, monkeypatch):
    """The URL of the page of a service with the demo."""
    monkeypatch.setenv("DATABASE_URL", database_url(database))
    assert CliRunner().invoke(seed.main, ["--key", KEY]).exit_code == 0
    return f"http://127.0.0.1:{server.port}/"


@pytest.fixture
def page(browser, home):
    """The page of a service with the demo; errors on the console fail the test."""
    context = browser.new_context()
    page = context.new_page()
    # The URLs of the demo's pictures contain the default port. The test's service uses a free one.
    page.route("http://127.0.0.1:8000/**", lambda route: route.fulfill(path=PROJECT / route.request.url[22:]))
    context.route(
        "https://www.example.com/**", lambda route: route.fulfill(body="<svg/>", content_type="image/svg+xml")
    )
    page.console_errors = []
    page.on("pageerror", lambda error: page.console_errors.append(str(error)))
    page.on("console", lambda message: page.console_errors.append(message.text) if message.type == "error" else None)
    page.goto(home)
    yield page
    found = list(page.console_errors)
    page.unroute_all(behavior="ignoreErrors")
    context.close()
    assert found == []


def enter(page, key=KEY):
    page.get_by_label("API key").fill(key)
    page.keyboard.press("Enter")
    if key == KEY:
        expect(page.locator("#code")).to_be_visible()  # visible once a view has loaded


def titles(page):
    return page.locator("#cards h2").all_inner_texts()


def test_page_lists_searches_and_sorts_articles(page):
    enter(page)
    seen = titles(page)
    while page.get_by_role("link", name="Next").is_visible():
        first = titles(page)[0]
        page.get_by_role("link", name="Next").click()
        expect(page.locator("#cards h2").first).not_to_have_text(first)
        seen += titles(page)
    assert len(set(seen)) == 120
    page.get_by_role("link", name="Previous").click()
    expect(page.locator("#range")).to_have_text("97 to 108 of 120")
    page.get_by_label("Search").fill("etag")
    expect(page.locator("#range")).not_to_contain_text("of 120")
    assert titles(page)
    assert all("etag" in title.lower() for title in titles(page))
    page.get_by_label("Search").fill("")
    page.get_by_label("Sort by").select_option("title")
    page.get_by_label("Order").select_option("ascending")
    expect(page.locator("#snippet")).to_contain_text("orderBy=title&order=asc")
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    assert titles(page)[0].startswith("A ")


@pytest.mark.parametrize("key", ["wrong", KEY])
def test_invalid_key_is_requested_again(page, sql, key):
    """Including one that was revoked during use."""
    enter(page, key)
    if key == KEY:
        sql("UPDATE api_key SET revoked_at = '2026-01-01 00:00:00'")
        page.get_by_label("Search").fill("etag")
    expect(page.get_by_role("alert")).to_contain_text("is not valid.")
    expect(page.get_by_label("API key")).to_be_visible()
    sql("UPDATE api_key SET revoked_at = NULL")
    enter(page)
    expect(page.get_by_role("alert")).to_be_hidden()
    page.console_errors.clear()  # the browser reports the 401


def test_content_cannot_reach_the_key_or_the_page(page, save):
    save(article_json(1, title="Evil", slug="evil", contentHtml=EVIL), customer="Demo")
    enter(page)
    page.get_by_label("Search").fill("evil")
    page.get_by_role("link", name="Evil").click()
    url = page.url
    frame = page.frame_locator("#content")
    expect(frame.locator("p")).to_have_text("Fine")
    frame.get_by_role("button", name="Send").click()
    for name in ("Run", "Draw"):
        frame.get_by_text(name).click()
        page.wait_for_timeout(200)
    assert page.evaluate("window.stolen") is None
    assert (page.title(), page.url) == ("Evil", url)
    assert "allow-scripts" not in page.locator("#content").get_attribute("sandbox")
    page.console_errors.clear()  # the browser reports what it blocked
    for name in ("Name", "Top", "Opener"):
        with page.context.expect_page() as opened:
            frame.get_by_role("link", name=name).click()
        opened.value.wait_for_url("https://www.example.com/*")
        assert opened.value.evaluate("[opener, document.referrer]") == [None, ""]
    assert page.url == url


@pytest.fixture
def nginx_below_path(server, tmp_path):
    """The URL of the service under a path of nginx, configured as documented."""
    port = free_port()
    (location,) = blocks(section(read_page("docs/operate"), "Under a path"), "nginx")
    location = location.replace("articles", f"127.0.0.1:{server.port}")
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; pid {tmp_path}/pid; error_log stderr; events {{}} "
        f"http {{ access_log off; server {{ listen 127.0.0.1:{port}; {location} }} }}"
    )
    with listening(["nginx", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")], port):
        yield f"http://127.0.0.1:{port}/content"


def test_page_works_below_a_path(page, nginx_below_path):
    page.goto("about:blank")  # A request of the fixture's page may be late.
    requested = set()
    page.on("request", lambda request: requested.add(request.url))
    page.goto(nginx_below_path)  # nginx adds the slash
    enter(page)
    assert f'"{nginx_below_path}/api/public/v1/articles/preview?' in page.locator("#snippet").inner_text()
    page.locator("#cards a").first.click()
    paragraph = page.frame_locator("#content").locator("p").first
    assert "Georgia" in paragraph.evaluate("element => getComputedStyle(element).fontFamily")
    page.get_by_role("link", name="Sitemap", exact=True).click()
    expect(page.locator("#xml")).to_contain_text("<urlset")
    page.get_by_role("link", name="OpenAPI").click()
    page.wait_for_url(f"{nginx_below_path}/openapi.json")
    page.go_back()
    page.get_by_role("button", name="Forget the key").click()
    expect(page.get_by_label("API key")).to_be_visible()
    assert page.url == f"{nginx_below_path}/"
    assert all(url.startswith((nginx_below_path, "http://127.0.0.1:8000/", "data:")) for url in requested), requested


FETCH = """([url, key]) => fetch(url, { headers: { "x-api-key": key }, cache: "no-store" }).then(
  (response) => [response.status, response.headers.has("ETag")], String)"""


def test_only_allowed_origin_can_read_responses_and_errors(browser, home, start):
    allowed, rejected = start(CORS_ORIGINS=home.rstrip("/")), start(CORS_ORIGINS="https://www.example.com")
    page = browser.new_page(bypass_csp=True)
    page.goto(home)  # another origin than those of the two services, because of its port

    def fetch(server, key=KEY):
        return page.evaluate(FETCH, [f"http://127.0.0.1:{server.port}{LISTS[0]}", key])

    assert fetch(allowed) == [200, True]
    assert fetch(allowed, key="wrong") == [401, False]
    assert "Failed to fetch" in fetch(rejected)
    page.close()
