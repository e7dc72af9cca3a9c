"""The running service: connections, ambiguous requests, slow readers, logging, start and stop."""

import errno
import re
import signal
import socket
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from http.client import parse_headers
from pathlib import Path

import helpers
import pytest
from helpers import LISTS, SITEMAP, article_json, run_sql, wait_for
from sqlalchemy import make_url

from auth import hash_key
from commands.support.start_message import print_start_message
from models import db
from serving.listener import base_url, listen
from serving.server import Channel, Server
from settings import __version__

LARGE_BYTES = 20_000_000  # more than the kernel buffers for a connection


@pytest.fixture(scope="module")
def large_request(shared):
    """A request with a response of 20 MB."""
    app, _ = shared
    key = helpers.create_key(app, "Large")
    helpers.save_articles(
        app, *(article_json(number, contentHtml="x" * 200_000) for number in range(100)), customer="Large"
    )
    return raw_request(f"{LISTS[0]}?take=100", x_api_key=key)


@pytest.fixture
def server(shared):
    """A service of the test's own on the shared database."""
    server = helpers.Server(shared[1].database)
    yield server
    server.process.kill()
    server.process.wait()


def raw_request(path, **headers):
    fields = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *fields, "", ""]).encode()


def connect(server):
    return socket.create_connection((server.host, server.port), timeout=20)


@contextmanager
def stalled_reader(server, request):
    """Yield a connection whose client never reads the response."""
    with connect(server) as connection:
        connection.sendall(request)
        assert connection.recv(10, socket.MSG_PEEK)
        yield connection


def send(server, data):
    """Send raw bytes; return what arrives until the server closes or is silent for a moment."""
    received = b""
    with connect(server) as connection, suppress(OSError):
        connection.settimeout(0.5)
        connection.sendall(data)
        while chunk := connection.recv(65536):
            received += chunk
    return received


def read_response(file):
    """Read one response from a connection: its status, headers and body."""
    status = int(file.readline().split()[1])
    headers = parse_headers(file)
    return status, headers, file.read(int(headers["Content-Length"] or 0))


# Responses and connections


def test_responses_keep_the_connection_open(site):
    request = partial(raw_request, LISTS[0], x_api_key=site.key)
    requests = [(200, request()), (304, request(If_None_Match="*")), (401, request(x_api_key="wrong"))]
    with connect(site.server) as connection, connection.makefile("rb") as file:
        for expected, data in requests * 2:
            connection.sendall(data)
            status, headers, _ = read_response(file)
            assert (status, headers["Connection"]) == (expected, None)
        connection.sendall(request(If_None_Match="*", Connection="close"))
        status, headers, _ = read_response(file)
        assert (status, headers["Connection"], file.read()) == (304, "close", b"")


@pytest.mark.parametrize(("headers", "body"), [({}, b""), ({"Content_Length": "5"}, b"hello")])
def test_expect_continue_neither_gets_a_100_nor_leaks_the_key(site, headers, body):
    first = raw_request(LISTS[1], x_api_key=site.key, Expect="100-continue", **headers) + body
    with connect(site.server) as connection, connection.makefile("rb") as file:
        for request, status in ((first, 200), (raw_request(LISTS[1]), 401)):
            connection.sendall(request)
            assert read_response(file)[0] == status


# Ambiguous requests


AMBIGUOUS_HEADERS = [
    b"Host: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
    b"Host: x\r\nTransfer-Encoding: chunked, chunked",
    b"Host: x\r\ntransfer-encoding: chunked\r\nTransfer-Encoding: chunked",
    b"Host: x\r\nTransfer-Encoding: chunked\r\n , chunked",
    b"Accept: */*",
    b"Host: a\r\nHost: b",
    *(b"Host: " + host for host in (b"a b", b"a/b", b"a:8o", b"[::1", b"x@y", b"\xe9")),
]


@pytest.mark.parametrize(
    "request_",
    [
        *(b"GET / HTTP/1.1\r\n%b\r\n\r\n0\r\n\r\n" % headers for headers in AMBIGUOUS_HEADERS),
        b"GET / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
)
def test_ambiguous_body_length_or_host_is_a_400(site, request_):
    """Otherwise, a proxy could take another request for the next one on the connection (request smuggling)."""
    assert re.findall(rb"^HTTP/1\.[01] (\d+)", send(site.server, request_), re.MULTILINE) == [b"400"]


def test_unusual_but_valid_request_is_accepted(site):
    hosts = ("", "example.com:80", "[::1]:8000", "a_b")
    heads = [f"1.1\r\nHost:{host}\r\nConnection: close" for host in hosts]
    heads.append("1.0")  # needs no Host
    for head in heads:
        received = send(site.server, f"GET /healthz?q=Café HTTP/{head}\r\n\r\n".encode())  # UTF-8, as curl sends it
        assert received.startswith(b"HTTP/1.0 200 " if head.startswith("1.0") else b"HTTP/1.1 200 "), head


# Slow clients


def test_event_loop_leaves_sending_to_the_worker_thread(app):
    """Otherwise, it would spin while a worker thread is sending a response."""
    listener = listen("127.0.0.1", 0)
    with (
        closing(Server(app, listener, threads=1)) as server,
        socket.create_connection(listener.getsockname()) as client,
    ):
        channel = Channel(server, client, ("127.0.0.1", 0), server.adj, map={})
        channel.requests = ["a request"]
        channel.total_outbufs_len = 1
        assert not channel.writable()
        channel.total_outbufs_len = channel.adj.outbuf_high_watermark  # the worker thread waits for the event loop
        assert channel.writable()
        server.task_dispatcher.shutdown()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.sqlite  # other tests' commits to the same PostgreSQL server make the cached response stale
def test_slow_readers_share_the_memory_of_a_response(server, large_request):
    status = Path(f"/proc/{server.process.pid}/status")

    def memory():
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read_text())[1]) * 1000

    with ExitStack() as stack:
        stack.enter_context(stalled_reader(server, large_request))
        before = memory()
        for _ in range(10):
            stack.enter_context(stalled_reader(server, large_request))
        assert memory() - before < 3 * LARGE_BYTES


