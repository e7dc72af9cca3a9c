"""Links from one article file to others, and to pages whose URL depends on how the site was built."""

import os
import re
from pathlib import Path
from urllib.parse import quote, unquote, urljoin

from content.urls import NOT_RELATIVE
from converters.markdown.file_names import ARTICLE_SUFFIXES, is_index, url_folder
from converters.markdown.folders import Folder
from converters.records import Note
from converters.relative_urls import GUESSED_MEDIA, is_beside_file, is_source_file

BROKEN = "Broken links to files that were not imported"
GUESSED = "Relative links whose target depends on how your site is built"


class LinkResolver:
    """The links of one file."""

    def __init__(self, folder: Folder, path: Path, site: str, slug: str) -> None:
        """`slug` is that of the file's own article."""
        self.folder = folder
        self.path = path
        self.site = site.rstrip("/")
        self.is_index = is_index(path)
        # Pages are folders on the built site, so ../other/ is a page beside this one.
        page = "" if self.is_index else f"{quote(slug)}/"
        self.page_url = f"{self.site}/{url_folder(path, folder.root)}{page}"
        self.notes: list[Note] = []  # links to check

    def resolve(self, attribute: str, url: str) -> str:
        """Return the URL that a link leads to on the site, or `url` if its target is unknown."""
        if NOT_RELATIVE.match(url):
            return url
        if attribute != "href":
            if self.site and not self.is_index and is_beside_file(url):
                self.notes.append(Note(GUESSED_MEDIA, url[:80], advice="Check them."))
            return url
        target = re.split("[?#]", url, maxsplit=1)[0]
        slug = None
        if target.lower().endswith((*ARTICLE_SUFFIXES, ".mdx")):
            slug = self._find_slug(unquote(target))
            if not slug and is_source_file(url):
                self.notes.append(Note(BROKEN, url[:80]))
        if not self.site:
            return url
        return f"{self.site}/{quote(slug)}{url[len(target) :]}" if slug else self._resolve_page(url, target)

    def _resolve_page(self, url: str, target: str) -> str:
        """Return the URL of a page that is relative to this one, and note a link whose target is unclear."""
        is_in_own_folder = self.is_index and not target.startswith("../")
        if target.startswith("/") or is_source_file(url) or is_in_own_folder:
            return url
        page = self.path.parent if self.is_index else self.path.with_suffix("")
        if not self._has_article(os.path.abspath(page / unquote(target))):
            self.notes.append(Note(GUESSED, url[:80], advice="Check them."))
        return urljoin(self.page_url, url) if target.startswith("../") else url

    def _has_article(self, page: str) -> bool:
        """Return whether a page is built from an article's file, such as `page.md` or `page/index.md`."""
        files = [Path(f"{page}{end}{suffix}") for end in ("", "/index") for suffix in ARTICLE_SUFFIXES]
        return any(map(self._slug_at, files))

    def _find_slug(self, target: str) -> str | None:
        """Return the slug of the article in an imported file, or None.

        A target may be relative to the file, to the imported folder, or to the folder above, as in /blog/first.md.
        """
        root = self.folder.root
        below = target.lstrip("/")
        paths = [self.path.parent / target, root / below, root.absolute().parent / below]
        return next(filter(None, map(self._slug_at, paths)), None)

    def _slug_at(self, path: Path) -> str | None:
        file = self.folder.find(path)
        return self.folder.slug_of(file) if file else None
