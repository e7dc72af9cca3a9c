"""Whether an import publishes an article. Imports from other systems make nothing visible by themselves.

| The source says | A new article                        | A stored article                                          |
|-----------------|--------------------------------------|-----------------------------------------------------------|
| published       | is pending; with --publish published | keeps its status; with --publish, a pending one is        |
|                 |                                      | published, but a draft stays one                          |
| draft           | is a draft                           | becomes a draft                                           |
| nothing         | is a draft                           | keeps its status                                          |

A published article with a date in the future is scheduled. A stored date in the future is only replaced by a later one,
with --publish too: an operator may have set it, and an earlier one would make the article visible earlier.

This service's own formats state the status and the date themselves.
"""

from datetime import datetime

from converters.records import Publication


def decide_status(publication: Publication, stored_status: str | None, *, publish: bool) -> str:
    """Return the status of an article from another system. `stored_status` is None if the article is new."""
    if publication is Publication.DRAFT:
        return "draft"
    if publication is Publication.NOTHING:
        return stored_status or "draft"
    if publish and stored_status in (None, "pending"):
        return "published"
    return stored_status or "pending"


def decide_date(given: datetime | None, stored: datetime | None, now: datetime) -> datetime | None:
    """Return the time of publication of an article from another system."""
    if given and stored and stored > now:
        return max(given, stored)
    return given or stored


def decide_own_status(
    given: str | None, stored_status: str | None, *, gives_date: bool, unpublish_missing: bool
) -> str:
    """Return the status of an article in a format of this service.

    With the option --unpublish-missing, a draft that returns with a date is published again.
    """
    if given:
        return given
    if stored_status and not (unpublish_missing and gives_date):
        return stored_status
    return "published" if gives_date else "draft"
