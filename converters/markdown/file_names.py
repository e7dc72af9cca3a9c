"""Metadata in file and folder names: dates, slugs, languages, and Jekyll's categories."""

import re
from pathlib import Path
from typing import Any
from unicodedata import normalize
from urllib.parse import quote

from converters.dates import parse_written_date
from converters.field_mapping import FilePlace
from converters.field_names import FIELD_BY_ALIAS, plain_name
from converters.front_matter import field_value

ARTICLE_SUFFIXES = (".html", ".md", ".markdown")
ENDINGS = re.compile(r"(?:\.(?:html|md|markdown))+\Z", re.IGNORECASE)  # also .html.md
DATED_NAME = re.compile(r"(?:(\d{4}-\d\d?-\d\d?)-)?(.*)", re.DOTALL)  # 2026-03-01-spring-menu
# ISO 639-1. Without this list, node.js.md would be a translation of node.md.
# A script or region may follow, as in index.pt-br.md.
LANGUAGES = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo
es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg
ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn
no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta
te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
LANGUAGE_NAME = re.compile(rf"(.+)\.(?:{'|'.join(LANGUAGES.split())})(?:[-_][a-z0-9]{{2,8}})*", re.IGNORECASE)
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


def _stem(path: Path) -> str:
    """Return a file's name without its endings."""
    return ENDINGS.sub("", path.name)


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

    `place` is what `read_place` returns for the path. Tags and categories in text without a comma are split at spaces.
    """
    folders = path.parent.relative_to(root).parts
    if place.is_in_jekyll or (place.date and field_value(fields, "layout")):
        for name, value in fields.items():
            if plain_name(name) in ("tags", "categories") and isinstance(value, str) and "," not in value:
                fields[name] = value.split()
        if not any(value and FIELD_BY_ALIAS.get(plain_name(name)) == "title" for name, value in fields.items()):
            fields["title"] = " ".join(map(str.capitalize, place.slug.split("-")))
    above = folders[: folders.index("_posts")] if "_posts" in folders else ()
    if not (field_value(fields, "category") or field_value(fields, "categories")):
        fields["categories"] = [name for name in above if not name.startswith("_")]
