"""The statements of a source about the publication of an article.

Of the fields in Markdown and CSV, only those in `PUBLICATION_FIELDS`, dates and `expiryDate` say something about it.
Any other field is reported as unknown, whatever its name suggests.
"""

from datetime import UTC, datetime, tzinfo

from content.html import is_empty
from converters import note_kinds
from converters.articles import Claim, SourceArticle, Subject
from converters.dates import parse_date
from converters.source_fields import SourceField, SourceFields

TRUE = ("true", "yes", "on", "y", "1")
FALSE = ("false", "no", "off", "n", "0")
# What the values of a field mean
Meanings = dict[str, Claim | None]
WITHHELD_IF_TRUE: Meanings = {**dict.fromkeys(TRUE, "withheld"), **dict.fromkeys(FALSE, None)}
PUBLISHED_IF_TRUE: Meanings = {**dict.fromkeys(TRUE, "published"), **dict.fromkeys(FALSE, "withheld")}
# Drupal's status is 1 or 0.
STATUS_MEANINGS: Meanings = {**PUBLISHED_IF_TRUE, "draft": "withheld", "published": "published", "publish": "published"}
# by alias
SWITCHES: dict[str, Meanings] = {
    **dict.fromkeys(("draft", "isdraft", "archived", "isarchived"), WITHHELD_IF_TRUE),
    **dict.fromkeys(("published", "publish", "ispublished"), PUBLISHED_IF_TRUE),
}
PUBLICATION_FIELDS = SWITCHES | dict.fromkeys(("status", "state", "poststatus"), STATUS_MEANINGS)
# These may also hold something else: a date, or the state of a country.
AMBIGUOUS = ("published", "state")
EXPIRY_DATE = "expirydate"  # Hugo
INVALID_SWITCH = "Must be true or false (or yes, no, on, off, y, n, 1, 0)."
INVALID_SWITCH_OR_DATE = INVALID_SWITCH.replace(".", ", or a date such as 2026-03-01.")
INVALID_STATUS = "Must be draft or published (or 1 or 0, for example)."


def take_publication(
    fields: SourceFields, zone: tzinfo, *, file_date: str = "", is_draft: bool = False
) -> tuple[Claim | None, list[SourceField]]:
    """Remove the statements about publication from an article's fields. Invalid ones are problems.

    Returns what they say together, and the fields with different dates of publication, the latest first. `zone` applies
    to dates without one. `is_draft` and `file_date` come from the folder and the name of a file. The latter is used if
    no field has a date.
    """
    has_expired = _take_expiry(fields, zone)
    claims: set[Claim | None] = {"withheld"} if is_draft or has_expired else set()
    for alias, meanings in PUBLICATION_FIELDS.items():
        field = fields.get(alias)
        if field and field.word in meanings:
            fields.take(alias)
            claims.add(meanings[field.word])
        elif field and alias not in AMBIGUOUS:
            fields.take(alias)
            fields.reject(field, INVALID_SWITCH if alias in SWITCHES else INVALID_STATUS)
    dates = _take_dates(fields, zone)
    if file_date and not dates:
        dates = [SourceField("date", file_date)]
    if "withheld" in claims:
        return "withheld", dates
    return "published" if "published" in claims or dates else None, dates


def set_claim(article: SourceArticle, *, is_published: bool) -> None:
    """Set the claim of an article from a system with statuses, such as WordPress.

    A published article without a date gets no claim. Must be called after the content is set, since an article without
    content is noted.
    """
    if not is_published:
        article.claim = "withheld"
    elif "publishedAt" not in article.fields:
        article.note(note_kinds.NO_DATE, subject=Subject.ACCESS)
    else:
        article.claim = "published"
        if is_empty(article.fields["contentHtml"]):
            article.note(note_kinds.NO_CONTENT)


def _take_expiry(fields: SourceFields, zone: tzinfo) -> bool:
    """Remove an expiry date in the past, and return whether there is one: Hugo no longer shows such an article.

    A date in the future remains, and is reported as unknown.
    """
    field = fields.get(EXPIRY_DATE)
    moment = _parse_date(fields, field, zone) if field else None
    if not moment or moment > datetime.now(UTC):
        return False
    fields.take(EXPIRY_DATE)
    fields.article.note("Withheld because they have expired", subject=Subject.ACCESS)
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
