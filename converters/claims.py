"""What a source says about the publication of an article.

Only what is listed here is understood. A statement that is not understood withholds the article, and is reported.
"""

import re
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from typing import Any

from content.html import is_empty
from converters.dates import parse_date
from converters.field_names import NamedFields, word_of
from converters.source_articles import FALSE_WORDS, TRUE_WORDS, Claim, SourceArticle, Subject

TRUE = (*TRUE_WORDS, "1")
FALSE = (*FALSE_WORDS, "0")
# Fields about publication, as `plain_name` spells them; "is" may precede those with a truth value.
WITHHELD_IF_TRUE = ("draft", "private", "hidden", "unlisted", "archived")
PUBLISHED_IF_TRUE = ("published", "publish")  # `published` may also be a date
WITHHELD_IF_FALSE = (*PUBLISHED_IF_TRUE, "public", "visible", "live", "active", "online", "enabled")
SWITCHES = (*WITHHELD_IF_TRUE, *WITHHELD_IF_FALSE)
STATUS_NAMES = ("status", "poststatus", "state")
PUBLIC_STATUSES = ("published", "publish", "public", "live", "active", "1", "true")
HIDDEN_STATUSES = ("draft", "pending", "private", "archived", "hidden", "unlisted", "unpublished", "trash", *FALSE)
SYSTEM_STATUSES = ("future", "auto-draft", "scheduled", "sent")  # of WordPress and of Ghost
NUMBER = re.compile(r"-?\d+")
EXPIRY_DATE = "expirydate"  # Hugo
NO_CONTENT = "Articles without any content"
NO_DATE = "No date, so the source does not say whether they are published"
RESTRICTED = "Withheld because access to them is restricted"
NOT_UNDERSTOOD = "Withheld because what they say about publication is not understood"


def take_claim(article: SourceArticle, fields: NamedFields, zone: tzinfo, *, state_is_status: bool) -> Claim | None:
    """Remove what the fields of an article say about its publication, apart from dates, and return it.

    `state_is_status`: a field called `state` is about publication whatever its value. `zone` applies to dates without
    one.
    """
    claims: set[Claim | None] = set()
    for name in SWITCHES:
        for alias in (name, f"is{name}"):
            if alias in fields and not (name == "published" and is_date(fields[alias].value, zone)):
                claims.add(_read(article, fields, alias, _switch_meanings(name)))
    article.says_publish = "published" in claims
    for alias in STATUS_NAMES:
        if alias in fields and (alias != "state" or state_is_status or is_status(fields[alias].value)):
            meanings = dict.fromkeys(PUBLIC_STATUSES, "published") | dict.fromkeys(HIDDEN_STATUSES, "withheld")
            claims.add(_read(article, fields, alias, meanings))
    if EXPIRY_DATE in fields:
        claims.add(_read_expiry(article, fields, zone))
    return "withheld" if "withheld" in claims else "published" if "published" in claims else None


def is_status(value: Any) -> bool:
    """Return whether a value is a number or a word of status, unlike the state of a country."""
    word = word_of(value)
    return word in (*PUBLIC_STATUSES, *HIDDEN_STATUSES) or NUMBER.fullmatch(word) is not None


def is_date(value: Any, zone: tzinfo) -> bool:
    """Return whether a value is a date. `zone` applies to one without a zone."""
    with suppress(ValueError):
        return bool(parse_date(str(value), zone))
    return False


def set_claim(article: SourceArticle, *, is_published: bool) -> None:
    """Set the claim of an article from a system with statuses, such as WordPress. Its fields must be complete."""
    article.claim = "published" if is_published else "withheld"
    note_claim(article)


def note_unknown_status(article: SourceArticle, status: Any) -> None:
    """Note a status that neither WordPress nor Ghost has without a plugin."""
    if status not in (*PUBLIC_STATUSES, *HIDDEN_STATUSES, *SYSTEM_STATUSES):
        article.note(NOT_UNDERSTOOD, f"status: {status}", subject=Subject.ACCESS)


def note_claim(article: SourceArticle) -> None:
    """Note an article whose source says nothing about its publication, or publishes it without content."""
    if not article.claim:
        article.note(NO_DATE, subject=Subject.ACCESS)
    elif article.claim == "published" and is_empty(article.fields.get("contentHtml", "")):
        article.note(NO_CONTENT)


def _switch_meanings(name: str) -> dict[str, Any]:
    """Return what the truth values of a field mean."""
    if name in WITHHELD_IF_TRUE:
        return dict.fromkeys(TRUE, "withheld") | dict.fromkeys(FALSE)
    return dict.fromkeys(TRUE, "published" if name in PUBLISHED_IF_TRUE else None) | dict.fromkeys(FALSE, "withheld")


def _read(article: SourceArticle, fields: NamedFields, alias: str, meanings: dict[str, Any]) -> Claim | None:
    """Remove a field, and return what it says. A value without a meaning withholds the article."""
    field = fields.pop(alias)
    word = word_of(field.value)
    if word not in meanings:
        article.note(NOT_UNDERSTOOD, f"{field.name}: {field.value}", subject=Subject.ACCESS)
    claim: Claim | None = meanings.get(word, "withheld")
    return claim


def _read_expiry(article: SourceArticle, fields: NamedFields, zone: tzinfo) -> Claim | None:
    """Remove an expiry date that is not in the future: Hugo no longer shows such an article."""
    field = fields[EXPIRY_DATE]
    if is_date(field.value, zone) and parse_date(str(field.value), zone) > datetime.now(UTC):
        return None  # reported as an unknown field with a date in the future
    del fields[EXPIRY_DATE]
    article.note("Withheld because they have expired", f"{field.name}: {field.value}", subject=Subject.ACCESS)
    return "withheld"
