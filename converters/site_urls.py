"""Complete the relative URLs of articles with the URL of their site."""

import re

from content.urls import change_urls, complete_url
from converters.records import SourceArticle

UNRESOLVED = "Pictures whose path begins with ../, which were not completed. Write absolute URLs"


def complete_banner(article: SourceArticle, base: str) -> None:
    """Complete the URL of an article's banner. A banner without an absolute URL is dropped."""
    banner = article.fields.pop("bannerUrl", "")
    url = banner if banner.startswith("../") else complete_url(banner, base)
    url = re.sub("^//", "https://", url)
    if url.startswith(("http://", "https://")):
        article.fields["bannerUrl"] = url
    elif url:
        article.drop("Banners without an absolute URL (write it, or set --site or SITE_URL)", banner[:80])


def complete_urls(article: SourceArticle, html: str, base: str, *, has_source_files: bool = False) -> str:
    """Return an article's HTML with its URLs completed. If `base` is empty, they stay relative.

    `base` ends with a slash. With `has_source_files`, links to files that the site is built from do not change.
    """
    article.urls_completed = "//" in base  # an absolute URL

    def complete(attribute: str, url: str) -> str:
        if has_source_files and attribute == "href" and is_source_file(url):
            return url
        if attribute != "href" and url.startswith("../"):
            if article.urls_completed:
                article.note(UNRESOLVED)
            return url
        return complete_url(url, base)

    return change_urls(html, complete)


def is_source_file(url: str) -> bool:
    """Return whether a URL is a relative path to a Markdown file that a site is built from, rather than to a page."""
    return bool(re.match(r"(?![a-z][a-z0-9+.-]*:|//)[^?#]*\.(?:mdx?|markdown)(?:[?#]|\Z)", url, re.IGNORECASE))
