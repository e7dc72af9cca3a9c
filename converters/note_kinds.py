"""Kinds of notes that several converters use."""

DROPPED = "Dropped"
NO_CONTENT = "Articles without any content"
NO_DATE = "No date: new articles are drafts, and stored ones keep their status"
NOT_IMPORTED = "Not imported"
OTHER_CATEGORIES = "Other categories were dropped"
RESTRICTED = "Saved as drafts because access to them is restricted"
UNKNOWN_FIELDS = "Unknown fields"
