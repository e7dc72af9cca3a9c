"""Import and export: sources, the plan, the writer, the report, and the formats of this service."""


class ImportFailedError(Exception):
    """An import that wrote nothing. The message has one line per mistake."""
