"""The limit on open files. Each connection counts towards it."""

from contextlib import suppress


def raise_open_file_limit(needed: int) -> int:
    """Raise this process's limit on open files to `needed` if it is lower. Returns it, but at most `needed`.

    Without privileges, the system's hard limit cannot be exceeded.
    """
    try:
        import resource  # only on Unix
    except ImportError:
        return needed
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return needed
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    with suppress(OSError, ValueError):  # a system may have further limits
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
