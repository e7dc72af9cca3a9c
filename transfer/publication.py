"""Whether an import publishes an article, and as of when.

| The source              | new       | draft     | pending   | published, scheduled                           |
|-------------------------|-----------|-----------|-----------|------------------------------------------------|
| withholds it, or it is  | draft     | draft     | draft     | draft                                          |
| missing from the source |           |           |           |                                                |
| publishes it            | pending   | pending   | pending   | stays; its date never makes it visible earlier |
| … with --publish        | published | published | published | stays, with the source's date                  |
| says nothing            | pending   | pending   | pending   | stays                                          |

An article whose publication was decided here (`publication_edited`) keeps it, whatever its source says.
"""

from datetime import datetime
from typing import NamedTuple

from converters.source_articles import Claim
from transfer.matching import StoredArticle


class Publication(NamedTuple):
    """An article's status and date."""

    status: str
    published_at: datetime | None

    def is_visible(self, now: datetime) -> bool:
        """Return whether readers see the article."""
        return self.status == "published" and self.published_at is not None and self.published_at <= now


def stored_publication(stored: StoredArticle) -> Publication:
    """Return the publication of a stored article."""
    return Publication(stored.status, stored.published_at)


def follow_source(
    claim: Claim | None, date: datetime | None, stored: StoredArticle | None, now: datetime, *, publish: bool
) -> Publication:
    """Return the publication of an article, given what its source says now. `stored` is None if it is new."""
    if stored and stored.publication_edited:
        return stored_publication(stored)
    date = date or (stored.published_at if stored else None)
    if claim == "withheld":
        return Publication("draft", date)
    if stored and stored.status == "published":
        moves_earlier = date < stored.published_at and stored.published_at > now
        return Publication("published", stored.published_at if moves_earlier and not publish else date)
    if claim == "published" and publish:
        return Publication("published", date or now)
    return Publication("pending", date)


def follow_own_format(
    status: str | None, date: datetime | None, stored: StoredArticle | None, now: datetime
) -> Publication:
    """Return the publication of an article in a format of this service without a source, as the article states it."""
    if stored:
        status = status or stored.status
        date = date or stored.published_at
    status = status or ("published" if date else "draft")
    return Publication(status, date or (now if status == "published" else None))
