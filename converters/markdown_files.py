"""Article files, and folders of them, in the formats of this service, Astro, Hugo, Jekyll and Eleventy."""

from collections import Counter
from datetime import tzinfo
from itertools import chain
from pathlib import Path
from typing import Any

from content.urls import change_urls
from converters.dates import parse_date
from converters.file_links import FileLinks
from converters.file_names import apply_jekyll, folder_names, is_translation, parse_name, url_folder
from converters.folders import Folder
from converters.front_matter import IMPORT_FIELDS, NoFrontMatterError, field_value, parse_front_matter, parse_scalars
from converters.markdown import render_markdown
from converters.normalize import normalize_article
from converters.records import (
    DATE_FIELDS,
    Converted,
    IgnoredItem,
    Mistake,
    SourceArticle,
    SourceError,
    SourceOptions,
    unreadable,
)
from converters.slugs import normalize_slug

ARTICLE_FILE = "An article is a .md, .markdown or .html file that begins with front matter (---)."
NO_TITLE = "Missing. Add a title or, if this is not an article, prefix the file name with _."


def read_folder(source: str, options: SourceOptions) -> Converted:
    """Yield the articles of a file, or of the files in a folder and its subfolders."""
    folder = Folder(source)
    paths = [Path(source)] if folder.is_file else folder.paths
    others = [] if folder.is_file else folder.others
    has_articles = False
    skipped: Counter[str] = Counter()
    for item in chain((_read_file(path, folder, options) for path in paths), others):
        if isinstance(item, IgnoredItem):
            skipped[item.detail] += 1
        else:
            has_articles = True
        yield item
    if not has_articles:
        kinds = ", ".join(f"{detail} ({count})" for detail, count in skipped.most_common(5))
        yield Mistake(source, f"Contains no articles. {ARTICLE_FILE}{f' Skipped: {kinds}.' if kinds else ''}")


def own_article(where: str, fields: dict[str, Any], content: str, zone: tzinfo) -> SourceArticle:
    """Return the article of one of this service's own files, which is taken verbatim.

    `fields` and `content` are as `parse_front_matter` returns them; `zone` is for times without one.
    """
    html = content.removesuffix("\n")  # the last line feed belongs to the file
    article = SourceArticle(where, parse_scalars(fields) | {"contentHtml": html})
    for name in fields.keys() & DATE_FIELDS:
        if fields[name] is not None:
            try:
                article.fields[name] = parse_date(str(fields[name]), zone).isoformat()
            except ValueError as error:
                article.reject(name, str(error), fields[name])
    return article


def _read_file(path: Path, folder: Folder, options: SourceOptions) -> SourceArticle | IgnoredItem | Mistake:
    """Return the article of a file, or why it has none."""
    try:
        if not path.is_file():  # reading a named pipe would block forever
            raise SourceError("It is not a regular file. Move it out of the folder.")
        fields, content = parse_front_matter(path.read_bytes())
        if not field_value(fields, "slug") and is_translation(path):
            return folder.ignored(path, "translations (to import one, give it a slug)")
        article = _convert(path, folder, fields, content, options)
    except NoFrontMatterError as error:
        return folder.ignored(path, error.kind)
    except (SourceError, OSError) as error:
        return unreadable(str(path), error)
    if "_drafts" in folder_names(path, folder.root):
        article.fields["status"] = "draft"
    return article


def _convert(path: Path, folder: Folder, fields: dict[str, Any], content: str, options: SourceOptions) -> SourceArticle:
    """Return the article of a file's front matter and content."""
    is_html = path.suffix.lower() == ".html"
    # Our own exports are HTML files with a title, a slug, and only fields of the import schema.
    if is_html and {"title", "slug"} <= fields.keys() <= IMPORT_FIELDS.keys() and isinstance(fields["slug"], str):
        return own_article(str(path), fields, content, options.zone)
    date, slug = parse_name(path)
    apply_jekyll(folder_names(path, folder.root), fields, is_dated=bool(date))
    links = FileLinks(folder, path, options.site, slug=normalize_slug(str(field_value(fields, "slug") or slug)))
    html = content.removesuffix("\n") if is_html else render_markdown(content)
    fields["contentHtml"] = change_urls(html, links.change)
    article = normalize_article(str(path), fields, options, date=date, slug=slug, folder=url_folder(path, folder.root))
    article.notes += links.notes
    if "title" not in article.fields and "title" not in article.names:
        article.reject("title", NO_TITLE)
    return article
