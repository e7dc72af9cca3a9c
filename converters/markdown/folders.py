"""Folders of article files: which files may be articles, and which are ignored and reported."""

import os
from functools import cached_property
from pathlib import Path
from unicodedata import normalize

from converters.front_matter import field_value, parse_front_matter
from converters.markdown.file_names import ARTICLE_SUFFIXES, JEKYLL_FOLDERS, is_translation, parse_name
from converters.media_suffixes import PICTURE_SUFFIXES
from converters.records import IgnoredItem, Mistake, SourceError, unreadable_mistake
from converters.slugs import normalize_slug

NOT_APPLIED = "Data files, which were not applied"
SKIPPED = "Skipped files"


class Folder:
    """The folder of a source, with the files that may be articles."""

    def __init__(self, source: str) -> None:
        self.is_file = not os.path.isdir(source)
        self.root = Path(source).parent if self.is_file else Path(source)
        self.others: list[IgnoredItem | Mistake] = []  # what else is in the folder
        self._slugs: dict[Path, str | None] = {}

    @cached_property
    def paths(self) -> list[Path]:
        """The files that may be articles, sorted by name."""
        errors: list[OSError] = []
        paths = []
        for folder, folders, names in os.walk(self.root, onerror=errors.append):
            self._prune_folders(folder, folders)
            if self.is_file:
                folders.clear()
            paths += [Path(folder, name) for name in sorted(names) if self._is_article_file(Path(folder, name))]
        self.others += [unreadable_mistake(error.filename, error, is_fatal=True) for error in errors]
        return paths

    @cached_property
    def _by_path(self) -> dict[str, Path]:
        """The same files, keyed by their absolute paths in NFC.

        File systems and text may use different Unicode normalization forms.
        """
        return {_nfc(path): path for path in self.paths}

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

    def _prune_folders(self, folder: str, folders: list[str]) -> None:
        """Remove folders that cannot contain articles, in place."""
        chosen = []
        for name in sorted(folders):
            path = Path(folder, name)
            if path.is_symlink():
                self.others.append(self.ignored_item(path, "symbolic links to folders", "folder"))
            elif name.startswith("_") and name not in JEKYLL_FOLDERS:
                self.others.append(self.ignored_item(path, "folders whose names begin with _", "folder"))
            elif not name.startswith("."):
                chosen.append(name)
        folders[:] = chosen

    def _is_article_file(self, path: Path) -> bool:
        """Return whether a file may be an article. If not, add it to `others`, unless it is hidden or a picture."""
        suffix = path.suffix.lower()
        if path.name.startswith(".") or suffix in PICTURE_SUFFIXES:
            return False
        if _has_data_for_others(path):
            self.others.append(IgnoredItem(NOT_APPLIED, "", path.relative_to(self.root).as_posix(), "file"))
        elif path.name.startswith("_"):
            self.others.append(self.ignored_item(path, "names that begin with _"))
        elif suffix in ARTICLE_SUFFIXES:
            return True
        else:
            self.others.append(self.ignored_item(path, suffix or "no extension"))
        return False


def _has_data_for_others(path: Path) -> bool:
    """Return whether a file is Hugo's `_index.md`, or has Eleventy's data for a post or for the posts of its folder."""
    if path.suffix != ".json":
        return path.stem == "_index" or ".11tydata." in path.name
    posts = [path.with_suffix(suffix) for suffix in ARTICLE_SUFFIXES]
    return ".11tydata." in path.name or path.stem == path.absolute().parent.name or any(map(Path.is_file, posts))


def _nfc(path: Path) -> str:
    return normalize("NFC", os.path.abspath(path))
