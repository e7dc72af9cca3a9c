"""Article files, and folders of them, as this service, Astro, Hugo, Jekyll and Eleventy have them."""

import os
import re
from datetime import tzinfo
from functools import cached_property
from pathlib import Path
from typing import Any
from unicodedata import normalize
from urllib.parse import quote, unquote, urljoin

from content.urls import ABSOLUTE_URL, change_urls
from converters.dates import parse_date, parse_written_date
from converters.front_matter import IMPORT_FIELDS, NoFrontMatterError, parse_front_matter, parse_scalars
from converters.markdown import render_markdown
from converters.normalize import normalize_article
from converters.records import (
    DATES,
    Converted,
    IgnoredItem,
    Mistake,
    SourceArticle,
    SourceError,
    SourceOptions,
    mistake,
)
from converters.site_urls import is_source_file
from converters.slugs import normalize_slug

SUFFIXES = (".html", ".md", ".markdown")
PICTURES = (
    *(".apng", ".avif", ".bmp", ".gif", ".heic", ".heif", ".ico", ".jfif", ".jpeg", ".jpg"),
    *(".jxl", ".png", ".svg", ".tif", ".tiff", ".webp"),
)
DATED_NAME = re.compile(r"(?:(\d{4}-\d\d?-\d\d?)-)?(.*)", re.DOTALL)
ELEVENTY_DATA = re.compile(r"(.*?)(?:\.11tydata)?\.(?:json|js|cjs|mjs)")
# ISO 639-1, followed by a script or region in names such as index.pt-br.md
LANGUAGES = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo
es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg
ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn
no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta
te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
LANGUAGE_NAME = re.compile(rf"(.+)\.(?:{'|'.join(LANGUAGES.split())})(?:[-_][a-z0-9]{{2,8}})*", re.IGNORECASE)
ELEVENTY = "Data files of Eleventy, which were not applied to their posts"
NOT_IMPORTED = "Files that were not imported"


def read_folder(source: str, options: SourceOptions) -> Converted:
    """Yield the articles of a file, or of the files in a folder and its folders."""
    folder = _Folder(source, options)
    has_articles = False
    for path in [Path(source)] if folder.is_file else folder.paths:
        item = folder.read(path)
        has_articles |= not isinstance(item, IgnoredItem)
        yield item
    if not folder.is_file:
        yield from folder.others
    if not has_articles:
        found = "It is not imported" if folder.is_file else "It has no article files"
        reason = f"{found}: an article is a .md, .markdown or .html file with front matter between two lines ---."
        yield Mistake(source, reason)


def own_article(where: str, fields: dict[str, Any], content: str, zone: tzinfo) -> SourceArticle:
    """Return the article of one of this service's own files, which is taken verbatim.

    `fields` and `content` are as `parse_front_matter` returns them; `zone` is for times without one.
    """
    html = content.removesuffix("\n")  # the last line feed belongs to the file
    article = SourceArticle(where, parse_scalars(fields) | {"contentHtml": html})
    for name in fields.keys() & DATES:
        if fields[name] is not None:
            try:
                article.fields[name] = parse_date(str(fields[name]), zone).isoformat()
            except ValueError as error:
                article.reject(name, str(error), fields[name])
    return article


