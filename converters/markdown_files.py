"""Article files, and folders of them, in the formats of this service, Astro, Hugo, Jekyll and Eleventy."""

from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from content.urls import change_urls
from converters.file_links import FileLinks
from converters.file_names import apply_jekyll, folder_names, is_translation, parse_name, url_folder
from converters.folders import Folder
from converters.front_matter import NoFrontMatterError, field_value, parse_front_matter
from converters.markdown import render_markdown
from converters.normalize import normalize_article
from converters.records import (
    ConvertedItems,
    IgnoredItem,
    Mistake,
    Publication,
    SourceArticle,
    SourceError,
    SourceOptions,
    unreadable,
)
from converters.slugs import normalize_slug

ReadOwn = Callable[[str, dict[str, Any], str, SourceOptions], SourceArticle | None]
ARTICLE_FILE = "An article is a .md, .markdown or .html file that begins with front matter (---)."
NO_TITLE = "Missing. Add a title or, if this is not an article, prefix the file name with _."


def read_folder(source: str, options: SourceOptions, read_own: ReadOwn) -> ConvertedItems:
    """Yield the articles of a file, or of the files in a folder and its subfolders.

    `read_own` returns the article of one of this service's own files, or None.
    """
    folder = Folder(source)
    paths = [Path(source)] if folder.is_file else folder.paths
    others = [] if folder.is_file else folder.others
    has_articles = False
    skipped: Counter[str] = Counter()
    for item in chain((_read_file(path, folder, options, read_own) for path in paths), others):
        if isinstance(item, IgnoredItem):
            skipped[item.detail] += 1
        else:
            has_articles = True
        yield item
    if not has_articles:
        kinds = ", ".join(f"{detail} ({count})" for detail, count in skipped.most_common(5))
        yield Mistake(source, f"Contains no articles. {ARTICLE_FILE}{f' Skipped: {kinds}.' if kinds else ''}")


def _read_file(
    path: Path, folder: Folder, options: SourceOptions, read_own: ReadOwn
) -> SourceArticle | IgnoredItem | Mistake:
    """Return the article of a file, or why it has none."""
    try:
        if not path.is_file():  # reading a named pipe would block forever
            raise SourceError("It is not a regular file. Move it out of the folder.")
        fields, content = parse_front_matter(path.read_bytes())
        if own := read_own(str(path), fields, content, options):
            return own
        if not field_value(fields, "slug") and is_translation(path):
            return folder.ignored(path, "translations (to import one, give it a slug)")
        article = _convert(path, folder, fields, content, options)
    except NoFrontMatterError as error:
        return folder.ignored(path, error.kind)
    except (SourceError, OSError) as error:
        return unreadable(str(path), error)
    if "_drafts" in folder_names(path, folder.root):
        article.publication = Publication.DRAFT
    return article


def _convert(path: Path, folder: Folder, fields: dict[str, Any], content: str, options: SourceOptions) -> SourceArticle:
    """Return the article of a file's front matter and content."""
    is_html = path.suffix.lower() == ".html"
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
