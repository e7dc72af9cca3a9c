"""Import from a WordPress site by its REST API, here a fake one with faults; tests/integration has a real one."""

import json
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
from importer import fake_server

from converters import http_client
from converters.source_articles import SourceError, SourceOptions, Subject
from converters.wordpress.site import find_api, read_site

OPTIONS = SourceOptions("", ZoneInfo("Asia/Tokyo"))  # WordPress sends UTC
TERMS = {"categories": [{"id": 1, "name": "Food &amp; Drink"}], "tags": [{"id": n, "name": f"t{n}"} for n in (2, 3)]}
TYPES = {"post": {"rest_base": "posts"}, "news": {"rest_base": "company-news"}, "wp_block": {"rest_base": "blocks"}}


class FakeSite:
    """A WordPress site in a folder, with a post for each of `posts`, and other responses for the paths in `faults`."""

    def __init__(self):
        self.posts, self.faults, self.requests = {}, {}, []
        self.link = '<{api}>; rel="https://api.w.org/"'
        self.root = "/blog/wp-json/"

    def handle(self, request):
        """Return the response to a request."""
        self.requests.append(request)
        path, query = urlsplit(request.path)[2:4]
        parameters = {name: values[0] for name, values in parse_qs(query).items()}
        route = parameters.get("rest_route", path.removeprefix("/blog/wp-json"))
        return self.faults.get(route) or (200, *self.respond(route, parameters))

    def post(self, number, *, html="<p>Text</p>", protected=False, **fields):
        """Add a post; `fields` override its own."""
        self.posts[number] = {
            "id": number,
            "slug": f"caf%c3%a9-{number}",
            "link": f"{self.url}2026/cafe-{number}/",
            "title": {"rendered": f"Caf&#233; {number}"},
            "content": {"rendered": html, "protected": protected},
            "excerpt": {"rendered": "<p>Text [&hellip;]</p>", "protected": protected},
            "date_gmt": "2026-01-31T09:30:00",
            "modified_gmt": "2026-02-01T10:00:00",
            "author": 1,
            "categories": [1],
            "tags": [3, 2],
            "featured_media": 9,
            "_embedded": {"author": [{"name": "Ann &amp; Bo"}], "wp:featuredmedia": [{"source_url": "/a.jpg"}]},
        } | fields

    def respond(self, route, parameters):
        """Return the headers and the body of a valid response."""
        kind, _, number = route.removeprefix("/wp/v2/").partition("/")
        if route == "/blog/":
            return {"Link": self.link.format(api=f"http://{self.host}{self.root}")}, "<html></html>"
        if route == "/":
            return {}, json.dumps({"home": "https://www.blog.example/en", "name": "My &amp; blog"})
        if number:
            return {}, json.dumps(self.posts[int(number)])
        entries = TYPES if kind == "types" else TERMS.get(kind) or [{"id": number} for number in self.posts]
        if kind == "types":
            return {}, json.dumps(entries)
        end = int(parameters["page"]) * int(parameters["per_page"])
        return {"X-WP-Total": str(len(entries))}, json.dumps(entries[end - int(parameters["per_page"]) : end])

    def read(self, options=OPTIONS):
        return list(read_site(find_api(self.url), options))


@pytest.fixture
def fake():
    fake = FakeSite()
    with fake_server(fake.handle) as fake.host:
        fake.url = f"http://{fake.host}/blog/"
        yield fake


def notes(article):
    return {(note.subject, note.kind.split()[0]) for note in article.notes}


def test_post_is_imported_with_its_fields(fake):
    fake.post(17)
    (article,) = fake.read()
    assert article.fields == {
        "title": "Café 17",
        "slug": "café-17",
        "contentHtml": "<p>Text</p>",
        "publishedAt": "2026-01-31T09:30:00+00:00",
        "updatedAt": "2026-02-01T10:00:00+00:00",
        "category": "Food & Drink",
        "keywords": ["t3", "t2"],
        "authors": ["Ann & Bo"],
        "bannerUrl": "https://www.blog.example/a.jpg",
    }
    assert (article.origin[:2], article.claim) == (("wordpress:blog.example/en", "17"), "published")
    assert article.old_urls == [f"{fake.url}2026/cafe-17/"]


def test_description_is_yoasts_or_a_written_excerpt(fake):
    excerpt = {"rendered": "<p>About <em>it</em></p>"}
    seo = {"title": "Café 2 - My blog", "description": "For search engines"}
    fake.post(1, excerpt=excerpt)
    fake.post(2, excerpt=excerpt, yoast_head_json=seo)
    fake.post(3, yoast_head_json={"title": "Another title"})
    fields = [(article.fields.get("metaTitle"), article.fields.get("metaDesc")) for article in fake.read()]
    assert fields == [(None, "About it"), (None, "For search engines"), ("Another title", None)]


@pytest.mark.parametrize(
    ("link", "root"),
    [
        ('<https://other.example/>; rel="canonical", <{api}>; rel="https://api.w.org/"', "/blog/wp-json/"),
        ("<{api}>; rel=https://api.w.org/", "/blog/?rest_route=/"),
    ],
)
def test_api_is_found_by_the_header_with_any_permalinks(fake, link, root):
    fake.link, fake.root = link, root
    fake.post(1)
    assert len(fake.read()) == 1


def test_api_is_found_by_the_page(fake):
    element = f"<link rel='https://api.w.org/' href='http://{fake.host}/blog/?rest_route=/&#038;a=1' />"
    fake.faults["/blog/"] = (200, {}, f"<html><head>{element}")
    assert find_api(fake.url) == f"http://{fake.host}/blog/?rest_route=/&a=1"