class _Folder:
    """The folder of a source, with the files that may be articles and link to each other."""

    def __init__(self, source: str, options: SourceOptions) -> None:
        self.is_file = not os.path.isdir(source)
        self.root = Path(source).parent if self.is_file else Path(source)
        self.options = options
        self.others: list[IgnoredItem | Mistake] = []  # what else is in the folder
        self._slugs: dict[Path, str | None] = {}

    @cached_property
    def paths(self) -> list[Path]:
        """The files that may be articles, in the order of their names."""
        unreadable: list[OSError] = []
        paths = []
        for folder, folders, names in os.walk(self.root, onerror=unreadable.append):
            self._choose_folders(folder, folders)
            if self.is_file:
                folders.clear()
            paths += [Path(folder, name) for name in sorted(names) if self._is_article_file(Path(folder, name))]
        self.others += [mistake(error.filename, error) for error in unreadable]
        return paths

    @cached_property
    def files(self) -> dict[str, Path]:
        """The same files by their absolute paths in NFC: file systems and texts differ in how they compose letters."""
        return {_nfc(path): path for path in self.paths}

    def _choose_folders(self, folder: str, folders: list[str]) -> None:
        """Leave those folders in the list that may contain articles."""
        chosen = []
        for name in sorted(folders):
            if os.path.islink(os.path.join(folder, name)):
                self._ignore(Path(folder, name), "folders that are links", "folder")
            elif name.startswith("_") and name not in ("_posts", "_drafts"):
                self._ignore(Path(folder, name), "folders named _*", "folder")
            elif not name.startswith("."):
                chosen.append(name)
        folders[:] = chosen

    def _is_article_file(self, path: Path) -> bool:
        suffix = path.suffix.lower()
        if path.name.startswith(".") or suffix in PICTURES:
            return False
        if path.name.startswith("_"):
            self._ignore(path, "files named _*")
        elif suffix in SUFFIXES:
            return True
        elif self._is_eleventy_data(path):
            name = path.relative_to(self.root).as_posix()
            self.others.append(IgnoredItem(ELEVENTY, "", name, "file"))
        else:
            self._ignore(path, suffix or "no extension")
        return False

    def _ignore(self, path: Path, detail: str, unit: str = "file") -> None:
        self.others.append(self._ignored(path, detail, unit))

    def _ignored(self, path: Path, detail: str, unit: str = "file") -> IgnoredItem:
        return IgnoredItem(NOT_IMPORTED, path.relative_to(self.root).as_posix(), detail, unit)

    def _is_eleventy_data(self, path: Path) -> bool:
        """Return whether a file has data for the files of its folder, or for one of them."""
        match = ELEVENTY_DATA.fullmatch(path.name)
        if not match or (path.suffix != ".json" and ".11tydata." not in path.name):
            return False
        posts = [path.with_name(match[1] + suffix) for suffix in SUFFIXES]
        return ".11tydata." in path.name or match[1] == path.absolute().parent.name or any(map(Path.is_file, posts))

    def read(self, path: Path) -> SourceArticle | IgnoredItem | Mistake:
        """Return the article of a file, or why it has none."""
        try:
            if not path.is_file():  # reading a named pipe would block forever
                raise SourceError("It is not a file that can be read. Move it elsewhere.")
            data = path.read_bytes()
            if data.startswith(b"---js"):  # Eleventy has ---js and ---json
                return self._ignored(path, "front matter in JavaScript or JSON")
            fields, content = parse_front_matter(data)
            if not fields.get("slug") and _is_translation(path):
                return self._ignored(path, "translations (to import one, give it a slug)")
            return self._convert(path, fields, content)
        except NoFrontMatterError:
            return self._ignored(path, "no front matter")
        except (SourceError, OSError) as error:
            return mistake(str(path), error)

    def _convert(self, path: Path, fields: dict[str, Any], content: str) -> SourceArticle:
        is_html = path.suffix.lower() == ".html"
        folders = _folders(path, self.root)
        # An export writes HTML with a title, a slug, and no field that an import does not know.
        if is_html and {"title", "slug"} <= fields.keys() <= IMPORT_FIELDS.keys() and isinstance(fields["slug"], str):
            article = own_article(str(path), fields, content, self.options.zone)
            return _as_draft(article) if "_drafts" in folders else article
        date, slug = _parse_name(path)
        _apply_jekyll(folders, fields, is_dated=bool(date))
        links = _Links(self, path, slug=normalize_slug(str(fields.get("slug") or slug)))
        html = content.removesuffix("\n") if is_html else render_markdown(content)
        fields["contentHtml"] = change_urls(html, links.change)
        article = normalize_article(
            str(path), fields, self.options, date=date, slug=slug, folder=_url_folder(path, self.root)
        )
        links.note(article)
        return _as_draft(article) if "_drafts" in folders else article

    def find(self, path: str) -> Path | None:
        """Return the article file with a path, in NFC."""
        return self.files.get(_nfc(Path(path)))

    def slug_of(self, path: Path) -> str | None:
        """Return the slug of another file's article, or None if it is not imported."""
        if path not in self._slugs:
            try:
                fields, _ = parse_front_matter(path.read_bytes())
                slug = None if _is_translation(path) else _parse_name(path)[1]
                self._slugs[path] = normalize_slug(str(fields.get("slug") or slug or "")) or None
            except (SourceError, OSError):  # not an article, or the report names it when it is read
                self._slugs[path] = None
        return self._slugs[path]


