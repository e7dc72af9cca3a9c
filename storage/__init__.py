"""Everything that deals with the database: connections, queries, change detection, upgrades, backup."""


class StorageError(Exception):
    """The database cannot be used as requested.

    The message is for users: it gives the reason and a remedy in one or two lines.
    """
