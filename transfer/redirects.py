"""The old URLs of an import's articles, to make redirects from."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from files import create_new_file
from transfer.article_links import ArticleLinks
from transfer.plan import ImportPlan


def list_redirects(plan: ImportPlan, links: ArticleLinks) -> str:
    """Return CSV with a row for each old URL of the articles, and the slug that it leads to."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("old_url", "slug"))
    slug_by_url: dict[str, str] = {}  # each URL once
    for article, slug in plan.slugs.items():
        for url in links.find_moved(article):
            slug_by_url.setdefault(url, slug)
    writer.writerows(slug_by_url.items())
    return text.getvalue()


@contextmanager
def create_list(target: Path, text: str) -> Iterator[None]:
    """Write a new file, and remove it again if the block fails, except after Ctrl+C.

    Raises OSError if the file cannot be written.
    """
    try:
        with create_new_file(target) as file:
            file.write(text.encode())
    except OSError as error:  # which may name a temporary file
        raise OSError(error.errno, error.strerror, str(target)) from error
    try:
        yield
    except BaseException as error:
        # After Ctrl+C, the articles may have been written.
        if not isinstance(error.__cause__ or error, KeyboardInterrupt):
            target.unlink(missing_ok=True)
        raise
