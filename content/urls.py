"""The URLs in HTML: of links, pictures, their sizes, posters and styles."""

import re
from collections.abc import Callable
from functools import partial
from urllib.parse import urljoin

from content.html import REST_OF_TAG

# Each pattern looks at a character a fixed number of times, so that the time is linear in the length of any text.
OPENING_TAG = re.compile(rf"<[a-zA-Z]{REST_OF_TAG}")
ATTRIBUTE = re.compile(r"""(?<=[\s"'/])([\w:-]++)(\s*+=\s*+)("[^"]*+"|'[^']*+'|[^\s"'>]++)""")
WHOLE_VALUE = re.compile("()(.+)()", re.DOTALL)
# By attribute: the text before a URL in its value, the URL, and the text behind it.
URLS = {
    "href": WHOLE_VALUE,
    "src": WHOLE_VALUE,
    "poster": WHOLE_VALUE,
    "srcset": re.compile(r"()([^\s,]\S*(?<!,))([^,]*,?)"),
    "style": re.compile(r"""(\burl\(\s*+(?:["']|&quot;|&#0?39;)?)([^"'()&\s]+)()"""),
}
# An empty URL, a fragment and a template stay as they are too.
ABSOLUTE_URL = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|\{|\Z", re.IGNORECASE)


def change_urls(html: str, change: Callable[[str, str], str]) -> str:
    """Return HTML in which `change` has replaced each URL. It gets the attribute's name and the URL."""
    return OPENING_TAG.sub(lambda tag: ATTRIBUTE.sub(partial(_change_attribute, change), tag[0]), html)


def _change_attribute(change: Callable[[str, str], str], attribute: re.Match[str]) -> str:
    name, pattern = attribute[1].lower(), URLS.get(attribute[1].lower())
    if not pattern:
        return attribute[0]
    quote = attribute[3][0] if attribute[3][0] in "\"'" else ""
    value = attribute[3][1:-1] if quote else attribute[3]
    value = pattern.sub(lambda url: url[1] + change(name, url[2]) + url[3], value)
    return f"{attribute[1]}{attribute[2]}{quote}{value}{quote}"


def complete_url(url: str, base: str) -> str:
    """Return a URL that is relative to `base` as a whole one. Without a base it stays relative."""
    if "{{" in url or "{%" in url:  # A template stays as it is.
        return url
    url = url.strip().replace(" ", "%20")
    try:
        return url if not base or ABSOLUTE_URL.match(url) else urljoin(base, url)
    except ValueError:  # not a URL
        return url


def has_relative_urls(html: str) -> bool:
    """Return whether a link or a picture has a URL that is not a whole one."""
    marked = change_urls(html, lambda _attribute, url: url if ABSOLUTE_URL.match(url.strip()) else f"/{url}")
    return marked != html
