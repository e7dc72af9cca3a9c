"""Times as a person writes and reads them: of the site's time zone."""

from datetime import UTC, datetime, tzinfo

import click
from flask import current_app

from converters.dates import begin_of_day, is_day
from fields import format_timestamp, truncate_to_milliseconds


def timestamp(text: str) -> datetime:
    """Parse a day or a time, of the setting TIMEZONE if it names no zone, as a datetime in UTC, to the millisecond.

    Raises click.BadParameter for text that is neither, and for a time that the clock skips or has twice.
    """
    zone = current_app.config["TIMEZONE"]
    try:
        local = datetime.fromisoformat(text.upper())  # RFC 3339 allows "t" and "z".
        # Around a change of the clock, a time means two moments (https://peps.python.org/pep-0495/).
        zoned = [local] if local.tzinfo else [local.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
        moments = [truncate_to_milliseconds(moment.astimezone(UTC)) for moment in zoned]
    except (ValueError, OverflowError) as error:
        hint = "Write it as in 2026-01-31, '2026-01-31 09:30' or 2026-01-31T09:30:00Z."
        raise click.BadParameter(f"{text!r}: {hint}") from error
    if is_day(text):
        return begin_of_day(local, zone).astimezone(UTC)
    if len(set(moments)) > 1:
        readings = " or ".join(moment.astimezone(zone).isoformat() for moment in sorted(moments))
        raise click.BadParameter(f"{text!r}: The clock of {zone} skips or repeats this time. Write {readings}.")
    return moments[0]


def format_local(moment: datetime, zone: tzinfo) -> str:
    """Return an aware datetime in UTC as a time of `zone`, to the minute, and as a timestamp in UTC."""
    in_utc = format_timestamp(moment)
    return in_utc if zone is UTC else f"{moment.astimezone(zone):%Y-%m-%d %H:%M} {zone}, {in_utc}"
