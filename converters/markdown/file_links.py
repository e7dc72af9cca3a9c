"""URLs in article files: links from one file to others, and pictures beside a file."""

import os
import re
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote, urljoin

from content.urls import NOT_RELATIVE
from converters.article_urls import ArticleUrls, old_site
from converters.markdown.file_names import ARTICLE_SUFFIXES, is_index, origin_key, parse_name, url_folder
from converters.markdown.folders import Folder
from converters.slugs import normalize_slug
from converters.source_articles import Link, Origin, SourceArticle, SourceOptions


def file_origin(path: Path, folder: Folder, options: SourceOptions) -> Origin:
    """Return the origin of a file's article."""
    return Origin(options.source or "markdown", origin_key(path, folder.root))


class FileUrls(ArticleUrls):
    """The URLs of the article in a file."""

    def __init__(self, article: SourceArticle, folder: Folder, path: Path, options: SourceOptions) -> None:
        super().__init__(article, old_site(options), url_folder(path, folder.root))
        self.folder = folder
        self.path = path
        self.options = options
        # On the built site, soup.md is the folder soup/, so ../menu/ is the page of menu.md, which is beside it.
        self.page_url = self.base if is_index(path) else f"{self.base}{quote(article.fields.get('slug', ''))}/"

    def change_link(self, url: str) -> tuple[str, Link]:
        """Return the new URL of a link, and its target. The URL of a file stays until the slugs are known."""
        if NOT_RELATIVE.match(url):
            return super().change_link(url)
        path = _file_path(url)
        if path.lower().endswith(ARTICLE_SUFFIXES):
            root = self.folder.root
            below = path.lstrip("/")
            # relative to the file, to the imported folder, or to the folder above, as in /blog/first.md
            file = self.folder.find(self.path.parent / path, root / below, root.absolute().parent / below)
            if file:
                origin = file_origin(file, self.folder, self.options)
                return url, Link(origin=origin, slug=normalize_slug(parse_name(file)[1]))
        leads_up = self.base and path.startswith("../")
        return super().change_link(urljoin(self.page_url, url) if leads_up else url)

    def change_picture(self, url: str, *, is_shown: bool) -> str:
        """Return the new URL of a picture. One with a path below the imported folder moves with the folder."""
        if NOT_RELATIVE.match(url) or url.startswith("/"):
            return super().change_picture(url, is_shown=is_shown)
        path = _file_path(url)
        below = os.path.normpath(self.path.parent.relative_to(self.folder.root) / path)
        is_outside = below.startswith(os.path.join("..", ""))
        if is_outside:
            return url
        if self.site.pictures_url:
            return f"{self.site.pictures_url}/{quote(Path(below).as_posix(), errors='replace')}"
        return super().change_picture(url, is_shown=is_shown)


def _file_path(url: str) -> str:
    """Return the path of the file that a relative URL in HTML names."""
    return unquote(unescape(re.split("[?#]", url, maxsplit=1)[0]))
