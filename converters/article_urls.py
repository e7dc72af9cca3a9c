"""Resolve the URLs in an article, move pictures, and record the links to other articles.

The slugs of those articles are only known once the import is planned.
"""

import re
from collections.abc import Iterable
from html import unescape
from typing import NamedTuple
from urllib.parse import urljoin

from content.urls import NOT_RELATIVE, change_urls, page_key, split_page
from converters.source_articles import LEFT_OUT, Link, Note, SourceArticle, SourceOptions, Subject

ADVICE = "Write absolute URLs, or name the source's site with --site or SITE_URL."
RELATIVE_URLS = Note("Links and pictures with relative URLs", advice=ADVICE, subject=Subject.OLD_SITE)
NO_WEB_URL = re.compile(r"(?!https?:|//)(?:[a-z][a-z0-9+.-]*:|#|\Z)", re.IGNORECASE)  # #about, mailto:, data: and so on
# https://old.example and uploads/a.jpg, of https://old.example/uploads/a.jpg?w=300
HOST_AND_PATH = re.compile("((?:https?:)?//[^/?#]*)?/?([^?#]*)", re.IGNORECASE)
PROXY = re.compile(r"(?:https?:)?//i\d\.wp\.com/", re.IGNORECASE)  # Jetpack's, followed by the URL without its scheme
FILE_SUFFIXES = (
    *(".apng", ".avif", ".bmp", ".gif", ".heic", ".heif", ".ico", ".jfif", ".jpeg", ".jpg"),
    *(".jxl", ".png", ".svg", ".tif", ".tiff", ".webp"),
    *(".mp3", ".m4a", ".ogg", ".oga", ".wav", ".flac", ".mp4", ".m4v", ".webm", ".ogv", ".flv", ".pdf"),
)
SHOWN = ("srcset", "poster", "style")  # attributes that name pictures


class OldSite(NamedTuple):
    """The site that the articles of a source come from. Its URL may be unknown."""

    base: str  # the URL that others are relative to, with a final slash, or ""
    hosts: list[str]  # without "www."
    pictures_url: str = ""  # where its pictures are now, without a final slash
    article_url_pattern: str = ""  # of its articles, as in `Customer.site`, if --site names one

    def has(self, url: str) -> bool:
        """Return whether a URL is relative, or has a host of the site."""
        host, _ = split_page(url)
        return not host or host in self.hosts

    def page(self, url: str) -> str:
        """Return the page of a URL in lower case, with one host for all URLs of the site: `//old.example/about`."""
        host, page = split_page(url)
        return page_key(self.hosts[0] if self.hosts and self.has(url) else host, page)


def old_site(options: SourceOptions, url: str = "", file_hosts: Iterable[str] = ()) -> OldSite:
    """Return the site of a source. `url` and `file_hosts` come from the source, if it names any."""
    base = options._replace(site=options.site or url).base
    hosts = [*(split_page(site)[0] for site in (url, options.site) if site), *file_hosts]
    return OldSite(base, hosts, options.pictures_url.rstrip("/"), f"{base}{{slug}}" if options.site else "")


class ArticleUrls:
    """The URLs of one article."""

    def __init__(self, article: SourceArticle, site: OldSite, folder: str = "") -> None:
        """`folder` is that of the article's page, below the site's URL, with a final slash."""
        self.article = article
        self.site = site
        self.base = urljoin(site.base, folder) if site.base else ""

    def change(self) -> None:
        """Change the URLs in the banner and the content, and set what later steps need to know about links.

        The article's `old_urls` must be complete.
        """
        fields = self.article.fields
        self.article.article_url_pattern = self.site.article_url_pattern
        self.article.pages = [self.site.page(url) for url in self.article.old_urls]
        if "bannerUrl" in fields:
            self._change_banner(fields.pop("bannerUrl"))
        if "contentHtml" in fields:
            fields["contentHtml"] = change_urls(fields["contentHtml"], self._change)

    def _change_banner(self, banner: str) -> None:
        """Set the absolute URL of the banner. A banner without one is dropped."""
        url = re.sub("^//", "https://", self.change_picture(banner, is_shown=True))
        if url.startswith(("http://", "https://")):
            self.article.fields["bannerUrl"] = url
        elif url:
            self.article.note(LEFT_OUT, f"banner {url}", ADVICE)

    def _change(self, element: str, attribute: str, given: str) -> str:
        """Return the new URL for one in an attribute."""
        is_known = attribute == "href" and given in self.article.links
        if is_known or NO_WEB_URL.match(given) or "{{" in given or "{%" in given:
            return given
        url = given.strip()
        is_shown = attribute in SHOWN or element == "img"
        if is_shown or is_file_url(url):
            return self._note_if_relative(self.change_picture(url, is_shown=is_shown))
        if attribute == "href":
            new, link = self.change_link(url)
            self.article.links[new] = link
            return new
        return self._note_if_relative(self.resolve(url))

    def change_link(self, url: str) -> tuple[str, Link]:
        """Return the new URL of a link, and the link's target."""
        new = self.resolve(url)
        return new, Link(self.site.page(unescape(new)), is_old=self.site.has(new))

    def change_picture(self, url: str, *, is_shown: bool) -> str:
        """Return the new URL of a picture that the article shows or links to."""
        url = self.resolve(url)
        if NO_WEB_URL.match(url) or (url.startswith("../") and not self.site.base):
            return url
        original = PROXY.sub("https://", url)
        is_old = self.site.has(original)
        moved_to = self.site.pictures_url
        if moved_to and url.startswith(f"{moved_to}/"):
            return url
        host, path = HOST_AND_PATH.findall(original)[0]
        is_file = is_file_url(path) or "?" not in original  # otherwise, a program sends it
        if moved_to and is_old and is_file:
            return f"{moved_to}/{path}"
        if host and (is_old or is_shown):
            self.article.kept_pictures.append(unescape(url))
        return url

    def resolve(self, url: str) -> str:
        """Return the absolute URL for one in the article, if the site is known."""
        encoded = url.replace(" ", "%20")
        try:
            return encoded if NOT_RELATIVE.match(url) or not self.base else urljoin(self.base, encoded)
        except ValueError:  # not a URL
            return encoded

    def _note_if_relative(self, url: str) -> str:
        if not NOT_RELATIVE.match(url):
            self.article.notes.append(RELATIVE_URLS)
        return url


def is_file_url(url: str) -> bool:
    """Return whether the path of a URL ends with the suffix of a picture, audio, video or PDF file."""
    return url.partition("#")[0].partition("?")[0].lower().endswith(FILE_SUFFIXES)
