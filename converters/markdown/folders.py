"""Folders of article files: which files may be articles, and which are ignored and reported."""

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from converters.articles import IgnoredItem, ImportProblem, SourceError, unreadable_problem
from converters.front_matter import field_value, parse_front_matter
from converters.markdown.file_names import ARTICLE_SUFFIXES, JEKYLL_FOLDERS, is_translation, parse_name
from converters.media_suffixes import PICTURE_SUFFIXES
from converters.slugs import normalize_slug

NOT_APPLIED = "Section pages and directory data, whose settings were not applied"
SKIPPED = "Skipped files"


class FolderContents(NamedTuple):
    """The files of a folder and its subfolders."""

    paths: list[Path]  # of the files that may be articles, sorted by name within a folder
    ignored: list[IgnoredItem | ImportProblem]  # other files and folders, but neither hidden ones nor pictures


class Folder:
    """The folder of a source."""

    def __init__(self, source: str) -> None:
        self.is_file = not os.path.isdir(source)
        self.root = Path(source).parent if self.is_file else Path(source)
        self._slugs: dict[Path, str | None] = {}

    @cached_property
    def contents(self) -> FolderContents:
        """The contents of the folder. If the source is a file, those of its subfolders are left out."""
        contents = FolderContents([], [])
        errors: list[OSError] = []
        for folder, folders, names in os.walk(self.root, onerror=errors.append):
            contents.ignored.extend(self._prune_folders(folder, folders))
            if self.is_file:
                folders.clear()
            for path in (Path(folder, name) for name in sorted(names)):
                if path.name.startswith(".") or path.suffix.lower() in PICTURE_SUFFIXES:
                    continue
                item = self._ignore_file(path)
                if item:
                    contents.ignored.append(item)
                else:
                    contents.paths.append(path)
        contents.ignored.extend(unreadable_problem(error.filename, error, is_fatal=True) for error in errors)
        return contents

    @cached_property
    def _by_path(self) -> dict[str, Path]:
        """The files that may be articles, by their absolute paths in NFC.

        File systems and text may use different Unicode normalization forms.
        """
        return {_nfc(path): path for path in self.contents.paths}

    def find(self, path: Path) -> Path | None:
        """Return the file at `path`, in any normalization form, or None."""
        return self._by_path.get(_nfc(path))

    def slug_of(self, path: Path) -> str | None:
        """Return the slug of a file's article, or None if it is not imported."""
        if path not in self._slugs:
            try:
                fields, _ = parse_front_matter(path.read_bytes())
                slug = None if is_translation(path) else parse_name(path)[1]
                self._slugs[path] = normalize_slug(str(field_value(fields, "slug") or slug or "")) or None
            except (SourceError, OSError):  # not an article, or an error that is reported when it is read
                self._slugs[path] = None
        return self._slugs[path]

    def ignored_item(self, path: Path, detail: str, unit: str = "file") -> IgnoredItem:
        """Return a file or folder as an item that is not imported. `detail` says why."""
        return IgnoredItem(SKIPPED, path.relative_to(self.root).as_posix(), detail, unit)

    def _prune_folders(self, folder: str, folders: list[str]) -> Iterator[IgnoredItem]:
        """Remove folders that cannot contain articles, in place. Yield them, except hidden ones."""
        for name in sorted(folders):
            path = Path(folder, name)
            if path.is_symlink():
                yield self.ignored_item(path, "symbolic links to folders", "folder")
            elif name.startswith("_") and name not in JEKYLL_FOLDERS:
                yield self.ignored_item(path, "folders whose names begin with _", "folder")
            elif not name.startswith("."):
                continue
            folders.remove(name)
        folders.sort()

    def _ignore_file(self, path: Path) -> IgnoredItem | None:
        """Return a file as an item that is not imported, or None if it may be an article."""
        suffix = path.suffix.lower()
        if path.stem == "_index" or (suffix not in ARTICLE_SUFFIXES and _is_data_file(path)):
            return IgnoredItem(NOT_APPLIED, "", path.relative_to(self.root).as_posix(), "file")
        if path.name.startswith("_"):
            return self.ignored_item(path, "names that begin with _")
        return None if suffix in ARTICLE_SUFFIXES else self.ignored_item(path, suffix or "no extension")


def _is_data_file(path: Path) -> bool:
    """Return whether a file has Eleventy's data for a post or for the posts of its folder."""
    if ".11tydata." in path.name:
        return True
    posts = [path.with_suffix(suffix) for suffix in ARTICLE_SUFFIXES]
    is_named_like_posts = path.stem == path.absolute().parent.name or any(map(Path.is_file, posts))
    return path.suffix == ".json" and is_named_like_posts


def _nfc(path: Path) -> str:
    return normalize("NFC", os.path.abspath(path))