class _Links:
    """The links of one file to other files and to pages beside its own."""

    def __init__(self, folder: _Folder, path: Path, slug: str) -> None:
        self.folder, self.path = folder, path
        self.site = folder.options.site.rstrip("/")
        # Pages are folders on the built site, so ../other/ is a page beside this one.
        page = "" if path.stem == "index" else f"{quote(slug)}/"
        self.page = f"{self.site}/{_url_folder(path, folder.root)}{page}"
        self.missing: dict[str, None] = {}
        self.guessed: dict[str, None] = {}

    def change(self, attribute: str, url: str) -> str:
        """Return the URL that a link leads to on the site, or the same URL if it is not known."""
        if attribute != "href" or ABSOLUTE_URL.match(url):
            return url
        target = re.split("[?#]", url, maxsplit=1)[0]
        if target.lower().endswith((*SUFFIXES, ".mdx")):
            slug = self._find_slug(unquote(target))
            if slug and self.site:
                return f"{self.site}/{quote(slug)}{url[len(target) :]}"
            if not slug and is_source_file(url):
                self.missing[url] = None
        elif target.startswith("../") and self.site:
            file = self._file_beside(target)
            if not self._find_slug(*(f"{file}{end}{suffix}" for suffix in SUFFIXES for end in ("", "/index"))):
                self.guessed[url] = None
            return urljoin(self.page, url)
        return url

    def _file_beside(self, target: str) -> str:
        """Return the path of the file, without its extension, whose page is beside this one's."""
        page = self.path.parent if self.path.stem == "index" else self.path.with_suffix("")
        return os.path.abspath(page / unquote(target))

    def _find_slug(self, *targets: str) -> str | None:
        """Return the slug of the first target that is imported.

        A path may be relative to the file, to the imported folder, or to the folder above, as in /blog/first.md.
        """
        root = self.folder.root
        for target in targets:
            below = target.lstrip("/")
            for path in (self.path.parent / target, root / below, root.absolute().parent / below):
                file = self.folder.find(os.path.abspath(path))
                if file and (slug := self.folder.slug_of(file)):
                    return slug
        return None

    def note(self, article: SourceArticle) -> None:
        for url in self.missing:
            article.note("Links to files that were not imported, which lead nowhere", url[:80])
        for url in self.guessed:
            article.note("Links beginning with ../, completed as if each page were a folder of the site", url[:80])


def _nfc(path: Path) -> str:
    return normalize("NFC", os.path.abspath(path))


def _as_draft(article: SourceArticle) -> SourceArticle:
    article.fields["status"] = "draft"
    return article


def _folders(path: Path, root: Path) -> tuple[str, ...]:
    """Return the names of a file's folders, from the imported folder down."""
    return (root.absolute().name, *path.parent.relative_to(root).parts)


def _apply_jekyll(folders: tuple[str, ...], fields: dict[str, Any], *, is_dated: bool) -> None:
    """Split Jekyll's lists of words, and take the category from the folder above `_posts`."""
    if "_posts" in folders or (is_dated and "layout" in fields):
        for name in fields.keys() & {"tags", "categories"}:
            if isinstance(fields[name], str) and "," not in fields[name]:
                fields[name] = fields[name].split()
    above = folders[1 : folders.index("_posts")] if "_posts" in folders else ()
    if above and not (fields.get("category") or fields.get("categories")):
        fields["category"] = above[0]


def _url_folder(path: Path, root: Path) -> str:
    """Return the folder of a file's page below the site's URL, with a slash at its end, or ""."""
    names = [name for name in path.parent.relative_to(root).parts if name not in ("_posts", "_drafts")]
    return "".join(f"{quote(name, errors='replace')}/" for name in names)


def _is_translation(path: Path) -> bool:
    """Return whether a file is the translation of the same file without a language in its name."""
    match = LANGUAGE_NAME.fullmatch(path.stem)
    return match is not None and any(path.with_name(match[1] + suffix).is_file() for suffix in SUFFIXES)


def _parse_name(path: Path) -> tuple[str, str]:
    """Return the date and the slug that a file's name has; that of an `index` file is its folder's."""
    language = LANGUAGE_NAME.fullmatch(path.stem)
    is_index = path.stem == "index" or (language and language[1] == "index")
    name = path.absolute().parent.name if is_index else path.stem
    name = normalize("NFC", name.encode(errors="replace").decode())
    date, slug = DATED_NAME.findall(name)[0]
    try:
        parse_written_date(date)
    except ValueError:  # none, or a number such as 2026-99-99
        return "", name
    return date, slug
