"""The listening socket, and its URL."""

import socket

from settings import SettingsError

# all addresses -> one that this machine can connect to
WILDCARD_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104


def base_url(host: str, port: int) -> str:
    """Return the URL for reaching a service on `host` and `port` from this machine."""
    local = WILDCARD_HOSTS.get(host, host)
    return f"http://[{local}]:{port}" if ":" in local else f"http://{local}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket. Raises SettingsError if the host is invalid or the port is taken.

    If the host name has several addresses, IPv4 is preferred. `::` accepts IPv4 too if the system supports it.
    """
    try:
        family, *_, address = min(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))  # IPv4 sorts first
        accepts_ipv4_too = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, dualstack_ipv6=accepts_ipv4_too)
    except (OSError, UnicodeError) as error:
        # create_server appends "(while attempting to bind on address …)"
        reason = getattr(error, "strerror", "invalid host name").partition(" (while")[0]
        advice = "Set HOST to an address of this machine, such as 127.0.0.1, and PORT to a free port, 1024 or higher."
        raise SettingsError(f"Cannot listen on HOST {host[:50]}, PORT {port}: {reason}. {advice}") from error
