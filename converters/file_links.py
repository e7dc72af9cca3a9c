"""Links from one article file to others, and to pages whose URL depends on how the site was built."""

import os
import re
from pathlib import Path
from urllib.parse import quote, unquote, urljoin

from content.urls import NOT_RELATIVE
from converters.file_names import SUFFIXES, url_folder
from converters.folders import Folder
from converters.records import Note
from converters.site_urls import is_source_file

MISSING = "Broken links to files that were not imported"
GUESSED = "Relative links whose target depends on how your site is built"


class FileLinks:
    """The links of one file."""

    def __init__(self, folder: Folder, path: Path, site: str, slug: str) -> None:
        """`slug` is that of the file's own article."""
        self.folder, self.path, self.site = folder, path, site.rstrip("/")
        # Pages are folders on the built site, so ../other/ is a page beside this one.
        page = "" if path.stem == "index" else f"{quote(slug)}/"
        self.page = f"{self.site}/{url_folder(path, folder.root)}{page}"
        self.notes: list[Note] = []  # links to check

    def change(self, attribute: str, url: str) -> str:
        """Return the URL that a link leads to on the site, or `url` unchanged if its target is unknown."""
        if attribute != "href" or NOT_RELATIVE.match(url):
            return url
        target = re.split("[?#]", url, maxsplit=1)[0]
        if target.lower().endswith((*SUFFIXES, ".mdx")):
            slug = self._find_slug(unquote(target))
            if slug and self.site:
                return f"{self.site}/{quote(slug)}{url[len(target) :]}"
            if not slug and is_source_file(url):
                self.notes.append(Note(MISSING, url[:80]))
        return self._resolve(url, target) if self.site and not target.startswith("/") else url

    def _resolve(self, url: str, target: str) -> str:
        """Resolve the relative URL of a page outside this page's folder, and note a link whose target is unclear."""
        is_index = self.path.stem == "index"
        if is_source_file(url) or (is_index and not target.startswith("../")):
            return url
        page = self.path.parent if is_index else self.path.with_suffix("")
        file = os.path.abspath(page / unquote(target))
        if not any(self._slug_at(Path(f"{file}{end}{suffix}")) for suffix in SUFFIXES for end in ("", "/index")):
            self.notes.append(Note(GUESSED, url[:80], advice="Check them."))
        return urljoin(self.page, url) if target.startswith("../") else url

    def _find_slug(self, target: str) -> str | None:
        """Return the slug of the article in an imported file, or None.

        A target may be relative to the file, to the imported folder, or to the folder above, as in /blog/first.md.
        """
        root, below = self.folder.root, target.lstrip("/")
        paths = self.path.parent / target, root / below, root.absolute().parent / below
        return next(filter(None, map(self._slug_at, paths)), None)

    def _slug_at(self, path: Path) -> str | None:
        file = self.folder.find(path)
        return self.folder.slug_of(file) if file else None
