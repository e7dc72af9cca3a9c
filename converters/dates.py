"""Dates in the formats that other systems and people write."""

import re
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from itertools import product
from typing import NamedTuple

INVALID_DATE = "Must be a date such as 2026-03-01, 2026-03-01 20:00, 2026-03-01T20:00:00+01:00 or 01.03.2026."
DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%b %d %Y", "%b %d, %Y", "%B %d %Y", "%B %d, %Y")
TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S%z", " %I:%M %p")
WITH_ZONE = ("%a, %d %b %Y %H:%M:%S%z", "%d %b %Y %H:%M:%S%z")  # RFC 2822
FORMATS = (*map("".join, product(DAYS, TIMES)), *WITH_ZONE)
ISO_DAY_LENGTH = len("2026-03-01")
MAX_LENGTH = len("Wed, 31 Dec 2025 23:00:00 GMT+01:00")
YEAR = re.compile(r"\d{4}")
UTC_NAME = re.compile(r"\s+(?:UTC|GMT)\Z")
SPACE_BEFORE_OFFSET = re.compile(r"\s+(?=[+-]\d\d:?\d\d\Z)")


class WrittenDate(NamedTuple):
    """A date as it was written: naive unless it names a zone."""

    moment: datetime
    has_time: bool


def parse_date(text: str, zone: tzinfo) -> datetime:
    """Parse a date, with or without a time, into an aware datetime in UTC.

    `zone` applies to times without a UTC offset. An ambiguous local time (end of daylight saving) resolves to the
    earlier instant. Raises ValueError, with a message for the user, if the text is not a date, or the local time does
    not exist.
    """
    written = parse_written_date(text)
    instants = possible_instants(written, zone)
    if len(instants) > 1 and is_nonexistent(instants[0], written.moment, zone):
        raise ValueError(f"Does not exist in {zone} (daylight saving). Choose another time.")
    return instants[0]


def parse_written_date(text: str) -> WrittenDate:
    """Parse a date without resolving its time zone. Raises ValueError if it is not one."""
    text = UTC_NAME.sub("+00:00", text.strip())
    text = SPACE_BEFORE_OFFSET.sub("", text)
    with suppress(ValueError):
        return WrittenDate(datetime.fromisoformat(text), has_time=len(text) > ISO_DAY_LENGTH)
    may_be_date = len(text) <= MAX_LENGTH and YEAR.search(text)  # for speed
    for form in FORMATS if may_be_date else ():
        with suppress(ValueError):
            return WrittenDate(datetime.strptime(text, form), has_time=":" in form)
    raise ValueError(INVALID_DATE)


def possible_instants(written: WrittenDate, zone: tzinfo) -> list[datetime]:
    """Return the instants in UTC that a date may mean, the earlier one first.

    There are two only if the local time is ambiguous or nonexistent (https://peps.python.org/pep-0495/). Raises
    ValueError if an instant is outside the years 1 to 9999.
    """
    moment = written.moment
    if moment.tzinfo:
        local = [moment]
    elif written.has_time:
        local = [moment.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    else:  # the start of the day there or in UTC, whichever is later, because sites show the day in UTC
        local = [max(moment.replace(tzinfo=zone), moment.replace(tzinfo=UTC))]
    try:
        return sorted({moment.astimezone(UTC) for moment in local})
    except OverflowError as error:
        raise ValueError(INVALID_DATE) from error


def is_nonexistent(instant: datetime, local: datetime, zone: tzinfo) -> bool:
    """Return whether clocks in `zone` never show the local time that `instant` was resolved from."""
    return instant.astimezone(zone).replace(tzinfo=None) != local
