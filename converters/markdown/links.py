"""Links from one article file to others, and to pages whose URL depends on how the site was built."""

import os
import re
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote, urljoin

from content.urls import NOT_RELATIVE
from converters.articles import Link, Origin, SourceArticle, SourceOptions, Subject
from converters.markdown.file_names import ARTICLE_SUFFIXES, is_index, origin_key, url_folder
from converters.markdown.folders import Folder
from converters.urls import ArticleUrls, old_site

BROKEN = "Broken links to files that were not imported"
GUESSED = "Relative links whose target depends on how your site is built"
GUESSED_MEDIA = "Relative pictures whose URL depends on how your site is built"
SOURCE_SUFFIXES = (".md", ".markdown", ".mdx")  # of files that a site is built from


def file_origin(path: Path, folder: Folder, options: SourceOptions) -> Origin:
    """Return the origin of a file's article."""
    return Origin(options.source or "markdown", origin_key(path, folder.root), has_reusable_key=True)


class FileUrls(ArticleUrls):
    """The URLs of the article in a file."""

    def __init__(self, article: SourceArticle, folder: Folder, path: Path, options: SourceOptions) -> None:
        super().__init__(article, old_site(options), url_folder(path, folder.root))
        self.folder = folder
        self.path = path
        self.options = options
        self.is_index = is_index(path)
        # On the built site, soup.md is the folder soup/, so ../menu/ is the page of menu.md, which is beside it.
        self.page_folder = path.parent if self.is_index else path.with_suffix("")
        self.page_url = self.base if self.is_index else f"{self.base}{quote(article.fields.get('slug', ''))}/"

    def change_link(self, url: str) -> tuple[str, Link | None]:
        """Return the new URL of a link, and its target. The URL of a file stays until the slugs are known."""
        if NOT_RELATIVE.match(url):
            return super().change_link(url)
        path = _decoded_path(url)
        if path.lower().endswith((*ARTICLE_SUFFIXES, ".mdx")):
            root = self.folder.root
            below = path.lstrip("/")
            # relative to the file, to the imported folder, or to the folder above, as in /blog/first.md
            file = self._find_article(self.path.parent / path, root / below, root.absolute().parent / below)
            if file:
                origin = file_origin(file, self.folder, self.options)
                return url, Link(str(origin), slug=self.folder.slug_of(file) or "")
            if path.lower().endswith(SOURCE_SUFFIXES):
                self.article.note(BROKEN, url, subject=Subject.OLD_SITE)
                return url, None
        return self._change_page_link(url, path)

    def _change_page_link(self, url: str, path: str) -> tuple[str, Link | None]:
        """Return what `change_link` does for a link to a page, and note it if its target is unclear."""
        if path.startswith("/") or (self.is_index and not path.startswith("../")):
            return super().change_link(url)
        file = self._find_article(*_files_of(os.path.abspath(self.page_folder / path)))
        if self.base and not file:
            self.article.note(GUESSED, url, "Check them.", Subject.OLD_SITE)
        if self.base and path.startswith("../"):
            url = urljoin(self.page_url, url)
        new, link = super().change_link(url)
        return new, Link(str(file_origin(file, self.folder, self.options))) if file else link

    def change_picture(self, url: str, *, is_shown: bool) -> str:
        """Return the new URL of a picture. One that is in the imported folder moves with it."""
        if not self.site.pictures_url or NOT_RELATIVE.match(url) or url.startswith("/"):
            return super().change_picture(url, is_shown=is_shown)
        below = os.path.normpath(self.path.parent.relative_to(self.folder.root) / _decoded_path(url))
        is_outside = below.startswith(os.path.join("..", ""))
        if is_outside or not os.path.lexists(self.folder.root / below):
            return self.resolve_file(url)
        return f"{self.site.pictures_url}/{quote(Path(below).as_posix(), errors='replace')}"

    def resolve_file(self, url: str) -> str:
        """Return the absolute URL of a file that the article shows. Note one that depends on how the site is built."""
        is_beside_file = not NOT_RELATIVE.match(url) and not url.startswith(("/", "../"))
        if is_beside_file and self.base and not self.is_index:
            self.article.note(GUESSED_MEDIA, url, "Check them.", Subject.OLD_SITE)
        return super().resolve_file(url)

    def _find_article(self, *paths: Path) -> Path | None:
        """Return the first of these files that is an article of the folder, or None."""
        files = filter(None, map(self.folder.find, paths))
        return next(filter(self.folder.slug_of, files), None)


def _decoded_path(url: str) -> str:
    """Return the path of a URL in HTML."""
    return unquote(unescape(re.split("[?#]", url, maxsplit=1)[0]))


def _files_of(page: str) -> list[Path]:
    """Return the files that a page may be built from, such as `page.md` or `page/index.md`."""
    return [Path(f"{page}{end}{suffix}") for end in ("", "/index") for suffix in ARTICLE_SUFFIXES]
