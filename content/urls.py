"""URLs in HTML attributes: links, pictures, srcset, posters and inline styles."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from urllib.parse import quote, urljoin

from content.html import REST_OF_TAG

# Possessive quantifiers keep these patterns linear on any input.
OPENING_TAG = re.compile(rf"<[a-zA-Z]{REST_OF_TAG}")  # <a href="/b">
TAG_WITH_ATTRIBUTES = re.compile(rf"<[a-zA-Z][a-zA-Z0-9]*+(?!>){REST_OF_TAG}")  # skips most others, such as <p>
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
# An attribute that may have a relative URL. Most content has none, and this check is ten times as fast as `find_urls`.
MAYBE_RELATIVE = re.compile(
    r"""=(?:(?<=style=)|(?<=srcset=)|(?:(?<=href=)|(?<=src=)|(?<=poster=)|(?<=\s=))\s*+["']?+(?!https?://|\#))""",
    re.IGNORECASE,
)
# https://a.example, mailto:a@b.example or //a.example, and empty URLs, fragments and templates, which are left alone
NOT_RELATIVE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|\{|\Z", re.IGNORECASE)


def find_urls(html: str) -> Iterator[str]:
    """Yield each URL in `html`."""
    for tag in TAG_WITH_ATTRIBUTES.finditer(html):
        for attribute in ATTRIBUTE.finditer(tag[0]):
            pattern = URL_PATTERNS.get(attribute[1].lower())
            if pattern:
                yield from (url[2] for url in pattern.finditer(_split_quote(attribute[3])[1]))


def change_urls(html: str, change: Callable[[str, str], str]) -> str:
    """Replace each URL in `html` with the result of `change(attribute, url)`."""
    return TAG_WITH_ATTRIBUTES.sub(lambda tag: ATTRIBUTE.sub(partial(_change_attribute, change), tag[0]), html)


def _change_attribute(change: Callable[[str, str], str], attribute: re.Match[str]) -> str:
    name = attribute[1].lower()
    pattern = URL_PATTERNS.get(name)
    if not pattern:
        return attribute[0]
    quote, value = _split_quote(attribute[3])
    value = pattern.sub(lambda url: url[1] + change(name, url[2]) + url[3], value)
    return f"{attribute[1]}{attribute[2]}{quote}{value}{quote}"


def _split_quote(value: str) -> tuple[str, str]:
    """Return the quotation mark around an attribute's value, or "", and the value without it."""
    return (value[0], value[1:-1]) if value[0] in "\"'" else ("", value)


def resolve_url(url: str, base: str) -> str:
    """Resolve a relative URL against `base`. It stays relative if `base` is empty.

    Spaces are percent-encoded, in absolute URLs too. Templates are left alone.
    """
    if "{{" in url or "{%" in url:
        return url
    url = url.strip().replace(" ", "%20")
    try:
        return url if not base or NOT_RELATIVE.match(url) else urljoin(base, url)
    except ValueError:  # not a URL
        return url


def article_url(site: str, slug: str) -> str:
    """Return an article's URL on its customer's site: `site`, or "" if it is empty, with the slug for each "{slug}"."""
    return site.replace("{slug}", quote(slug, safe=""))


def has_relative_urls(html: str) -> bool:
    """Return whether any URL in `html` is relative."""
    if not MAYBE_RELATIVE.search(html):
        return False
    return any(not NOT_RELATIVE.match(url.strip()) for url in find_urls(html))