# The log


def test_log_has_one_line_per_request_and_no_keys(site):
    begin = len(site.server.log())
    ((key_id,),) = run_sql(site.server.database, "SELECT id FROM api_key WHERE hash = ?", hash_key(site.key))
    user, path = f"{site.customer}/{key_id}", LISTS[0]
    responses = {
        f"GET {path} 200 %d bytes {user}": site.get(f"{path}?q=secret&x-api-key={site.key}"),
        f"GET {path} 304 %d bytes {user}": site.get(f"{path}?q=secret", If_None_Match="*"),  # from the cache
        f"GET {path} 401 %d bytes -": site.get(path, x_api_key=site.key + "wrong"),
        f"OPTIONS {SITEMAP} 200 %d bytes -": site.get(SITEMAP, "OPTIONS"),
        f"GET {'/no%0A%1B%5B31mwhere/':x<200} 404 %d bytes -": site.get("/no%0a%1b[31mwhere/" + "x" * 5000),
        f"{'X' * 20} /healthz 405 %d bytes -": site.get("/healthz", "X" * 500),
    }
    site.server.wait_for_log(r" X{20} /healthz 405 .*\n")
    found = [
        re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ INFO (.*) \d+\.\d ms(.*)", line)
        for line in site.server.log()[begin:].splitlines()
    ]
    assert [line[1] + line[2] for line in found] == [
        line.replace("%d", str(len(response.body))) for line, response in responses.items()
    ]


def test_log_level_warning_omits_requests(start):
    server = start(LOG_LEVEL="warning")
    assert helpers.get(server, "/nowhere").status == 404
    assert server.stop() == 0
    assert "/nowhere" not in server.log()


# Starting


URL_HOSTS = {"localhost": "localhost", "0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]"}  # noqa: S104


@pytest.mark.parametrize(("host", "url_host"), URL_HOSTS.items())
def test_service_can_be_reached_at_its_url_on_any_host(host, url_host):
    with listen(host, 0) as listener:
        port = listener.getsockname()[1]
        assert base_url(host, port) == f"http://{url_host}:{port}"
        for address in (url_host.strip("[]"), *(["127.0.0.1"] if host == "::" else [])):
            socket.create_connection((address, port)).close()


def test_start_prints_the_url_the_database_and_first_commands(shared):
    _, server = shared  # started on an empty database
    first, second, *others = server.printed().splitlines()
    assert first.startswith(f"Article Delivery API {__version__}: serving on http://127.0.0.1:{server.port} ")
    assert second == f"Database: {make_url(helpers.database_url(server.database)).set(query={})!r}"
    assert "flask keys create CUSTOMER" in others[0]
    assert "python seed.py" in others[1]


def test_database_is_printed_and_logged_without_its_password(app, sql, capsys, caplog, monkeypatch):
    with app.app_context():
        url = make_url("postgresql+psycopg://ann:secret@db/articles?sslpassword=secret")
        monkeypatch.setattr(db.engine, "url", url)
        print_start_message("127.0.0.1", 8000)
    sql("DROP TABLE article")
    assert app.test_client().get("/healthz").status_code == 503
    for printed in (capsys.readouterr().out, caplog.text):
        assert ("//ann:***@db/articles" in printed, "secret" in printed) == (True, False)


# Stopping


def refuses_connections(server):
    with socket.socket() as client:
        return client.connect_ex((server.host, server.port)) == errno.ECONNREFUSED


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_stop_completes_responses_in_flight(server, large_request, number):
    """A slow reader receives its complete response."""
    with connect(server), stalled_reader(server, large_request) as connection:
        server.process.send_signal(number)
        wait_for(lambda: refuses_connections(server), lambda: "still accepts connections")
        assert server.process.poll() is None
        with connection.makefile("rb") as file:
            status, headers, body = read_response(file)
    assert (status, len(body)) == (200, int(headers["Content-Length"]))
    assert len(body) > LARGE_BYTES
    assert server.process.wait(timeout=5) == 0


@pytest.mark.slow
def test_stop_waits_a_limited_time_for_a_stalled_reader(server, large_request):
    """Container runtimes kill it after ten seconds."""
    with stalled_reader(server, large_request):
        server.process.terminate()
        assert server.process.wait(timeout=10) == 0
