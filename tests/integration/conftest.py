"""Fixtures of several integration tests."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from helpers import get


@pytest.fixture
def changing(server, sql):
    """A proxy of the service. After each first page, it withdraws article 120, or publishes it again.

    `changes` is the number of times left.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            response = get(server, self.path, x_api_key=self.headers["x-api-key"])
            if "/articles?" in self.path and "skip=0" in self.path and proxy.changes:
                proxy.changes -= 1
                sql("UPDATE article SET status = iif(status = 'draft', 'published', 'draft') WHERE id = 'id-0120'")
            self.send_response(response.status)
            for name in ("Content-Type", "ETag"):
                self.send_header(name, response.headers[name])
            self.end_headers()
            self.wfile.write(response.body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        proxy.url = f"http://127.0.0.1:{proxy.server_port}/api/public/v1"
        Thread(target=proxy.serve_forever).start()
        yield proxy
        proxy.shutdown()
