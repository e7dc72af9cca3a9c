"""Responses to single requests: waitress' tasks, adapted to this API."""

import logging
from typing import Any

from waitress.task import ErrorTask, WSGITask

from endpoints.security_headers import SECURITY_HEADERS
from errors import STATUS_TITLES, render_problem

access_log = logging.getLogger("access")


class ApiTask(WSGITask):  # type: ignore[misc]  # waitress has no types
    """A task that sends the application's response."""

    def get_environment(self) -> dict[str, Any]:
        """Return the WSGI environment, without the server's way to send files.

        It keeps a file open until the client has received it. A client that pipelines requests without reading the
        responses could thus open more files than the process may.
        """
        environment: dict[str, Any] = super().get_environment()
        environment.pop("wsgi.file_wrapper", None)
        return environment

    def start(self) -> None:
        """Start the response. During shutdown, it is the last one on its connection.

        Bug: waitress does not send "Connection: close", so clients send requests that get lost (RFC 9112, 9.6).
        """
        super().start()
        if self.channel.server.is_stopping:
            super().set_close_on_finish()

    def set_close_on_finish(self) -> None:
        """Close the connection after this response, unless it is a 304 on a persistent connection.

        Bug: waitress closes the connection after every 304, which has no Content-Length (RFC 9112, 6.3; pull request
        502).
        """
        keeps_connection = self.version == "1.1" and self.request.headers.get("CONNECTION", "").lower() != "close"
        if not (self.status.startswith("304") and keeps_connection):
            super().set_close_on_finish()


class ProblemTask(ErrorTask):  # type: ignore[misc]
    """A task that sends the response to a request that waitress has rejected.

    Bug: waitress sends plain text that names the server, instead of the API's error format and headers.
    """

    def execute(self) -> None:
        """Send problem details. The request may not have been parsed, so method and path are not logged."""
        error = self.request.error
        detail = f"{error.body.rstrip('.')}." if error.code == 400 else None  # waitress' own lack the full stop
        body = render_problem(error.code, detail)
        self.status = f"{error.code} {STATUS_TITLES[error.code]}"
        self.response_headers += [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")]
        self.response_headers += SECURITY_HEADERS
        if self.channel.server.allow_origins:  # any, because the Origin header may not have been parsed
            self.response_headers.append(("Access-Control-Allow-Origin", "*"))
        self.content_length = len(body)
        self.set_close_on_finish()
        self.write(b"" if getattr(self.request, "command", "") == "HEAD" else body)
        access_log.info("- - %d %d bytes - -", error.code, len(body))
