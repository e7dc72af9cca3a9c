"""Files that may not be posts: copies, parts of a Hugo page, and notes beside files that are marked for publication.

Copies and parts lose their date and what they say about publication, so they are pending. All are reported.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from converters.markdown.file_names import JEKYLL_FOLDERS, parse_name
from converters.slugs import normalize_slug
from converters.source_articles import SourceArticle, Subject

PARTS = "Files beside or below an index.md, which Hugo does not show as pages"
COPIES = "Copies of other files, as a sync tool makes them after a conflict"
NOT_MARKED = "Files that do not say publish: true, as others do"

Articles = Mapping[Path, SourceArticle]


def mark_doubtful_files(articles: Articles, root: Path) -> None:
    """Remove the dates of copies and parts, and note all doubtful files. `root` is the imported folder."""
    for path in _find_parts(articles, root):
        _withhold_statement(articles[path], PARTS)
    for path in _find_copies(articles):
        article = articles[path]
        _withhold_statement(article, COPIES)
        article.fields["slug"] = normalize_slug(parse_name(path)[1])
        article.old_urls.clear()
        article.pages.clear()
    if any(article.says_publish for article in articles.values()):
        for article in articles.values():
            if article.claim == "published" and not article.says_publish:
                article.note(NOT_MARKED, subject=Subject.ACCESS)


def _withhold_statement(article: SourceArticle, kind: str) -> None:
    article.note(kind, subject=Subject.ACCESS)
    article.fields.pop("publishedAt", None)
    if article.claim == "published":
        article.claim = None


def _find_parts(articles: Articles, root: Path) -> list[Path]:
    """Return the files in or below a folder with an index.md, except the imported folder, and except Jekyll's posts."""
    pages = {path.parent for path in articles if path.name == "index.md"} - {root}
    parts = []
    for path in articles:
        parents = path.parent.parents if path.name == "index.md" else path.parents
        if not pages.isdisjoint(parents) and not set(JEKYLL_FOLDERS) & set(path.parts):
            parts.append(path)
    return parts


def _find_copies(articles: Articles) -> list[Path]:
    """Return the files whose title, date and beginning of the name are those of a file beside them."""
    groups: dict[tuple[Path, str, str], list[Path]] = defaultdict(list)
    for path, article in articles.items():
        if "title" in article.fields:
            groups[path.parent, article.fields["title"], article.fields.get("publishedAt", "")].append(path)
    copies = []
    for paths in groups.values():
        shortest = min(paths, key=lambda path: len(path.name))
        copied = re.compile(rf"{re.escape(shortest.stem)}[\W_]")  # soup.orig.md and soup_conflict.md, but not soups.md
        copies += [path for path in paths if path != shortest and copied.match(path.name)]
    return copies
