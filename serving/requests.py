"""Parsing of requests: waitress' parser, made stricter."""

import re
from urllib.parse import quote

from waitress.parser import HTTPRequestParser, ParsingError, TransferEncodingNotImplemented

START_LINE = re.compile(rb"[^ ]+ (/|\*|(?i:https?)://)[!-~]* HTTP/1\.[0-9]")
LATER_VERSION = re.compile(rb"HTTP/1\.[2-9]$")
TRANSFER_ENCODING = re.compile(rb"^transfer-encoding:(.*?)\r\n(?![ \t])", re.IGNORECASE | re.MULTILINE | re.DOTALL)
# RFC 9110, 7.2, and RFC 3986, 3.2.2; may be empty
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(:[0-9]*)?")
ASCII = bytes(range(128)).decode()


class StrictRequestParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """A parser that rejects malformed requests, which a proxy might interpret differently (request smuggling)."""

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the start line and the headers. Raises ParsingError if they are malformed or unsupported."""
        start_line, end, headers = header_plus.partition(b"\r\n")
        # Bug: raw UTF-8 in the request target, as curl sends it, is rejected (issue 64).
        if not start_line.isascii():
            start_line = quote(start_line, safe=ASCII).encode()
        # Bug: malformed start lines are accepted (RFC 9112, 3).
        if not START_LINE.fullmatch(start_line):
            raise ParsingError("The request line is malformed. Send a method, a path and HTTP/1.1.")
        # OPTIONS * is about the whole server (RFC 9110, 9.3.7). Flask only knows paths.
        start_line = start_line.replace(b"OPTIONS * ", b"OPTIONS / ", 1)
        # Bug: later minor versions are treated as 1.0 (RFC 9110, 2.5).
        start_line = LATER_VERSION.sub(b"HTTP/1.1", start_line)
        codings = [value.strip(b" \t").lower() for value in TRANSFER_ENCODING.findall(end + headers)]
        try:
            super().parse_header(start_line + end + headers)
        except ValueError as error:  # "http://["
            raise ParsingError("The request target is malformed.") from error
        except TransferEncodingNotImplemented as error:
            raise ParsingError("Only the transfer coding chunked is supported.") from error
        finally:
            # Bug: after "100 Continue", the next request on the connection is parsed as the body of this one, and gets
            # the API key of this one, even if this one has no body or was rejected (RFC 9110, 10.1.1). No endpoint
            # needs a body, so we never ask for one.
            self.expect_continue = False
        self._check_headers(codings)

    def _check_headers(self, codings: list[bytes]) -> None:
        """Raise ParsingError if the body's length or the host is ambiguous. `codings` are the transfer codings."""
        # Bug: ambiguous body lengths are accepted (RFC 9112, 6.1; issues 464 and 465).
        if codings and (codings != [b"chunked"] or self.version != "1.1" or "CONTENT_LENGTH" in self.headers):
            raise ParsingError("Transfer-Encoding must be chunked, in HTTP/1.1 and without Content-Length.")
        # Bug: a missing, repeated (joined by ", ") or invalid Host is accepted (RFC 9112, 3.2; issue 462).
        host = self.headers.get("HOST", "" if self.version == "1.0" else None)
        if host is None or not HOST.fullmatch(host):
            raise ParsingError("Send exactly one valid Host header.")
