"""Complete the relative URLs of articles with the URL of their site."""

import re
from urllib.parse import urljoin

from content.urls import change_urls, complete_url
from converters.records import SourceArticle

UNBUILT_PICTURES = "Pictures whose path begins with ../, which only your site's build can find"


def complete_article_urls(article: SourceArticle, base: str) -> None:
    """Complete the URLs in an article's content and that of its banner. Without a `base` they stay relative."""

    def complete(attribute: str, url: str) -> str:
        if attribute != "href" and url.startswith("../"):
            article.note(UNBUILT_PICTURES)
            return url
        return url if attribute == "href" and is_source_file(url) else complete_url(url, base)

    banner, html = article.fields.pop("bannerUrl", ""), article.fields.get("contentHtml")
    url = re.sub("^//", "https://", complete("src", banner)) if banner else ""
    if url.startswith(("http://", "https://")):
        article.fields["bannerUrl"] = url
    elif url:
        article.drop("Banners without an absolute URL (write it, or set --site or SITE_URL)", banner[:80])
    if isinstance(html, str):
        article.fields["contentHtml"] = change_urls(html, complete)


def complete_urls(article: SourceArticle, html: str, site: str) -> str:
    """Return HTML that another system has rendered: no Markdown, no templates, no links to files.

    Relative URLs are completed with the site, if it is known.
    """
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


def is_source_file(url: str) -> bool:
    """Return whether a URL is the relative path of a file that a site is built from, and not of one of its pages."""
    return bool(re.match(r"(?![a-z][a-z0-9+.-]*:|//)[^?#]*\.(?:mdx?|markdown)(?:[?#]|\Z)", url, re.IGNORECASE))
