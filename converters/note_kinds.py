"""Kinds of notes that several converters use."""

LEFT_OUT = "Values that were left out because they are not understood"
NO_CONTENT = "Articles without any content"
NO_DATE = "No date, so the source does not say whether they are published"
RESTRICTED = "Withheld because access to them is restricted"
UNKNOWN_FIELDS = "Unknown fields that may have hidden articles"
