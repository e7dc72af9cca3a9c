"""The page, and requests from another origin, in a real browser: Chromium, which Debian has, by way of Playwright."""

import http.server
import subprocess
import sys
import threading
import xml.etree.ElementTree as ElementTree
from functools import partial
from itertools import product

import pytest
from conftest import PROJECT, article, get, url_of
from playwright.sync_api import expect, sync_playwright

KEY = "demo-key"
CHROMIUM = {
    "executable_path": "/usr/bin/chromium",
    "args": ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
}
SIZES = {"wide": {"width": 1440, "height": 900}, "narrow": {"width": 390, "height": 844}}
EVIL = """<p>Fine</p><script>parent.stolen = 1; top.stolen = 1</script>
<img src="x" onerror="parent.document.title = 'stolen'"><a href="javascript:alert(1)">click</a>
<form action="/steal"><button>Send</button></form><iframe src="/"></iframe>"""


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture
def seeded(database, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", url_of(database))
    subprocess.run([sys.executable, "seed.py", "--key", KEY], cwd=PROJECT, check=True, capture_output=True)


@pytest.fixture
def page(browser, seeded, server):
    """The page of a service with the demo, opened with its key; what the browser complains of fails the test."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    # The demo's banners are at the port that the settings name; here it is another one.
    page.route("http://127.0.0.1:8000/**", lambda route: route.fulfill(path=PROJECT / route.request.url[22:]))
    page.route("https://www.example.com/**", lambda route: route.fulfill(body="<svg/>", content_type="image/svg+xml"))
    page.goto(f"http://127.0.0.1:{server.port}/")
    page.complaints = complaints
    yield page
    found = list(complaints)
    page.unroute_all(behavior="ignoreErrors")
    context.close()
    assert found == []


def enter(page, key=KEY):
    page.get_by_label("API key").fill(key)
    page.keyboard.press("Enter")


def titles(page):
    return page.locator("#cards h2").all_inner_texts()


def test_it_shows_what_is_published_page_by_page(page):
    enter(page)
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    seen = titles(page)
    while page.locator("#next").is_enabled():
        first = titles(page)[0]
        page.get_by_role("button", name="Next").click()
        expect(page.locator("#cards h2").first).not_to_have_text(first)
        seen += titles(page)
    assert len(set(seen)) == 120
    page.get_by_role("button", name="Previous").click()
    expect(page.locator("#range")).to_have_text("97 to 108 of 120")


def test_it_searches_and_sorts(page):
    enter(page)
    page.get_by_label("Search").fill("etag")
    expect(page.locator("#range")).not_to_have_text("1 to 12 of 120")
    assert titles(page)
    assert all("ETag" in title or "etag" in title.lower() for title in titles(page))
    page.get_by_label("Search").fill("")
    page.get_by_label("Sort by").select_option("title")
    page.get_by_label("Order").select_option("ascending")
    expect(page.locator("#snippet")).to_contain_text("orderBy=title&order=asc")
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    assert titles(page)[0].startswith("A ")


def test_it_shows_an_article_with_its_fields_and_structured_data(page):
    enter(page)
    page.locator("#cards a").nth(3).click()
    expect(page.locator("#article-title")).to_be_focused()
    title = page.locator("#article-title").inner_text()
    assert page.frame_locator("#content").locator("p").first.inner_text()
    assert title in page.locator("#fields").inner_text()
    assert '"@type": "BlogPosting"' in page.locator("#markup").inner_text()
    page.reload()
    expect(page.locator("#article-title")).to_have_text(title)
    page.get_by_role("link", name="All articles").click()
    expect(page.locator("#articles-title")).to_be_focused()


def test_it_makes_a_sitemap_to_download(page, tmp_path):
    enter(page)
    page.get_by_role("link", name="Sitemap", exact=True).click()
    page.get_by_label("Where your site").fill("https://blog.example/a&b/")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download sitemap.xml").click()
    assert download.value.suggested_filename == "sitemap.xml"
    download.value.save_as(tmp_path / "sitemap.xml")
    root = ElementTree.parse(tmp_path / "sitemap.xml").getroot()  # noqa: S314
    assert root.tag == "{http://www.sitemaps.org/schemas/sitemap/0.9}urlset"
    places = [url[0].text for url in root]
    assert len(places) == 120
    assert all(place.startswith("https://blog.example/a&b/") for place in places)


@pytest.mark.parametrize("address", ["", "www.example.com/", "articles"])
def test_an_address_that_is_none_makes_no_sitemap(page, address):
    enter(page)
    page.get_by_role("link", name="Sitemap", exact=True).click()
    page.get_by_label("Where your site").fill(address)
    expect(page.locator("#xml")).to_contain_text("Give the whole address")
    expect(page.get_by_role("link", name="Download")).to_be_hidden()
    page.get_by_label("Where your site").fill("https://b.example/ü x/")
    expect(page.locator("#xml")).to_contain_text("<loc>https://b.example/%C3%BC%20x/")


def test_a_wrong_key_is_told_and_forgotten(page):
    enter(page, "wrong")
    expect(page.get_by_role("alert")).to_contain_text("not valid")
    expect(page.get_by_label("API key")).to_be_visible()
    page.complaints.clear()  # of the 401
    enter(page)
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    expect(page.get_by_role("alert")).to_be_hidden()
    page.get_by_role("button", name="Forget the key").click()
    expect(page.get_by_label("API key")).to_be_focused()
    assert page.evaluate("sessionStorage.length + localStorage.length + document.cookie.length") == 0


def test_another_tab_does_not_have_the_key(page, browser):
    enter(page)
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_label("API key")).to_be_visible()


def test_links_in_an_article_leave_the_page_as_it_is_and_back_goes_to_the_list(page, save):
    html = """<p>Here</p><a href="#part">Part</a> <a href="https://www.example.com/">Away</a>
    <a href="/" target="_self">Self</a> <a href="/" target="">Empty</a><h2 id="part">Part</h2>"""
    save(*(article(each, title=f"Links {each}", content_html=html) for each in (1, 2)), customer="Demo")
    enter(page)
    page.get_by_label("Search").fill("links")
    for title in ("Links 1", "Links 2"):
        page.get_by_role("link", name=title).click()
        frame = page.frame_locator("#content")
        for link in ("Part", "Away", "Self", "Empty"):
            frame.get_by_role("link", name=link).click()
        expect(frame.locator("p")).to_have_text("Here")
        page.go_back()
        expect(page.locator("#articles")).to_be_visible()
    assert len(page.context.pages) == 1
    page.complaints.clear()  # the browser tells what it kept from opening


def test_turning_the_page_while_the_service_is_away_moves_nothing(page):
    enter(page)
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    page.route("**/api/**", lambda route: route.abort())
    for _ in range(3):
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
        expect(page.get_by_role("alert")).to_be_in_viewport()
    page.unroute("**/api/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#range")).to_have_text("13 to 24 of 120")
    page.complaints.clear()


def slow(page):
    page.route("**/api/**", lambda route: (page.wait_for_timeout(300), route.continue_()))


def test_turning_the_page_anew_while_it_turns_leaves_none_out(page):
    enter(page)
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    following = page.get_by_role("button", name="Next")
    slow(page)
    following.dblclick()
    expect(page.locator("#range")).to_have_text("13 to 24 of 120")
    following.click()
    expect(page.locator("#range")).to_have_text("25 to 36 of 120")
    following.click()
    page.get_by_label("Search").fill("e")
    following.click()
    expect(page.locator("#range")).to_contain_text("1 to 12 of ")
    following.click()
    expect(page.locator("#range")).to_contain_text("13 to 24 of ")
    following.click()
    page.locator("#cards a").first.click()
    expect(page.locator("#article-title")).to_be_focused()
    page.go_back()
    expect(page.locator("#range")).to_contain_text("13 to 24 of ")


def test_typing_before_a_view_is_there_loses_no_focus(page):
    enter(page)
    slow(page)
    page.locator("#cards a").first.click()
    page.get_by_label("Search").fill("e")
    expect(page.locator("#article-title")).to_be_focused()


def test_coming_back_shows_what_the_form_says(page):
    enter(page)
    page.get_by_label("Sort by").select_option("title")
    page.get_by_label("Search").fill("etag")
    expect(page.locator("#snippet")).to_contain_text("q=etag&orderBy=title")
    page.get_by_role("link", name="OpenAPI").click()
    page.go_back()
    expect(page.get_by_label("Search")).to_have_value("etag")
    expect(page.locator("#snippet")).to_contain_text("q=etag&orderBy=title")


def test_going_back_to_before_the_key_was_forgotten_shows_nothing(browser, seeded, server):
    with browser.browser_type.launch(ignore_default_args=["--disable-back-forward-cache"], **CHROMIUM) as keeping:
        page = keeping.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/")
        enter(page)
        expect(page.locator("#cards li")).to_have_count(12)
        page.get_by_role("link", name="OpenAPI").click()
        page.goto(f"http://127.0.0.1:{server.port}/")
        page.get_by_role("button", name="Forget the key").click()
        expect(page.get_by_label("API key")).to_be_focused()
        page.evaluate("history.go(-2)")
        expect(page.locator("#cards li")).to_have_count(0)
        expect(page.get_by_label("API key")).to_be_focused()


@pytest.mark.parametrize("to", ["reload", "sitemap", "article"])
def test_a_view_that_cannot_be_had_can_be_tried_again(page, to):
    enter(page)
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    body = {"reload": "<h1>Of a proxy</h1>", "sitemap": '{"message": "Of a proxy"}', "article": "null"}[to]
    page.route("**/api/**", lambda route: route.fulfill(status=503, body=body))
    if to == "reload":
        page.reload()
    elif to == "sitemap":
        page.get_by_role("link", name="Sitemap", exact=True).click()
    else:
        page.locator("#cards a").first.click()
    expect(page.get_by_role("alert")).to_have_text("The server answered 503.")
    for view in ("articles", "sitemap", "article", "key-form"):
        expect(page.locator(f"#{view}")).to_be_hidden()
    expect(page.get_by_role("button", name="Forget the key")).to_be_visible()
    page.unroute("**/api/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator({"reload": "#articles-title"}.get(to, f"#{to}-title"))).to_be_focused()
    expect(page.get_by_role("alert")).to_be_hidden()
    page.complaints.clear()


def test_a_key_that_is_revoked_meanwhile_is_asked_for(page, sql):
    enter(page)
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    sql("UPDATE api_key SET revoked_at = '2026-01-01 00:00:00'")
    page.get_by_label("Search").fill("etag")
    expect(page.get_by_role("alert")).to_contain_text("not valid")
    expect(page.get_by_label("API key")).to_be_focused()
    page.complaints.clear()


def test_a_key_that_is_there_is_not_asked_for(page):
    enter(page)
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    slow(page)
    page.reload()
    assert not page.get_by_label("API key").is_visible()
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    expect(page.get_by_label("API key")).to_be_hidden()


def test_a_clipboard_that_is_refused_leaves_the_code_to_be_copied(page):
    enter(page)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('Refused')) }")
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#copied")).to_have_text("Selected, for you to copy.")
    assert KEY in page.evaluate("getSelection().toString()")


def test_content_reaches_neither_the_key_nor_the_page(page, app, save):
    save(article(1, title="Evil", slug="evil", content_html=EVIL), customer="Demo")
    enter(page)
    page.get_by_label("Search").fill("evil")
    page.get_by_role("link", name="Evil").click()
    frame = page.frame_locator("#content")
    expect(frame.locator("p")).to_have_text("Fine")
    frame.get_by_role("button", name="Send").click()
    assert page.evaluate("window.stolen") is None
    assert page.title() == "Evil"
    assert page.locator("#content").get_attribute("sandbox") == ""
    page.complaints.clear()  # the browser tells what it kept from running


@pytest.mark.parametrize("language", ["curl", "JavaScript", "Python", "PHP"])
def test_the_code_that_it_shows_makes_the_request(page, language, tmp_path):
    enter(page)
    page.get_by_label("Search").fill("étag")
    expect(page.locator("#snippet")).to_contain_text("q=")
    page.get_by_label("Language").select_option(language)
    assert KEY not in page.locator("#snippet").inner_text()
    page.get_by_role("button", name="Copy").click()
    code = page.evaluate("navigator.clipboard.readText()")
    file = tmp_path / "code.mjs"
    file.write_text(code)
    program = {"curl": "sh", "JavaScript": "node", "Python": sys.executable, "PHP": "php"}[language]
    result = subprocess.run([program, file], capture_output=True, text=True, check=True, timeout=30)
    assert "etag" in result.stdout.lower()


def test_it_works_by_keyboard_alone(page):
    expect(page.get_by_label("API key")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.get_by_label("API key").focus()
    page.keyboard.type(KEY)
    page.keyboard.press("Enter")
    expect(page.locator("#articles-title")).to_be_focused()
    page.locator("#cards a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#article-title")).to_be_focused()
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#article")).to_be_visible()


def test_what_is_still_asked_for_shows_nothing_once_the_key_is_forgotten(page):
    enter(page)
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    slow(page)
    page.get_by_label("Search").fill("etag")
    page.get_by_role("button", name="Forget the key").click()
    page.wait_for_timeout(600)
    expect(page.locator("#articles")).to_be_hidden()
    expect(page.get_by_label("API key")).to_be_visible()


@pytest.mark.parametrize(
    "address", ["#article", "#article/", "#article/%", "#article/gone", "#article/%00", "#article/" + "x" * 201]
)
def test_an_article_that_is_not_there_is_told(page, address):
    enter(page)
    expect(page.locator("#range")).to_have_text("1 to 12 of 120")
    page.evaluate("address => { location.hash = address }", address)
    expect(page.get_by_role("alert")).to_have_text("This article is not published.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing to show")
    expect(page.get_by_role("button", name="Try again")).to_be_hidden()


def test_a_key_that_no_header_can_carry_is_not_valid(page):
    enter(page, "ключ")
    expect(page.get_by_role("alert")).to_have_text("The API key is not valid.")


@pytest.mark.parametrize(("size", "scheme"), list(product(SIZES, ("light", "dark"))))
def test_it_fits_its_window_in_every_view(page, browser, size, scheme):
    page.set_viewport_size(SIZES[size])
    page.emulate_media(color_scheme=scheme)
    enter(page)
    for address in ("#articles", "#sitemap"):
        page.evaluate("address => { location.hash = address }", address)
        expect(page.locator(f"{address}-title")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture
def elsewhere(tmp_path):
    """A site at another origin, with a page that asks the API from the browser."""
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        (tmp_path / "index.html").write_text("<title>Site</title>")
        yield f"http://127.0.0.1:{site.server_port}"
        site.shutdown()


ASK = """async ([address, key]) => {
  try {
    const first = await fetch(address, { headers: { "x-api-key": key } });
    const headers = { "x-api-key": key, "If-None-Match": first.headers.get("ETag") };
    const again = await fetch(address, { headers, cache: "no-store" });
    return [first.status, again.status];
  } catch (error) {
    return String(error);
  }
}"""


def test_a_named_origin_can_ask_from_the_browser_and_another_one_cannot(browser, seeded, start, elsewhere):
    allowed, refused = start(CORS_ORIGINS=elsewhere), start(CORS_ORIGINS="https://www.example.com")
    page = browser.new_page()
    page.goto(elsewhere)
    for path in ("articles", "articles/preview", "sitemap"):
        address = f"http://127.0.0.1:{allowed.port}/api/public/v1/{path}"
        assert page.evaluate(ASK, [address, KEY]) == [200, 304]
        assert page.evaluate(ASK, [address, "wrong"]) == [401, 401]
        assert "Failed to fetch" in page.evaluate(ASK, [address.replace(str(allowed.port), str(refused.port)), KEY])
    page.close()
    assert get(allowed, "/healthz").status == 200
