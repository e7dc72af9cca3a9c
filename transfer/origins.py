"""Origins: which article of which source a stored article is, as text.

An origin is SOURCE/KEY. A key may contain slashes, such as the path of a file; of the sources, only the address of a
WordPress blog may, whose keys are numbers.
"""

import re

ORIGIN = re.compile(r"(wordpress:.*|[^/]*)/(.+)", re.DOTALL)


def source_of(origin: str | None) -> str | None:
    """Return the source of an origin, or None if it is missing or unknown."""
    match = ORIGIN.fullmatch(origin or "")
    return match[1] if match else None
