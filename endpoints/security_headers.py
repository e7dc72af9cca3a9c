"""Headers against content sniffing, script execution and framing.

See https://cheatsheetseries.owasp.org/cheatsheets/REST_Security_Cheat_Sheet.html#security-headers.
"""

from flask import Flask, Response

SECURITY_HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
]


def init_app(app: Flask) -> None:
    """Add the headers to every response."""
    app.after_request(add_security_headers)


def add_security_headers(response: Response) -> Response:
    """Add the headers that the view has not set itself."""
    for name, value in SECURITY_HEADERS:
        response.headers.setdefault(name, value)
    return response
