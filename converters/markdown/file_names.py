"""Metadata in file and folder names: dates, slugs, languages, and Jekyll's categories."""

import re
from pathlib import Path
from typing import Any
from unicodedata import normalize
from urllib.parse import quote

from converters.dates import parse_written_date
from converters.field_mapping import FilePlace
from converters.field_names import FIELD_BY_ALIAS, find_value, plain_name

ARTICLE_SUFFIXES = (".html", ".md", ".markdown")
ENDINGS = re.compile(r"(?:\.(?:html|md|markdown))+\Z", re.IGNORECASE)  # also .html.md
DATED_NAME = re.compile(r"(?:(\d{4}-\d\d?-\d\d?)-)?(.*)", re.DOTALL)  # 2026-03-01-spring-menu
LANGUAGE_NAME = re.compile(r"(.+)\.[a-z]{2}(?:[-_][a-z0-9]{2,8})?", re.IGNORECASE)  # index.de, index.pt-br
JEKYLL_FOLDERS = ("_posts", "_drafts")  # the only folders named _* that contain articles


def read_place(path: Path, root: Path) -> FilePlace:
    """Return what a file's path says about its article. `root` is the imported folder."""
    date, slug = parse_name(path)
    is_draft = "_drafts" in (*path.absolute().parent.parts, *path.resolve().parent.parts)
    folders = root.absolute().name, *path.parent.relative_to(root).parts
    is_in_jekyll = any(name in JEKYLL_FOLDERS for name in folders)
    return FilePlace(date, slug, url_folder(path, root), is_draft, is_in_jekyll)


def parse_name(path: Path) -> tuple[str, str]:
    """Return the date and the slug in a file's name. An `index` file takes its folder's name."""
    name = path.absolute().parent.name if is_index(path) else _stem(path)
    name = normalize("NFC", name.encode(errors="replace").decode())
    date, slug = DATED_NAME.findall(name)[0]
    try:
        parse_written_date(date)
    except ValueError:  # no date, or digits such as 2026-99-99
        return "", name
    return date, slug


def origin_key(path: Path, root: Path) -> str:
    """Return the path of an article's file below the imported folder, without its ending.

    A draft that is finished keeps it: `_drafts/soup.md` and `_posts/soup.md` are both `soup`.
    """
    folders = [name for name in path.parent.relative_to(root).parts if name not in JEKYLL_FOLDERS]
    return normalize("NFC", "/".join([*folders, path.stem]).encode(errors="replace").decode())


def is_index(path: Path) -> bool:
    """Return whether a file is the page of its folder, such as index.md or index.de.md."""
    language = LANGUAGE_NAME.fullmatch(_stem(path))
    return (language[1] if language else _stem(path)) == "index"


def is_translation(path: Path) -> bool:
    """Return whether a file is a translation, such as soup.de.md beside soup.md."""
    match = LANGUAGE_NAME.fullmatch(_stem(path))
    return match is not None and any(path.with_name(match[1] + suffix).is_file() for suffix in ARTICLE_SUFFIXES)


def url_folder(path: Path, root: Path) -> str:
    """Return the folder of a file's page below the site's URL, with a trailing slash, or ""."""
    names = [name for name in path.parent.relative_to(root).parts if name not in JEKYLL_FOLDERS]
    return "".join(f"{quote(name, errors='replace')}/" for name in names)


def apply_jekyll_rules(path: Path, root: Path, place: FilePlace, fields: dict[str, Any]) -> None:
    """Add what Jekyll takes from a post's path: the title, and the folders above `_posts` as categories.

    `place` is what `read_place` returns for the path. Tags and categories in text without a separator are split at
    spaces.
    """
    folders = path.parent.relative_to(root).parts
    if place.is_in_jekyll or (place.date and find_value(fields, "layout")):
        for name, value in fields.items():
            is_list = plain_name(name) in ("tags", "categories") and isinstance(value, str)
            if is_list and not re.search("[,|]", value):
                fields[name] = value.split()
        if not any(value and FIELD_BY_ALIAS.get(plain_name(name)) == "title" for name, value in fields.items()):
            fields["title"] = " ".join(map(str.capitalize, place.slug.split("-")))
    above = folders[: folders.index("_posts")] if "_posts" in folders else ()
    if not (find_value(fields, "category") or find_value(fields, "categories")):
        fields["categories"] = [name for name in above if not name.startswith("_")]


def _stem(path: Path) -> str:
    """Return a file's name without its endings."""
    return ENDINGS.sub("", path.name)
