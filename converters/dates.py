"""Dates in the formats that other systems, spreadsheets and people write.

The whole text must match: anything left over makes a date invalid.
"""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import NamedTuple

INVALID_DATE = "Must be a date such as 2026-03-01, 01.03.2026, 2026-03-01 20:00 or 2026-03-01 20:00 +01:00."
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAY = r"(?:(?P<weekday>[a-z]{3,9}),? )?"
MONTH = r"(?P<name>[a-z]{3,9})\.?"
DAY = r"(?P<day>\d\d?)"
YEAR = r"(?P<year>\d{4})"
SHORT_YEAR = r"(?P<year>\d{4}|\d\d)"
DATES = (
    rf"{YEAR}-(?P<month>\d\d?)-{DAY}",  # 2026-03-01
    rf"{YEAR}/(?P<month>\d\d?)/{DAY}",  # 2026/03/01
    rf"{YEAR}(?P<month>\d\d)(?P<day>\d\d)",  # 20260301
    rf"{DAY}\. ?(?P<month>\d\d?)\. ?{SHORT_YEAR}",  # 1.3.26, in spreadsheets
    rf"{WEEKDAY}{DAY}(?:st|nd|rd|th)?[ -]{MONTH}[ -]{SHORT_YEAR}",  # Sun, 1 Mar 2026, as in RFC 2822
    rf"{WEEKDAY}{MONTH} {DAY}(?:st|nd|rd|th)?,? {YEAR}",  # March 1, 2026, or Sun Mar 01 2026, as in JavaScript
)
# 8, 8:00, 08:00:00.123, 0800 or 8 p.m., but not 800: minutes follow a colon or an hour of two digits.
TIME = (
    r"(?P<hour>\d\d?)(?::?(?P<minute>(?<=:)\d\d|(?<=\d\d)\d\d)"
    r"(?::?(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?)? ?(?P<meridiem>[ap]\.?m\.?)?"
)
# Z, UTC, +01:00 or +0100, or as in JavaScript's toString: GMT+0100 (Central European Standard Time)
ZONE = r"(?P<utc>z|utc|gmt)?(?:(?P<sign>[+-])(?P<hours>\d\d?)(?::?(?P<minutes>\d\d))?(?: \([^()]*\))?)?"
PATTERNS = [re.compile(rf"{day}(?:(?:t|,? (?:at )?){TIME}(?: ?{ZONE}))?", re.ASCII) for day in DATES]


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
    text = " ".join(text.lower().split())
    match = next(filter(None, (pattern.fullmatch(text) for pattern in PATTERNS)), None)
    if not match:
        raise ValueError(INVALID_DATE)
    try:
        day = _day(match)
        moment = datetime.combine(day, _time(match), _zone(match))
        weekday = _position(match.groupdict().get("weekday"), WEEKDAYS)
    except ValueError as error:  # such as 30 February
        raise ValueError(INVALID_DATE) from error
    if weekday not in (None, day.weekday()):
        raise ValueError("Has a weekday that does not match the date. Correct one of them.")
    return WrittenDate(moment, has_time=match["hour"] is not None)


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
    else:
        local = [_start_of_day(moment, zone)]
    try:
        return sorted({moment.astimezone(UTC) for moment in local})
    except OverflowError as error:
        raise ValueError(INVALID_DATE) from error


def is_nonexistent(instant: datetime, local: datetime, zone: tzinfo) -> bool:
    """Return whether clocks in `zone` never show the local time that `instant` was resolved from."""
    return instant.astimezone(zone).replace(tzinfo=None) != local


def _start_of_day(midnight: datetime, zone: tzinfo) -> datetime:
    """Return when a day begins in the zone or in UTC, whichever is later.

    At that moment, both have the same date, which matters because sites show the day of `publishedAt` in UTC.
    """
    return max(midnight.replace(tzinfo=zone), midnight.replace(tzinfo=UTC))


def _day(match: re.Match[str]) -> date:
    parts = match.groupdict()
    year = int(match["year"])
    if len(match["year"]) == 2:
        if year >= 50:
            raise ValueError("may be in the 20th century")
        year += 2000
    month = _position(parts.get("name"), MONTHS)
    return date(year, int(match["month"]) if month is None else month + 1, int(match["day"]))


def _position(abbreviation: str | None, names: tuple[str, ...]) -> int | None:
    """Return the position of the first name that begins with an abbreviation. Raises ValueError if none does."""
    if not abbreviation:
        return None
    for position, name in enumerate(names):
        if name.startswith(abbreviation):
            return position
    raise ValueError("not a name")


def _time(match: re.Match[str]) -> time:
    hour = int(match["hour"] or 0)
    meridiem = match["meridiem"]
    if meridiem:
        if not 1 <= hour <= 12:
            raise ValueError("not a 12-hour time")
        hour = hour % 12 + (12 if meridiem.startswith("p") else 0)
    microsecond = int((match["fraction"] or "0").ljust(6, "0")[:6])
    return time(hour, int(match["minute"] or 0), int(match["second"] or 0), microsecond)


def _zone(match: re.Match[str]) -> tzinfo | None:
    if not match["sign"]:
        return UTC if match["utc"] else None
    hours = int(match["hours"])
    minutes = int(match["minutes"] or 0)
    # 10-11 is more likely a range of hours.
    is_range = not match["utc"] and match["minute"] is None
    if match["utc"] == "z" or is_range or minutes > 59:
        raise ValueError("not a UTC offset")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(offset if match["sign"] == "+" else -offset)
