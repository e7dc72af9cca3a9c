"""Times as a person writes and reads them: of the site's time zone."""

from datetime import UTC, datetime, tzinfo

import click
from flask import current_app

from converters.dates import parse_written_date, possible_instants
from fields import format_timestamp, truncate_to_milliseconds


def timestamp(text: str) -> datetime:
    """Parse a date as a datetime in UTC, to the millisecond. Without a zone it is in that of the setting TIMEZONE.

    Raises click.BadParameter for anything else, and for a local time that is nonexistent or ambiguous.
    """
    zone = current_app.config["TIMEZONE"]
    try:
        instants = possible_instants(parse_written_date(text), zone)
    except ValueError as error:
        hint = "Write it as in 2026-01-31, 31.01.2026, '2026-01-31 09:30' or 2026-01-31T09:30:00Z."
        raise click.BadParameter(f"{text!r}: {hint}") from error
    if len(instants) > 1:
        readings = " or ".join(instant.astimezone(zone).isoformat() for instant in instants)
        reason = f"This time does not exist or is ambiguous in {zone} (daylight saving)."
        raise click.BadParameter(f"{text!r}: {reason} Write {readings}.")
    return truncate_to_milliseconds(instants[0])


def format_local(moment: datetime, zone: tzinfo) -> str:
    """Return an aware datetime in UTC as a time of `zone`, to the minute, and as a timestamp in UTC."""
    in_utc = format_timestamp(moment)
    return in_utc if zone is UTC else f"{moment.astimezone(zone):%Y-%m-%d %H:%M} {zone}, {in_utc}"
