"""Times in the site's time zone, as people write and read them."""

from datetime import UTC, datetime, tzinfo

import click

from fields import format_timestamp, truncate_to_milliseconds


def parse_local_time(text: str, zone: tzinfo) -> datetime:
    """Parse the value of --at into a datetime in UTC, rounded down to milliseconds.

    Accepts the same formats as imports. A time without a UTC offset is in `zone`. Raises click.BadParameter for
    anything else, and for a nonexistent or ambiguous local time.
    """
    from converters.dates import is_nonexistent, parse_written_date, possible_instants  # compiles many patterns

    try:
        written = parse_written_date(text)
        instants = possible_instants(written, zone)
    except ValueError as error:
        raise click.BadParameter(f"{text!r}: {error}", param_hint="--at") from error
    if len(instants) > 1:
        readings = " or ".join(instant.astimezone(zone).isoformat() for instant in instants)
        is_skipped = is_nonexistent(instants[0], written.moment, zone)
        reason = f"{'Does not exist' if is_skipped else 'Is ambiguous'} in {zone} (daylight saving)."
        raise click.BadParameter(f"{text!r}: {reason} Write {readings}.", param_hint="--at")
    return truncate_to_milliseconds(instants[0])


def format_local(moment: datetime, zone: tzinfo) -> str:
    """Return a datetime in UTC as a local time, to the minute; with `zone` UTC, as the API's timestamp."""
    return format_timestamp(moment) if zone is UTC else f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"


def format_both(moment: datetime, zone: tzinfo) -> str:
    """Return a datetime in UTC as a local time with the zone's name, followed by the API's timestamp."""
    timestamp = format_timestamp(moment)
    return timestamp if zone is UTC else f"{format_local(moment, zone)} {zone}, {timestamp}"
