"""Access to the database."""


class StorageError(Exception):
    """Why the database cannot be used, and what to do about it, in one or two lines."""
