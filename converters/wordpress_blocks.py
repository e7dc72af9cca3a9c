"""Blocks of WordPress posts that not every reader may see."""

import json
import re
from typing import Any

from converters.records import MEMBERS_PARTS

# The start or end of a block. A comment ends before the next one begins, so that the time is linear.
DELIMITER = re.compile(r"<!--\s+(/?)wp:([\w/-]+)(\s(?:[^<]|<(?!!--))*?)-->")
SUBSCRIBER_VIEW = "premium-content/subscriber-view"
PAYWALL = "jetpack/paywall"
PAYWALL_BLOCK = f"<!-- wp:{PAYWALL} /-->"


def remove_hidden(text: str) -> tuple[str, set[str]]:
    """Return text without hidden blocks and parts for members, and what to report. A paywall block ends the text.

    As in WordPress, each end closes the last open block, and a block that has none extends to the end of the text.
    """
    parts, notes = list[str](), set[str]()
    start = depth = hidden_depth = 0
    for delimiter in DELIMITER.finditer(text):
        is_empty = delimiter[3].endswith("/")
        if delimiter[1]:
            if depth and depth == hidden_depth:
                start, hidden_depth = delimiter.end(), 0
            depth = max(depth - 1, 0)
            continue
        if not hidden_depth and (note := _reason_to_hide(delimiter[2], delimiter[3])):
            notes.add(note)
            parts.append(text[start : delimiter.start()])
            if delimiter[2] == PAYWALL:
                return "".join([*parts, PAYWALL_BLOCK]), notes
            start, hidden_depth = delimiter.end(), 0 if is_empty else depth + 1
        depth += not is_empty
    return "".join([*parts, "" if hidden_depth else text[start:]]), notes


def _reason_to_hide(name: str, settings: str) -> str:
    """Return what to report about a block that not everyone sees, or "" for all others."""
    if name in (SUBSCRIBER_VIEW, PAYWALL):
        return MEMBERS_PARTS
    attributes = parse_json(settings.removesuffix("/"))
    metadata = attributes.get("metadata") if isinstance(attributes, dict) else None
    is_hidden = isinstance(metadata, dict) and metadata.get("blockVisibility") is False
    return "Blocks that are hidden on the old site were removed" if is_hidden else ""


def parse_json(text: str | None) -> Any:
    """Return what JSON contains, or None if it is invalid."""
    try:
        return json.loads(text or "null")
    except (ValueError, RecursionError):
        return None
