"""Whether and when readers see an article: its status, switches such as `draft`, and dates.

Nothing is published too early: an invalid value is a mistake, and a field that hides an article makes it
a draft.
"""

import re
from datetime import UTC, datetime
from typing import Any

from content.html import is_empty
from converters.dates import parse_date
from converters.records import FIELD_BY_ALIAS, Mistake, Publication, SourceArticle, SourceOptions
from converters.unused_fields import UnusedFields

TRUE, FALSE = ("true", "yes", "on", "y", "1"), ("false", "no", "off", "n", "0")
SWITCH = "Must be true or false (or yes, no, on, off, y, n, 1, 0)."
DRAFT, PUBLISHED = ("draft", "isdraft"), ("publish", "ispublished")
STATUS = "status", "state", "poststatus"
STATUSES = {"draft": "draft", "published": "published", "publish": "published"}
EXPIRY_DATES = "expirydate", "unpublishdate", "expires", "expirationdate"
PUBLICATION_DATES = [alias for alias, field in FIELD_BY_ALIAS.items() if field == "publishedAt"]  # by precedence
SHOWN = (*TRUE, "public", "published", "visible", "free", "open", "all", "everyone")
# Fields that hide an article on the old site, with or without the prefix `is`
HIDING = (  # unless they are false
    *("private", "hidden", "hide", "unlisted", "unpublished", "archived", "deleted", "disabled", "password", "embargo"),
    *("scheduled", "wip", "premium", "memberonly", "membersonly", "headless", "eleventyexcludefromcollections"),
)
VISIBILITY = "visibility", "access"  # unless they are public
SHOWING = "public", "listed", "visible", "live", "enabled", "online"  # if they are false
AMBIGUOUS = "active", "show", "permalink", "build"  # if they are false; elsewhere they have other values
HIDDEN_FROM_BUILD = re.compile(r"'(?:render|list)': '?(?:never|false|link)")  # Hugo
SWITCHES = {prefix + name for name in (*HIDING, *VISIBILITY, *SHOWING, *AMBIGUOUS) for prefix in ("", "is")}
HIDDEN = "Saved as drafts because a field hides them on the old site"
# Fields that decide whether readers see an article.
DECISIVE = {"published", *DRAFT, *PUBLISHED, *STATUS, *EXPIRY_DATES, *PUBLICATION_DATES, *SWITCHES}


def take_publication(article: SourceArticle, unused: UnusedFields, options: SourceOptions) -> bool:
    """Read the status and the switches of an article, and choose one of several dates.

    Returns whether a switch such as `draft: false` states that the article is public.
    """
    # `published` is a switch in Jekyll and a date elsewhere.
    is_switch = _spells_switch(unused.values.get("published", ("", None))[1])
    published = (*PUBLISHED, "published") if is_switch else PUBLISHED
    has_switch = any(alias in unused.values for alias in (*DRAFT, *published))
    statuses = [_read_status(article, *unused.pop_alias(alias)) for alias in STATUS if alias in unused.values]
    drafts = [_read_switch(article, *unused.pop_alias(alias)) is False for alias in published]
    drafts += [_read_switch(article, *unused.pop_alias(alias)) is True for alias in DRAFT]
    drafts += [_take_hiding(article, unused), _has_expired(article, unused, options)]
    if "draft" in statuses or any(drafts):
        article.fields["status"] = "draft"
    elif "published" in statuses:
        article.fields["status"] = "published"
    _choose_date(article, unused, options)
    return has_switch and "status" not in article.fields and not article.mistakes


def check_published(article: SourceArticle) -> None:
    """Make a published article a draft if its system gave it no date. Otherwise, note if it is empty."""
    if article.publication is Publication.PUBLISHED:
        if "publishedAt" not in article.fields:
            article.make_draft("Saved as drafts because they have no date")
        elif is_empty(article.fields["contentHtml"]):
            article.note("Published without any content")


def _read_status(article: SourceArticle, name: str, value: Any) -> str | None:
    article.names["status"] = name
    status = STATUSES.get(str(value).strip().lower())
    if not status:
        article.reject("status", "Must be draft or published.", value)
    return status


def _spells_switch(value: Any) -> bool:
    return str(value).strip().lower() in (*TRUE, *FALSE)


def _read_switch(article: SourceArticle, name: str, value: Any) -> bool | None:
    """Return whether a switch is on, or None if its value is missing or invalid."""
    if value is None:
        return None
    if not _spells_switch(value):
        article.names["status"] = name
        article.reject("status", SWITCH, value)
        return None
    return str(value).strip().lower() in TRUE


def _take_hiding(article: SourceArticle, unused: UnusedFields) -> bool:
    """Return whether a field such as `private` or `visibility` hides an article on its old site."""
    is_hidden = False
    for alias in [alias for alias in unused.values if alias in SWITCHES]:
        name, value = unused.values[alias]
        field, text = alias.removeprefix("is"), str(value).strip().lower()
        if _hides(field, text):
            is_hidden = True
            article.note(HIDDEN, name if field == "password" else f"{name}: {text}"[:40])
        elif field in SHOWING and text not in SHOWN:
            article.mistakes.append(Mistake(article.where, SWITCH, name, value))
        elif field in AMBIGUOUS and text not in SHOWN:
            continue  # left unused, and therefore reported
        unused.pop_alias(alias)
    return is_hidden


def _hides(field: str, text: str) -> bool:
    if field in HIDING:
        return text not in FALSE
    if field in VISIBILITY:
        return text not in SHOWN
    return text in FALSE or (field == "build" and HIDDEN_FROM_BUILD.search(text) is not None)


def _has_expired(article: SourceArticle, unused: UnusedFields, options: SourceOptions) -> bool:
    """Return whether Hugo no longer shows an article."""
    has_expired = False
    for alias in EXPIRY_DATES:
        name, value = unused.values.get(alias, ("", None))
        expiry = _parse_date(article, name, value, options)
        if expiry and expiry <= datetime.now(UTC):
            unused.pop_alias(alias)
            has_expired = True
            article.note("Saved as drafts because they have expired", name)
    return has_expired


def _choose_date(article: SourceArticle, unused: UnusedFields, options: SourceOptions) -> None:
    """Keep the first of several dates of publication, or the latest one if that is in the future; report conflicts."""
    aliases = [alias for alias in PUBLICATION_DATES if alias in unused.values]
    if len(aliases) < 2:
        return
    fields = {alias: unused.pop_alias(alias) for alias in aliases}
    dates = {alias: date for alias in aliases if (date := _parse_date(article, *fields[alias], options))}
    if len(dates) < len(aliases):
        return  # already recorded as a mistake
    latest = max(aliases, key=lambda alias: dates[alias])
    used = latest if dates[latest] > datetime.now(UTC) else aliases[0]
    unused.values[used] = fields[used]
    for alias in aliases:
        if dates[alias] != dates[used]:
            detail = f"{fields[used][0]} instead of {fields[alias][0]}"
            article.note("Conflicting publication dates; only one was used", detail)


def _parse_date(article: SourceArticle, name: str, value: Any, options: SourceOptions) -> datetime | None:
    """Return a date, or None if the value is missing or invalid."""
    try:
        return None if value is None else parse_date(str(value), options.zone)
    except ValueError as error:
        article.mistakes.append(Mistake(article.where, str(error), name, value))
        return None
