"""The public posts of a WordPress site, as its REST API renders them for readers.

See https://developer.wordpress.org/rest-api/reference/posts/. Each post is requested on its own: within a list,
WordPress numbers galleries across posts, and formats paragraphs differently after a post of the block editor.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from itertools import count
from typing import Any
from urllib.parse import unquote, urlencode, urljoin

from content.html import decode_references, readable_text
from content.urls import has_same_host
from converters.decoding import parse_json
from converters.http_client import request
from converters.source_articles import Origin, SourceArticle, SourceError, SourceOptions, Subject, locate_post
from converters.wordpress.blogs import Blog, is_internal_type, plain_title
from converters.wordpress.posts import NO_TITLE, complete_article
from schema_fields import NOT_XML

PER_PAGE = 100  # the most entries that WordPress sends at once
FIELDS = (
    "id,slug,link,title,content,excerpt,date_gmt,modified_gmt,categories,tags,author,featured_media,yoast_head_json,"
    "_links"
)
EMBEDDED = "author,wp:featuredmedia"
NAMES = {"publishedAt": "date_gmt", "updatedAt": "modified_gmt", "bannerUrl": "featured image"}
NO_ACCESS = "The site does not allow anonymous access: import its export (Tools → Export) instead."
POST_DENIED = "The post was withdrawn or is not public. Try again, or import the export (Tools → Export) instead."
TRY_AGAIN = "Try again later, or check the URL."
# the header Link, and the element in the head of the page, which caches keep
API_LINK = re.compile(
    r"""<([^<>]+)>;\s*rel="?https://api\.w\.org/|<link\s+rel=["']https://api\.w\.org/["']\s+href=["']([^"'<>]+)"""
)
# What works only with WordPress's scripts, or differs in each response: comments, hidden frames of embedded posts, the
# buttons of enlarged pictures, and attributes
NOISE = re.compile(
    r"""
    (?P<code><(?P<name>script|style)\b.*?(?:</(?P=name)>|\Z))  # stays
    | <!--.*?(?:-->|\Z)
    | <iframe(?=[^<>]*\bwp-embedded-content\b)[^<>]*></iframe>
    | <button(?=[^<>]*\blightbox-trigger\b)[^<>]*>.{0,2000}?</button>
    | \sdata-(?:wp-[\w-]+|secret)="[^"<>]*"(?=[^<>]{0,2000}>)  # in a tag
    """,
    re.DOTALL | re.VERBOSE,
)


def find_api(url: str) -> str | None:
    """Return the URL of the WordPress REST API that a page names, or None if it names none.

    Raises SourceError if the page cannot be read.
    """
    page = request(url, TRY_AGAIN, NO_ACCESS)
    links = ", ".join(page.headers.get_all("Link", []))
    found = API_LINK.search(links) or API_LINK.search(page.content.decode(errors="replace"))
    if not found:
        return None
    try:
        api = urljoin(page.url, unescape(found[1] or found[2]))
    except ValueError:  # not a URL
        return None
    if not has_same_host(api, url):
        raise SourceError(f"Its API is on another host, {api}. Import from that host.")
    return api


def read_site(api: str, options: SourceOptions) -> Iterator[SourceArticle]:
    """Yield the public posts of a site, given the URL of its API.

    Raises SourceError if the site cannot be read, or if its posts change while they are read.
    """
    with _naming("WordPress's REST API"):
        index, _ = _fetch(api, "", _fields="home,name")
        blog = Blog(index["home"], decode_references(index["name"]))
        types, _ = _fetch(api, "wp/v2/types")
        path = _find_path(types, options.post_type)
        terms = _read_list(api, "wp/v2/categories", "id,name") | _read_list(api, "wp/v2/tags", "id,name")
        numbers = [str(id) for id in _read_list(api, path, "id")]
    if not numbers:
        raise SourceError(_describe_types(types, options.post_type))
    for number in numbers:
        with _naming(f"Post {number}"):
            post, _ = _fetch(api, f"{path}/{number}", if_denied=POST_DENIED, _embed=EMBEDDED, _fields=FIELDS)
            article = _convert(post, number, blog, terms, options)
        if not article.is_without_text:
            complete_article(article, blog, options, is_published=True)
        yield article


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Name the place in errors, and raise SourceError if a response is not WordPress'."""
    try:
        yield
    except SourceError as error:
        raise SourceError(f"{place}: {error}") from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise SourceError(f"{place}: The response is not WordPress' ({error}). {TRY_AGAIN}") from error


