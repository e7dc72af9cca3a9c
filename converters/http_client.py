"""HTTP requests to WordPress sites and to other instances of this service."""

from http.client import HTTPException, HTTPMessage
from typing import IO, NamedTuple
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from werkzeug.urls import iri_to_uri

from content.urls import has_same_host
from converters.source_articles import SourceError

TIMEOUT_SECONDS = 60  # without a byte from the server
MAX_LENGTH = 50_000_000  # bytes of a response to a request without a key


class Response(NamedTuple):
    """A successful response."""

    url: str  # after redirects
    headers: HTTPMessage
    content: bytes


def request(url: str, advice: str, if_denied: str, key: str | None = None) -> Response:
    """Request a URL with an API key, or without one.

    Raises SourceError if that fails, leads to another host, or redirects a key. The message ends with `advice` or, for
    a status of 401 or 403, with `if_denied`.
    """
    headers = {"User-Agent": "article-delivery-api"} | ({"x-api-key": key} if key else {})
    try:
        opened = Request(iri_to_uri(url), headers=headers)  # noqa: S310
        with build_opener(_CheckedRedirects).open(opened, timeout=TIMEOUT_SECONDS) as response:
            content = response.read(None if key else MAX_LENGTH + 1)
    except HTTPError as error:
        error.close()
        advice = if_denied if error.code in (401, 403) else advice
        raise SourceError(f"Responds with {error.code} {error.reason}. {advice}") from error
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        reason = getattr(reason, "strerror", None) or reason  # without the number of a system error
        raise SourceError(f"Cannot be read ({reason}). {advice}") from error
    if len(content) > MAX_LENGTH and not key:
        raise SourceError(f"The response is longer than {MAX_LENGTH // 1_000_000} MB.")
    return Response(response.url, response.headers, content)


class _CheckedRedirects(HTTPRedirectHandler):
    """A handler that refuses redirects to other hosts, and all redirects of a key."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if req.has_header("X-api-key") or not has_same_host(newurl, req.full_url):
            fp.close()
            raise SourceError(f"Redirects to {newurl}. If that is right, name that URL.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
