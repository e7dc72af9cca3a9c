"""All that knows HTTP servers."""


class ListenError(Exception):
    """Why the service cannot listen where HOST and PORT say."""
