"""Import and export: sources, checks, matching, the plan, the writer, the report, and the formats of this service."""


class ImportFailedError(Exception):
    """An import that wrote nothing. The message has one line per problem."""


class SuspiciousImportError(Exception):
    """An import that wrote nothing, because it would hide, replace or leave alone suspiciously many articles.

    The message has one line per reason to stop.
    """
