"""Files and folders of Markdown and HTML with front matter, as Astro, Hugo, Jekyll and Eleventy read them."""

from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from converters.articles import (
    ConvertedItems,
    IgnoredItem,
    ImportProblem,
    SourceArticle,
    SourceError,
    SourceOptions,
    unreadable_problem,
)
from converters.field_mapping import map_fields
from converters.front_matter import NoFrontMatterError, field_value, parse_front_matter
from converters.leftover_markup import note_raw_markdown
from converters.markdown.file_names import ARTICLE_SUFFIXES, apply_jekyll_rules, is_translation, read_place
from converters.markdown.folders import Folder, FolderContents
from converters.markdown.links import FileUrls, file_origin
from converters.markdown.rendering import render_markdown
from converters.markdown.templates import resolve_templates

__all__ = ["ARTICLE_SUFFIXES", "read_folder", "render_markdown"]

ARTICLE_FILE = "An article is a .md, .markdown or .html file that begins with front matter (---)."
NO_TITLE = "Missing. Add a title or, if this is not an article, prefix the file name with _."

# Takes the path, the fields and the text of a file. Returns its article if it is a file of this service, otherwise None
ReadOwnFile = Callable[[str, dict[str, Any], str, SourceOptions], SourceArticle | None]


def read_folder(source: str, options: SourceOptions, read_own: ReadOwnFile) -> ConvertedItems:
    """Yield the articles of a file, or of the files in a folder and its subfolders."""
    folder = Folder(source)
    contents = FolderContents([Path(source)], []) if folder.is_file else folder.contents
    skipped: Counter[str] = Counter()
    has_others = False  # articles or problems
    read = (_read_file(path, folder, options, read_own) for path in contents.paths)
    for item in chain(read, contents.ignored):
        if isinstance(item, IgnoredItem):
            skipped[item.detail] += 1
        else:
            has_others = True
        yield item
    if not has_others:
        kinds = ", ".join(f"{detail} ({count})" for detail, count in skipped.items())
        yield ImportProblem(source, f"Contains no articles. {ARTICLE_FILE}{f' Skipped: {kinds}.' if kinds else ''}")


def _read_file(
    path: Path, folder: Folder, options: SourceOptions, read_own: ReadOwnFile
) -> SourceArticle | IgnoredItem | ImportProblem:
    """Return the article of a file, or why it has none."""
    try:
        if not path.is_file():  # reading a named pipe would block forever
            raise SourceError("It is not a regular file. Move it out of the folder.")
        fields, text = parse_front_matter(path.read_bytes())
        own_article = read_own(str(path), fields, text, options)
        if own_article:
            return own_article
        if not field_value(fields, "slug") and is_translation(path):
            return folder.ignored_item(path, "translations (to import one, give it a slug)")
        return _convert(path, folder, fields, text, options)
    except NoFrontMatterError as error:
        return folder.ignored_item(path, error.kind)
    except (SourceError, OSError) as error:
        return unreadable_problem(str(path), error)


def _convert(path: Path, folder: Folder, fields: dict[str, Any], text: str, options: SourceOptions) -> SourceArticle:
    """Return the article of a file's front matter and text."""
    place = read_place(path, folder.root)
    apply_jekyll_rules(path, folder.root, place, fields)
    text = resolve_templates(text)
    is_markdown = path.suffix.lower() != ".html"
    fields["contentHtml"] = render_markdown(text) if is_markdown else text.removesuffix("\n")
    article = map_fields(str(path), fields, options, place)
    article.origin = file_origin(path, folder, options)
    FileUrls(article, folder, path, options).change()
    if is_markdown:
        note_raw_markdown(article)
    if "title" not in article.fields and "title" not in article.names:
        article.reject("title", NO_TITLE)
    return article
