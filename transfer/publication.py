"""Whether an import publishes an article, and as of when.

The status is a decision that was made here: draft (kept hidden), published (visible from its date on), or pending
(hidden until somebody decides). A source's claim is kept apart from it, so that the source can go on to retract an
article, and the import never publishes what somebody here has hidden:

| The source's claim           | new     | pending                      | published        | draft |
|------------------------------|---------|------------------------------|------------------|-------|
| published                    | pending | with --publish: published    | stays            | stays |
| becomes withheld             | pending | stays                        | becomes pending  | stays |
| withheld as before, nothing  | pending | stays                        | stays            | stays |

With --publish, a new article that its source publishes is published too. A published article with a date in the future
is scheduled.

The source's date is taken unless somebody has set another one here (`Publication.has_source_date`). Without --publish,
the date of a scheduled article never moves earlier.

The formats of this service state the status and the date themselves. Articles without a source have no claim,
except "withheld" while they are missing from imports with --unpublish-missing.
"""

from datetime import datetime
from typing import NamedTuple

from converters.articles import Claim


class Publication(NamedTuple):
    """The publication of an article, as it is stored."""

    status: str
    published_at: datetime | None
    claim: str | None = None  # what its source said last
    claimed_at: datetime | None = None  # the source's latest date, unless it waits for --publish or was set here too

    @property
    def has_source_date(self) -> bool:
        """Whether the date, if any, was not chosen here, but given by the source, an import or `publish --pending`."""
        return self.published_at == self.claimed_at

    def is_visible(self, now: datetime) -> bool:
        """Return whether readers see the article."""
        return self.status == "published" and self.published_at is not None and self.published_at <= now


def follow_source(
    claim: Claim | None, date: datetime | None, stored: Publication | None, now: datetime, *, publish: bool
) -> Publication:
    """Return the publication of an article, given what its source says now."""
    if not stored:
        status = "published" if publish and claim == "published" else "pending"
        return _with_source_date(Publication(status, date, claim, date), now)
    status = stored.status
    if claim == "published" and publish and status == "pending":
        status = "published"
    elif claim == "withheld" and stored.claim != "withheld" and status == "published":
        status = "pending"
    decided = stored._replace(status=status, claim=claim or stored.claim)
    if date and stored.has_source_date:
        if publish or not _moves_earlier(date, decided, now):
            decided = decided._replace(claimed_at=date, published_at=date)
    elif date and date != stored.published_at:  # if it is the same, it was set here nevertheless
        decided = decided._replace(claimed_at=date)
    return _with_source_date(decided, now)


def assume_source_date(stored: Publication, now: datetime) -> Publication:
    """Return the publication of an article that gets its first origin, so it is unknown who has set its date.

    A date in the past, or of a pending article, is taken for the source's. A date in the future of a published or draft
    article is taken for one that was set here.
    """
    is_past = stored.published_at is not None and stored.published_at <= now
    if not stored.claimed_at and (is_past or stored.status == "pending"):
        return stored._replace(claimed_at=stored.published_at)
    return stored


def _moves_earlier(date: datetime, decided: Publication, now: datetime) -> bool:
    """Return whether a date would make a scheduled article visible earlier, which needs --publish."""
    before = decided.published_at
    return decided.status == "published" and before is not None and before > now and date < before


def withhold(stored: Publication) -> Publication:
    """Return the publication of an article that its source no longer contains."""
    becomes_pending = stored.status == "published" and stored.claim != "withheld"
    return stored._replace(status="pending" if becomes_pending else stored.status, claim="withheld")


def return_to_import(stored: Publication) -> Publication:
    """Return the publication of an article without a source that an import contains again."""
    return stored._replace(claim=None) if stored.claim == "withheld" else stored


def follow_own_format(
    status: str | None, date: datetime | None, claim: Claim | None, stored: Publication | None, now: datetime
) -> Publication:
    """Return the publication of an article in a format of this service, which may give a status and a date.

    A stored article keeps its claim.
    """
    if not stored:
        return _with_date(Publication(status or ("published" if date else "draft"), date, claim), now)
    if not status and stored.status == "pending" and date:
        status = "published"
    return _with_date(stored._replace(status=status or stored.status, published_at=date or stored.published_at), now)


def _with_source_date(decided: Publication, now: datetime) -> Publication:
    """Return the publication with a date. If that is now, nobody set it here, so a later one of the source is taken."""
    dated = _with_date(decided, now)
    return dated if decided.published_at else dated._replace(claimed_at=dated.published_at)


def _with_date(decided: Publication, now: datetime) -> Publication:
    """Return the publication with a date, which a published article must have."""
    return decided._replace(published_at=now) if decided.status == "published" and not decided.published_at else decided
