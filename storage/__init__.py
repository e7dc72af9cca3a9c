"""Access to the database."""


class StorageError(Exception):
    """A database that cannot be used. The message says why and what to do, in one or two lines."""
