"""What a source says about an article's publication.

Of the fields in Markdown and CSV, only those in `STATEMENTS`, dates and `expiryDate` say something about it. Any other
field is reported as unknown, whatever its name suggests.
"""

from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from content.html import is_empty
from converters import note_kinds
from converters.dates import parse_date
from converters.records import Publication, SourceArticle
from converters.source_fields import SourceField, SourceFields

TRUE = ("true", "yes", "on", "y", "1")
FALSE = ("false", "no", "off", "n", "0")
# What the values of a field mean
DRAFT_MEANINGS = dict.fromkeys(TRUE, Publication.DRAFT) | dict.fromkeys(FALSE, Publication.NOTHING)
PUBLISHED_MEANINGS = dict.fromkeys(TRUE, Publication.PUBLISHED) | dict.fromkeys(FALSE, Publication.DRAFT)
STATUS_MEANINGS = {"draft": Publication.DRAFT, "published": Publication.PUBLISHED, "publish": Publication.PUBLISHED}
INVALID_SWITCH = "Must be true or false (or yes, no, on, off, y, n, 1, 0)."
INVALID_SWITCH_OR_DATE = INVALID_SWITCH.replace(".", ", or a date such as 2026-03-01.")
INVALID_STATUS = "Must be draft or published."
EXPIRY_DATE = "expirydate"  # Hugo


class Statement(NamedTuple):
    """What a field says about publication."""

    meanings: dict[str, Publication]  # by value, in lower case
    error: str  # if the value is another one
    is_ambiguous: bool = False  # Another value is no mistake: the field may hold something else.


DRAFT_SWITCH = Statement(DRAFT_MEANINGS, INVALID_SWITCH)
PUBLISHED_SWITCH = Statement(PUBLISHED_MEANINGS, INVALID_SWITCH)
STATUS_FIELD = Statement(STATUS_MEANINGS, INVALID_STATUS)
STATEMENTS = {
    "draft": DRAFT_SWITCH,
    "isdraft": DRAFT_SWITCH,
    "published": PUBLISHED_SWITCH._replace(is_ambiguous=True),  # or a date
    "publish": PUBLISHED_SWITCH,
    "ispublished": PUBLISHED_SWITCH,
    "status": STATUS_FIELD,
    "state": STATUS_FIELD._replace(is_ambiguous=True),  # or the state of a country
    "poststatus": STATUS_FIELD,
}
SWITCHES = {alias for alias, statement in STATEMENTS.items() if statement.error == INVALID_SWITCH}


class Statements(NamedTuple):
    """What the fields of an article say about its publication."""

    said: set[Publication]
    dates: list[SourceField]  # of publication, the latest first

    @property
    def publication(self) -> Publication:
        """What they say together."""
        if Publication.DRAFT in self.said:
            return Publication.DRAFT
        return Publication.PUBLISHED if Publication.PUBLISHED in self.said or self.dates else Publication.NOTHING


def take_statements(fields: SourceFields, zone: tzinfo, *, file_date: str = "", is_draft: bool = False) -> Statements:
    """Remove the statements about publication from an article's fields, and return them. Invalid ones are mistakes.

    `zone` applies to dates without one. The name or folder of the file may also say that it `is_draft`, and give a date
    that is used if no field does.
    """
    said = {Publication.DRAFT} if is_draft or _has_expired(fields, zone) else set()
    for alias, statement in STATEMENTS.items():
        field = fields.get(alias)
        if field and field.word in statement.meanings:
            fields.take(alias)
            said.add(statement.meanings[field.word])
        elif field and not statement.is_ambiguous:
            fields.take(alias)
            fields.reject(field, statement.error)
    dates = _take_dates(fields, zone)
    if file_date and not dates:
        dates = [SourceField("date", file_date)]
    return Statements(said, dates)


def set_publication(article: SourceArticle, *, is_published: bool) -> None:
    """Set what a system with statuses, such as WordPress, says about an article. Without a date, it says nothing.

    A published article without content is noted, so the content must be set.
    """
    if not is_published:
        article.publication = Publication.DRAFT
    elif "publishedAt" not in article.fields:
        article.publication = Publication.NOTHING
        article.note(note_kinds.NO_DATE)
    else:
        article.publication = Publication.PUBLISHED
        if is_empty(article.fields["contentHtml"]):
            article.note(note_kinds.NO_CONTENT)


def _has_expired(fields: SourceFields, zone: tzinfo) -> bool:
    """Return whether Hugo no longer shows an article. A date in the future remains, and is reported as unknown."""
    field = fields.get(EXPIRY_DATE)
    moment = _parse_date(fields, field, zone) if field else None
    if not moment or moment > datetime.now(UTC):
        return False
    fields.take(EXPIRY_DATE)
    fields.article.note("Saved as drafts because they have expired")
    return True


def _take_dates(fields: SourceFields, zone: tzinfo) -> list[SourceField]:
    """Return the fields with different dates of publication, the latest first."""
    by_moment: dict[datetime, SourceField] = {}
    for field in fields.take_import_field("publishedAt"):
        moment = _parse_date(fields, field, zone)
        if moment:
            by_moment.setdefault(moment, field)
    return [by_moment[moment] for moment in sorted(by_moment, reverse=True)]


def _parse_date(fields: SourceFields, field: SourceField, zone: tzinfo) -> datetime | None:
    """Return a field's date, or None if it is invalid."""
    try:
        return parse_date(str(field.value), zone)
    except ValueError as error:
        fields.reject(field, INVALID_SWITCH_OR_DATE if field.alias in SWITCHES else str(error))
        return None
