"""Folders of article files: which files may be articles, and which are ignored and reported."""

import os
from functools import cached_property
from pathlib import Path
from unicodedata import normalize

from converters.markdown.file_names import ARTICLE_SUFFIXES, JEKYLL_FOLDERS
from converters.source_articles import IgnoredFile, ImportProblem, unreadable_problem

HIDDEN = "names that begin with _ or ."
DATA = "section pages and directory data, whose settings were not applied"


class Folder:
    """The folder of a source, or the folder of a source that is one file."""

    def __init__(self, source: str) -> None:
        self.is_file = not os.path.isdir(source)
        self.root = Path(source).parent if self.is_file else Path(source)
        self.ignored: list[IgnoredFile | ImportProblem] = []  # complete once `paths` has been read

    @cached_property
    def paths(self) -> list[Path]:
        """The files that may be articles, sorted by name within each folder. For a file, only its folder is read."""
        paths: list[Path] = []
        errors: list[OSError] = []
        for folder, folders, names in os.walk(self.root, onerror=errors.append):
            self._prune_folders(folder, folders)
            if self.is_file:
                folders.clear()
            paths += (path for path in map(Path(folder).joinpath, sorted(names)) if self._may_be_article(path))
        self.ignored += (unreadable_problem(error.filename, error, is_fatal=True) for error in errors)
        return paths

    @cached_property
    def _by_name(self) -> dict[str, Path]:
        """The files by their absolute paths in NFC, since file systems and text may use different Unicode forms."""
        return {_nfc(path): path for path in self.paths}

    def find(self, *paths: Path) -> Path | None:
        """Return the first of these files that may be an article, or None."""
        return next((self._by_name[name] for name in map(_nfc, paths) if name in self._by_name), None)

    def ignore(self, path: Path, reason: str) -> IgnoredFile:
        """Return a file or folder as an item that is not imported."""
        return IgnoredFile(path.relative_to(self.root).as_posix(), reason)

    def _prune_folders(self, folder: str, folders: list[str]) -> None:
        """Remove folders that cannot contain articles, in place, and record them as ignored."""
        for name in sorted(folders):
            path = Path(folder, name)
            is_hidden = name.startswith(("_", ".")) and name not in JEKYLL_FOLDERS
            if path.is_symlink() or is_hidden:
                self.ignored.append(self.ignore(path, HIDDEN if is_hidden else "symbolic links to folders"))
                folders.remove(name)
        folders.sort()

    def _may_be_article(self, path: Path) -> bool:
        """Return whether a file may be an article. If not, record it as ignored, unless it is of another kind."""
        is_article_file = path.suffix.lower() in ARTICLE_SUFFIXES
        if path.stem == "_index" or (not is_article_file and _is_data_file(path)):
            self.ignored.append(self.ignore(path, DATA))
        elif is_article_file and path.name.startswith(("_", ".")):
            self.ignored.append(self.ignore(path, HIDDEN))
        else:
            return is_article_file
        return False


def _is_data_file(path: Path) -> bool:
    """Return whether a file has Eleventy's data for a post or for the posts of its folder."""
    names = (path.with_suffix(suffix) for suffix in ARTICLE_SUFFIXES)
    is_named_like_posts = path.stem == path.absolute().parent.name or any(map(Path.is_file, names))
    return ".11tydata." in path.name or (path.suffix == ".json" and is_named_like_posts)


def _nfc(path: Path) -> str:
    return normalize("NFC", os.path.abspath(path))
