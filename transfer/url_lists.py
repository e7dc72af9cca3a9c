"""Lists that an import writes: old URLs of its articles, to make redirects from, and of their pictures."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from files import create_new_file
from transfer.links import ArticleLinks
from transfer.planned import PlannedArticle
from transfer.spool import Spool


def list_redirects(articles: list[PlannedArticle], spool: Spool, links: ArticleLinks) -> str:
    """Return CSV with a row for each old URL of the articles, and the slug that it leads to."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("old_url", "slug"))
    for planned in articles:
        moved = links.find_moved(spool.read(planned.entry).article, planned.slug)
        writer.writerows((url, planned.slug) for url in moved)
    return text.getvalue()


def list_pictures(articles: list[PlannedArticle], spool: Spool) -> str:
    """Return the old URLs of the articles' pictures, each once, one per line."""
    urls = dict.fromkeys(url for planned in articles for url in spool.read(planned.entry).article.pictures)
    return "".join(f"{url}\n" for url in urls)


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
