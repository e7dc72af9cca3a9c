"""Import and export: the writer, the report, JSON, this service's article files, and other instances."""


class ImportFailedError(Exception):
    """An import that wrote nothing. The message has one line per mistake."""