def _find_path(types: Any, post_type: str) -> str:
    """Return the path of the posts of a type below the API. Raises SourceError if the API does not show them."""
    if post_type not in types:
        raise SourceError(_describe_types(types, post_type))
    return f"{types[post_type].get('rest_namespace', 'wp/v2')}/{types[post_type]['rest_base']}"


def _describe_types(types: Any, post_type: str) -> str:
    """Return what a site without posts of a type may show instead."""
    others = ", ".join(name for name in types if name != post_type and not is_internal_type(name))
    return f"Shows no posts of the type {post_type}. For those of another type ({others}), add --post-type TYPE."


def _read_list(api: str, path: str, fields: str) -> dict[int, str]:
    """Return the names, if any, of all entries of a list by id, oldest first.

    Raises SourceError if the list changes while it is read.
    """
    names: dict[int, str] = {}
    for page in count(1):
        entries, total = _fetch(api, path, _fields=fields, per_page=PER_PAGE, page=page, orderby="id", order="asc")
        names |= {entry["id"]: decode_references(entry.get("name", "")) for entry in entries}
        if not entries or page * PER_PAGE >= total:
            break
    if len(names) != total:
        raise SourceError(f"The list {path} changed while it was read. {TRY_AGAIN}")
    return names


def _convert(post: Any, number: str, blog: Blog, terms: dict[int, str], options: SourceOptions) -> SourceArticle:
    """Return a post as an article, which has to be completed unless its text is missing because of a password."""
    title = plain_title(post["title"]["rendered"])
    origin = Origin(options.source or blog.source, number)
    article = SourceArticle(locate_post(blog.name, number, title), {}, dict(NAMES), origin=origin)
    if post["content"]["protected"]:
        article.note("Withheld because they are password-protected", subject=Subject.ACCESS)
        article.is_without_text = True
        article.claim = "withheld"
        return article
    article.fields = _take_fields(post, title, terms)
    article.old_urls = [str(post["link"])]
    if post.get("author") and not article.fields["authors"]:
        article.keeps_stored_authors = True
        article.note("Authors whose names the site does not show")
    if post.get("featured_media") and not article.fields["bannerUrl"]:
        article.note("Featured images that the site does not show")
    return article


def _take_fields(post: Any, title: str, terms: dict[int, str]) -> dict[str, Any]:
    """Return the fields of a post. They have to be normalized."""
    html = NOISE.sub(lambda noise: noise["code"] or "", NOT_XML.sub("", post["content"]["rendered"])).strip()
    seo = post.get("yoast_head_json") or {}
    return {
        "title": title or NO_TITLE,
        "slug": unquote(post["slug"]),
        "contentHtml": html,
        "publishedAt": f"{post['date_gmt']}Z",
        "updatedAt": f"{post['modified_gmt']}Z",
        "category": [terms[id] for id in post.get("categories", [])],
        "keywords": [terms[id] for id in post.get("tags", [])],
        "authors": _embedded(post, "author", "name"),
        "bannerUrl": "".join(_embedded(post, "wp:featuredmedia", "source_url")[:1]),
        # Yoast adds the name of the site to each title.
        "metaTitle": "" if str(seo.get("title", "")).startswith(title) else seo.get("title"),
        "metaDesc": seo.get("description") or _read_excerpt(post, html),
    }


def _read_excerpt(post: Any, html: str) -> str:
    """Return the excerpt of a post, or "" if WordPress made it from the first words of the text.

    It does so without lists, tables and pictures, so that the excerpt may not be the text's beginning.
    """
    excerpt = " ".join(readable_text(post.get("excerpt", {}).get("rendered", "")).split())
    words = excerpt.partition("…")[0].rstrip(" [").split()
    return "" if set(words) <= set(readable_text(html).split()) else excerpt


def _embedded(post: Any, relation: str, name: str) -> list[str]:
    """Return a text of each object that the response embeds. An error may replace an object."""
    items = post.get("_embedded", {}).get(relation, [])
    return [decode_references(item[name]) for item in items if item.get(name)]


def _fetch(api: str, path: str, if_denied: str = NO_ACCESS, **parameters: Any) -> tuple[Any, int]:
    """Return the JSON of a response of the API, and the total of a list. Raises SourceError if that fails."""
    url = f"{api}{path}{'&' if '?' in api else '?'}{urlencode(parameters)}"
    response = request(url, TRY_AGAIN, if_denied)
    return parse_json(response.content, TRY_AGAIN), int(response.headers.get("X-WP-Total", 0))
