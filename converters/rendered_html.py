"""HTML that another system has rendered: its URLs, and whether it shows anything."""

import re
from urllib.parse import urljoin

from content.urls import change_urls, complete_url
from converters.records import SourceArticle

MEDIA = re.compile(r"<(?:img|video|audio|iframe|svg|object|embed|picture|canvas|input|hr)(?=[\s/>])", re.IGNORECASE)
TEXT = re.compile(r">(?:\s|&nbsp;)*(?!&nbsp;)[^\s<]")


def is_empty(html: str) -> bool:
    """Return whether visitors see nothing."""
    return not TEXT.search(f">{html}") and not MEDIA.search(html)


def complete_urls(article: SourceArticle, html: str, site: str) -> str:
    """Return HTML in which relative URLs are completed with the site, if it is known."""
    base = f"{site.rstrip('/')}/" if site else ""
    root = urljoin(base, "/").rstrip("/")

    def complete(attribute: str, url: str) -> str:
        if url.startswith("/") and not url.startswith("//"):  # most relative URLs; urljoin is slow
            return root + url.strip().replace(" ", "%20")
        if attribute != "href" and url.startswith("../"):
            article.note("Pictures whose path begins with ../, which stay as they are")
            return url
        return complete_url(url, base)

    return change_urls(html, complete)
