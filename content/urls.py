"""URLs in HTML attributes: links, pictures, srcset, posters and inline styles."""

import re
from collections.abc import Callable
from functools import lru_cache, partial
from unicodedata import normalize
from urllib.parse import quote, unquote

from content.html import REST_OF_TAG

# Possessive quantifiers keep these patterns linear on any input.
TAG_WITH_ATTRIBUTES = re.compile(rf"<([a-zA-Z][a-zA-Z0-9]*+)(?!>){REST_OF_TAG}")  # skips most others, such as <p>
# href="/b", href='/b' or href=/b
ATTRIBUTE = re.compile(r"""(?<=[\s"'/])([\w:-]++)(\s*+=\s*+)("[^"]*+"|'[^']*+'|[^\s"'>]++)""")
ENTIRE_VALUE = re.compile("()(.+)()", re.DOTALL)
# attribute -> pattern for its URLs; the groups are the text before a URL, the URL, and the text after it
URL_PATTERNS = {
    "href": ENTIRE_VALUE,
    "src": ENTIRE_VALUE,
    "poster": ENTIRE_VALUE,
    "srcset": re.compile(r"()([^\s,]\S*(?<!,))([^,]*,?)"),
    "style": re.compile(r"""(\burl\(\s*+(?:["']|&quot;|&#0?39;)?)([^"'()&\s]+)()"""),
}
# the host, the path and the query of https://www.example.com/about/?a=1#b; the first two may be missing
PAGE = re.compile(r"(?:(?:https?:)?//(?:www\.)?([^/?#]*))?([^?#]*)\??([^#]*)", re.IGNORECASE)
POST_NUMBER = re.compile(r"\bp=[0-9]+")  # as in ?preview=1&p=17
# https://a.example, mailto:a@b.example or //a.example, and empty URLs, fragments and templates, which are left alone
NOT_RELATIVE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|\{|\Z", re.IGNORECASE)


def change_urls(html: str, change: Callable[[str, str, str], str]) -> str:
    """Replace each URL in `html` with the result of `change(element, attribute, url)`, with names in lower case."""

    def change_tag(tag: re.Match[str]) -> str:
        return ATTRIBUTE.sub(partial(_change_attribute, change, tag[1].lower()), tag[0])

    return TAG_WITH_ATTRIBUTES.sub(change_tag, html)


def _change_attribute(change: Callable[[str, str, str], str], element: str, attribute: re.Match[str]) -> str:
    name = attribute[1].lower()
    pattern = URL_PATTERNS.get(name)
    if not pattern:
        return attribute[0]
    quote, value = _split_quote(attribute[3])
    value = pattern.sub(lambda url: url[1] + change(element, name, url[2]) + url[3], value)
    return f"{attribute[1]}{attribute[2]}{quote}{value}{quote}"


def _split_quote(value: str) -> tuple[str, str]:
    """Return the quotation mark around an attribute's value, or "", and the value without it."""
    return (value[0], value[1:-1]) if value[0] in "\"'" else ("", value)


@lru_cache(256)
def split_page(url: str) -> tuple[str, str]:
    """Return the host and the page of an http(s) URL or a path. They do not depend on how the URL is written.

    The host is in lower case and without "www.", or "". The page is the decoded path without a final slash, followed by
    the query, or by only the number of a WordPress post in it: `/?p=17`.
    """
    host, path, query = PAGE.findall(url)[0]
    if "%" in path:
        path = unquote(path)
    if query:
        query = f"?{(POST_NUMBER.findall(query) or [query])[0]}"
    return host.lower(), normalize("NFC", path).rstrip("/") + query


def page_key(host: str, page: str) -> str:
    """Return what all URLs of a page have in common, whatever their case: `//old.example/about`."""
    return f"//{host}{page}".lower()


def has_same_host(url: str, other: str) -> bool:
    """Return whether two URLs have the same host, apart from "www."."""
    return split_page(url)[0] == split_page(other)[0]


def is_same_page(old_url: str, new_url: str) -> bool:
    """Return whether an old URL or path leads to the new URL."""
    old_host, old_page = split_page(old_url)
    new_host, new_page = split_page(new_url)
    return old_page == new_page and old_host in ("", new_host)


def article_url(site: str, slug: str) -> str:
    """Return an article's URL on its customer's site, whose pattern is `site`, or "" if that is empty."""
    return site.replace("{slug}", quote(slug, safe=""))
