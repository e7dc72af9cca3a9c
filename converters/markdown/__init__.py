"""Files and folders of Markdown and HTML with front matter, as Astro, Hugo, Jekyll and Eleventy read them."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from converters.field_mapping import map_fields
from converters.front_matter import NoFrontMatterError, parse_front_matter
from converters.leftover_markup import note_leftover_markup
from converters.markdown.doubtful_files import mark_doubtful_files
from converters.markdown.file_links import FileUrls, file_origin
from converters.markdown.file_names import ARTICLE_SUFFIXES, apply_jekyll_rules, is_translation, read_place
from converters.markdown.folders import Folder
from converters.markdown.rendering import render_markdown
from converters.markdown.templates import CODE, resolve_templates
from converters.source_articles import (
    ConvertedItems,
    IgnoredFile,
    ImportProblem,
    SourceArticle,
    SourceError,
    SourceOptions,
    unreadable_problem,
)

__all__ = ["ARTICLE_SUFFIXES", "read_folder", "render_markdown"]

ARTICLE_FILE = "An article is a .md, .markdown or .html file that begins with front matter (---)."
NO_TITLE = "Missing. Add a title or, if this is not an article, prefix the file name with _."
CONFLICT_MARKER = re.compile(r"^(?:<{7}|>{7})(?:\s|\Z)", re.MULTILINE)

# Takes the path, the fields and the text of a file. Returns its article if it is a file of this service, otherwise None
ReadOwnFile = Callable[[str, dict[str, Any], str, SourceOptions], SourceArticle | None]


def read_folder(source: str, options: SourceOptions, read_own: ReadOwnFile) -> ConvertedItems:
    """Yield the articles of a file, or of the files in a folder and its subfolders.

    Raises SourceError if there are none.
    """
    folder = Folder(source)
    items: list[SourceArticle | IgnoredFile | ImportProblem] = []
    articles: dict[Path, SourceArticle] = {}  # of other systems
    for path in [Path(source)] if folder.is_file else folder.paths:
        item = _read_file(path, folder, options, read_own)
        items.append(item)
        if isinstance(item, SourceArticle) and item.origin:
            articles[path] = item
    mark_doubtful_files(articles, folder.root)
    items += [] if folder.is_file else folder.ignored
    if all(isinstance(item, IgnoredFile) for item in items):
        counts = Counter(item.reason for item in items if isinstance(item, IgnoredFile))
        found = ", ".join(f"{reason} ({count})" for reason, count in counts.items())
        raise SourceError(f"Contains no articles. {ARTICLE_FILE}{f' Skipped: {found}.' if found else ''}")
    yield from items


def _read_file(
    path: Path, folder: Folder, options: SourceOptions, read_own: ReadOwnFile
) -> SourceArticle | IgnoredFile | ImportProblem:
    """Return the article of a file, or why it has none."""
    try:
        if not path.is_file():  # reading a named pipe would block forever
            raise SourceError("It is not a regular file. Move it out of the folder.")
        data = path.read_bytes()
        _check_conflict_markers(data.decode("utf-8-sig", errors="replace"))
        fields, text = parse_front_matter(data)
        own_article = read_own(str(path), fields, text, options)
        if own_article:
            return own_article
        if is_translation(path):
            return folder.ignore(path, "translations")
        return _convert(path, folder, fields, text, options)
    except NoFrontMatterError:
        return folder.ignore(path, "no front matter")
    except (SourceError, OSError) as error:
        return unreadable_problem(str(path), error)._replace(origin=file_origin(path, folder, options))


def _check_conflict_markers(text: str) -> None:
    """Raise SourceError if a text outside of code has the markers of a merge conflict in Git."""
    if not CONFLICT_MARKER.search(text):
        return
    prose = CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    marker = CONFLICT_MARKER.search(prose)
    if marker:
        raise SourceError("Has a merge conflict (<<<<<<<). Resolve it.", prose.count("\n", 0, marker.start()) + 1)


def _convert(path: Path, folder: Folder, fields: dict[str, Any], text: str, options: SourceOptions) -> SourceArticle:
    """Return the article of a file's front matter and text."""
    place = read_place(path, folder.root)
    apply_jekyll_rules(path, folder.root, place, fields)
    is_html = path.suffix.lower() == ".html"
    fields["contentHtml"] = text.removesuffix("\n") if is_html else render_markdown(resolve_templates(text))
    article = map_fields(str(path), fields, options, place)
    article.origin = file_origin(path, folder, options)
    FileUrls(article, folder, path, options).change()
    note_leftover_markup(article, drop_tags=options.drop_tags)
    if "title" not in article.fields and "title" not in article.names:
        article.reject("title", NO_TITLE)
    return article
