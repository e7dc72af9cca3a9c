"""The limit of open files: each connection is one."""

from contextlib import suppress


def allow_open_files(needed: int) -> int:
    """Raise the limit of open files of this process to `needed`, if it is lower. Returns the resulting limit.

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