@pytest.mark.parametrize("link", ["<{api}>; rel=canonical", "<http://[>; rel=https://api.w.org/"])
def test_page_of_another_system_has_no_api(fake, link):
    fake.link = link
    assert find_api(fake.url) is None


def test_list_of_many_posts_is_read_completely(fake):
    for number in range(1, 203):
        fake.post(number)
    assert [article.origin.key for article in fake.read()] == [str(number) for number in range(1, 203)]


def test_protected_post_is_withheld_and_keeps_its_text(fake):
    fake.post(1, html="", protected=True)
    (article,) = fake.read()
    assert (article.claim, article.is_without_text, article.fields) == ("withheld", True, {})
    assert notes(article) == {(Subject.ACCESS, "Withheld")}


def test_closed_list_of_authors_is_reported(fake):
    fake.post(1, _embedded={"author": [{"code": "rest_user_cannot_view", "message": "Sorry"}]}, featured_media=0)
    (article,) = fake.read()
    assert article.keeps_stored_authors
    assert notes(article) == {(Subject.APPEARANCE, "Authors")}


def test_stored_authors_stay_if_their_list_is_closed(fake, importer):
    fake.post(1)
    importer.imports(fake.url)
    fake.post(1, html="New", _embedded={})
    importer.imports(fake.url)
    assert importer.only().items() >= {"contentHtml": "New", "authors": ["Ann & Bo"]}.items()


PICTURE = '<img src="https://a.example/b">'
NOISE = [
    ('<figure data-wp-context="{&quot;id&quot;:1}" data-wp-init>a</figure>', "<figure data-wp-init>a</figure>"),
    ('<p data-secret="x1">a</p><iframe class="wp-embedded-content" src="/b/"></iframe>', "<p>a</p>"),
    (f'<button class="lightbox-trigger" type="button"><svg></svg></button>{PICTURE}', PICTURE),
    ("<p><!--more-->One<!-- b --></p>", "<p>One</p>"),
    ("<!--[if lt IE 9]><script>x</script><![endif]-->\n<p>a</p>", "<p>a</p>"),
    *(("<script><!-- x --></script>",) * 2, ('<pre>&lt;b data-secret="x"&gt;</pre>',) * 2),
]


@pytest.mark.parametrize(("html", "expected"), NOISE)
def test_what_differs_in_each_response_is_removed(fake, html, expected):
    fake.post(1, html=html)
    (article,) = fake.read()
    assert article.fields["contentHtml"] == expected


def test_other_type_is_read_from_the_base_that_the_site_names(fake):
    fake.post(1, categories=[], tags=[])
    del fake.posts[1]["excerpt"], fake.posts[1]["author"], fake.posts[1]["featured_media"]
    (article,) = fake.read(OPTIONS._replace(post_type="news"))
    assert article.origin.key == "1"
    assert any("/company-news/1" in request.path for request in fake.requests)


@pytest.mark.parametrize(("post_type", "named"), [("recipe", r"\(post, news\)"), ("post", r"\(news\)")])
def test_site_without_posts_of_the_type_names_others(fake, post_type, named):
    with pytest.raises(SourceError, match=named):
        fake.read(OPTIONS._replace(post_type=post_type))


def test_key_is_never_sent(fake, importer, monkeypatch):
    monkeypatch.setenv("SOURCE_API_KEY", "secret-key")
    fake.post(1)
    assert importer.run("import", fake.url, "--publish").exit_code == 0
    assert not any("secret-key" in str(request.headers) for request in fake.requests)


LIST = "/wp/v2/posts"
POST = "/wp/v2/posts/1"
FAULTS = [  # path, response, and what the error names
    ("/blog/", (401, {}, ""), "401.*export"),
    ("/", (200, {}, "<b>Warning</b>{}"), "REST API"),
    (LIST, (500, {}, ""), "500"),
    (LIST, (200, {"X-WP-Total": "2"}, '[{"id": 1}]'), "changed"),
    (LIST, (200, {"X-WP-Total": "2"}, '[{"id": 1}, {"id": 1}]'), "changed"),
    (POST, (404, {}, ""), "Post 1: .*404"),
    (LIST, (403, {}, ""), "403.*anonymous.*export"),
    (POST, (401, {}, ""), "Post 1: .*401.*withdrawn"),
    (POST, (200, {}, '{"id": 1}'), "Post 1: .*title"),
    (POST, (302, {"Location": "https://other.example/"}, ""), "Post 1: .*https://other.example/"),
    (POST, (302, {"Location": "file:///etc/passwd"}, ""), "Post 1: "),
    (POST, (200, {"Content-Length": "900"}, "{"), "Post 1: "),
    (POST, (200, {}, " " * 2000), "Post 1: .*longer"),
]


@pytest.mark.parametrize(("path", "response", "named"), FAULTS)
def test_fault_on_the_way_stops_the_import(fake, monkeypatch, path, response, named):
    monkeypatch.setattr(http_client, "MAX_LENGTH", 1500)
    fake.post(1)
    fake.faults[path] = response
    with pytest.raises(SourceError, match=named) as caught:
        fake.read()
    assert "\n" not in str(caught.value)


def test_redirect_on_the_same_host_is_followed(fake):
    fake.faults["/old/"] = (301, {"Location": "/blog/"}, "")
    assert find_api(f"http://{fake.host}/old/") == find_api(fake.url)


def test_api_on_another_host_is_refused(fake):
    fake.link = '<https://other.example/wp-json/>; rel="https://api.w.org/"'
    with pytest.raises(SourceError, match=r"https://other\.example/wp-json/"):
        fake.read()
