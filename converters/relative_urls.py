"""Resolve the relative URLs of articles against the URL of their site."""

import re

from content.urls import NOT_RELATIVE, change_urls, has_relative_urls, resolve_url
from converters import note_kinds
from converters.records import SourceArticle

GUESSED_MEDIA = "Relative pictures whose URL depends on how your site is built"
ABOVE = "Pictures whose paths begin with ../ were left unchanged"


def resolve_banner(article: SourceArticle, base: str) -> None:
    """Resolve the URL of an article's banner. A banner without an absolute URL is dropped."""
    banner = article.fields.pop("bannerUrl", "")
    url = banner if banner.startswith("../") else resolve_url(banner, base)
    url = re.sub("^//", "https://", url)
    if url.startswith(("http://", "https://")):
        article.fields["bannerUrl"] = url
    elif url:
        hint = "" if base else ", or set --site or SITE_URL"
        article.note_dropped("Dropped banners with relative URLs", banner[:80], f"Write absolute URLs{hint}.")


def resolve_urls(article: SourceArticle, base: str, *, has_source_files: bool = False) -> None:
    """Resolve the relative URLs in an article's content. If `base` is empty, they stay relative.

    `base` ends with a slash. With `has_source_files`, links to files that the site is built from do not change.
    """
    has_site = "//" in base

    def resolve(attribute: str, url: str) -> str:
        if has_source_files and attribute == "href" and is_source_file(url):
            return url
        if attribute != "href" and url.startswith("../"):
            if has_site:
                article.note(ABOVE, advice="Write absolute URLs.")
            return url
        return resolve_url(url, base)

    html = change_urls(article.fields["contentHtml"], resolve)
    article.fields["contentHtml"] = html
    if not has_site and has_relative_urls(html):
        advice = "Write absolute URLs, or set your site's URL with --site or SITE_URL."
        article.note(note_kinds.RELATIVE_URLS, advice=advice)


def is_beside_file(url: str) -> bool:
    """Return whether a URL is relative to the folder of its file, and does not leave it."""
    return not NOT_RELATIVE.match(url) and not url.startswith(("/", "../"))


def is_source_file(url: str) -> bool:
    """Return whether a URL is a relative path to a Markdown file that a site is built from, rather than to a page."""
    return bool(re.match(r"(?![a-z][a-z0-9+.-]*:|//)[^?#]*\.(?:mdx?|markdown)(?:[?#]|\Z)", url, re.IGNORECASE))
