"""Dates in the forms that other systems and spreadsheets write."""

import re
from datetime import UTC, datetime, tzinfo
from email.utils import parsedate_to_datetime

DATE_FORMS = "Must be a date, as in 2026-03-01 or 2026-03-01 08:00."
TIME = re.compile(r":|\A[\dW.-]{6,10}[T ]\d", re.IGNORECASE)
# A spreadsheet writes day, month and year.
DOTTED_DATE = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4}|\d\d)\b")


def normalize_date(text: str, zone: tzinfo) -> str:
    """Return a date as a timestamp with its zone, and text that is not a date as it is."""
    moment = parse_date(text, zone)
    return moment.isoformat() if moment else text


def parse_date(text: str, zone: tzinfo) -> datetime | None:
    """Return the moment of a date, or None if the text is none.

    A time without a zone is of `zone`. If the clock has it twice, the first one counts.
    """
    moment = _parse(text)
    if moment is None or moment.tzinfo:
        return moment
    return begin_of_day(moment, zone) if is_day(text) else moment.replace(tzinfo=zone)


def is_day(text: str) -> bool:
    """Return whether a date in any form has no time."""
    return not TIME.search(text)


def begin_of_day(midnight: datetime, zone: tzinfo) -> datetime:
    """Return when a day begins in the zone or in UTC, whichever is later.

    At this moment it is the same day in both. Sites show the day of `publishedAt` in UTC.
    """
    return max(midnight.replace(tzinfo=zone), midnight.replace(tzinfo=UTC))


def _parse(text: str) -> datetime | None:
    """Return a date in ISO 8601, RFC 2822, or a form such as 01.03.2026 or Jul 08 2022. None if it is none."""
    text = DOTTED_DATE.sub(_to_iso, text).replace("-0000", "+0000")  # RFC 2822, 3.3, means UTC by it.
    try:
        return datetime.fromisoformat(re.sub(r" (?=[+-]\d|Z)", "", text.replace(" UTC", "Z")))
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(text if ":" in text else f"{text} 00:00")
    except (OverflowError, ValueError):
        return None


def _to_iso(date: re.Match[str]) -> str:
    year = date[3] if len(date[3]) == 4 else f"20{date[3]}"
    return f"{year}-{date[2]:0>2}-{date[1]:0>2}"
