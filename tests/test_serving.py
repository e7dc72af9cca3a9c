"""The running service: connections, ambiguous requests, slow readers, logging, start and stop."""

import errno
import logging
import re
import signal
import socket
import threading
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import parse_headers
from pathlib import Path
from types import SimpleNamespace

import helpers
import pytest
from helpers import LISTS, SITEMAP, article_json, call_concurrently, get, open_files, run_sql, send, statuses, wait_for
from sqlalchemy import make_url
from waitress import wasyncore

from auth import hash_key
from benchmarks.servers import free_port, listening
from commands.support.start_message import print_start_message
from models import db
from serving.listener import base_url, listen
from serving.log import LineFormatter
from serving.server import Server
from settings import __version__

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE_BYTES = 20_000_000  # more than the kernel buffers for a connection
needs_full_disk = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


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
def start(shared):
    """Start services of the test's own on the shared database; kill them afterwards."""
    with ExitStack() as stack:

        def start(*prefix, **environment):
            server = helpers.Server(shared[1].database, *prefix, **environment)
            stack.callback(server.process.wait)
            stack.callback(server.process.kill)
            return server

        yield start


@pytest.fixture
def new_log(site):
    """Return a function that returns what the shared service has logged since the test began."""
    path = f"/begin/{site.customer.replace(' ', '-')}"
    get(site.server, path)
    site.server.wait_for_log(path)
    return lambda: site.server.log().partition(path)[2].partition("\n")[2]


def raw_request(path, method="GET", **headers):
    fields = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", *fields, "", ""]).encode()


def connect(server, receive_buffer=0):
    """Open a connection. With a small receive buffer, unread data stays in the service."""
    connection = socket.socket()
    connection.settimeout(20)
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.connect((server.host, server.port))
    return connection


@contextmanager
def stalled_reader(server, request):
    """Yield a connection whose client never reads the response."""
    with connect(server) as connection:
        connection.sendall(request)
        assert connection.recv(10, socket.MSG_PEEK)
        yield connection


def read_response(file, *, has_body=True):
    """Read one response from a connection: its status, headers and body."""
    status = int(file.readline().split()[1])
    headers = parse_headers(file)
    return status, headers, file.read(int(headers["Content-Length"] or 0) if has_body else 0)


def wait_until_closed(server):
    """Wait until a stopping service accepts no new connections."""

    def rejects_connections():
        with socket.socket() as client:
            return client.connect_ex((server.host, server.port)) == errno.ECONNREFUSED

    wait_for(rejects_connections, lambda: "still accepts connections")


# Responses and connections


def test_responses_keep_the_connection_open(site):
    request = partial(raw_request, x_api_key=site.key)
    requests = [
        *((200, request(path)) for path in (*LISTS, "/healthz")),
        *((200, request(LISTS[0], method)) for method in ("HEAD", "OPTIONS")),
        (304, request(LISTS[0], If_None_Match="*")),
        (401, request(LISTS[0], x_api_key="wrong")),
        (404, request("/nowhere")),
        (405, request(LISTS[0], "POST")),
    ]
    with connect(site.server) as connection, connection.makefile("rb") as file:
        for expected, data in requests * 2:
            connection.sendall(data)
            status, headers, _ = read_response(file, has_body=not data.startswith(b"HEAD"))
            assert (status, headers["Connection"]) == (expected, None), data
        connection.sendall(request(LISTS[0], If_None_Match="*", Connection="close"))
        status, headers, _ = read_response(file)
        assert (status, headers["Connection"], file.read()) == (304, "close", b"")


@pytest.mark.parametrize(
    ("headers", "body"), [({}, b""), ({"Content_Length": "0"}, b""), ({"Content_Length": "5"}, b"hello")]
)
def test_expect_continue_neither_gets_a_100_nor_leaks_the_key(site, headers, body):
    first = raw_request(LISTS[1], x_api_key=site.key, Expect="100-continue", **headers) + body
    with connect(site.server) as connection, connection.makefile("rb") as file:
        for request, status in ((first, 200), (raw_request(LISTS[1]), 401)):
            connection.sendall(request)
            assert read_response(file)[0] == status


# Ambiguous requests


AMBIGUOUS_HEADERS = [
    *(b"Host: x\r\nContent-Length: " + length for length in (b"-1", b"5\r\nTransfer-Encoding: chunked")),
    *(b"Accept: */*", b"Host: a\r\nHost: b", b"Host:\r\nHost:"),
    *(b"Host: " + host for host in (b"a b", b"a/b", b"a,b", b"a:8o", b"[::1", b"::1", b"x@y", b"\xe9")),
    *(b"Host: x\r\nTransfer-Encoding: " + coding for coding in (b"chunked, chunked", b"")),
    *(b"Host: x\r\ntransfer-encoding: chunked\r\n" + line for line in (b"Transfer-Encoding: chunked", b" , chunked")),
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
    assert statuses(send(site.server, request_)) == [400]


def test_unusual_but_valid_request_is_accepted(site):
    hosts = ("", "example.com:80", "example.com:", "[::1]:8000", "a_b", "127.0.0.1", "x%20y")
    heads = [f"1.1\r\nHost:{host}\r\nConnection: close" for host in hosts]
    heads += ["1.0", "1.0\r\nConnection: keep-alive"]  # HTTP/1.0 needs no Host
    for head in heads:
        received = send(site.server, f"GET /healthz?q=Café HTTP/{head}\r\n\r\n".encode())  # UTF-8, as curl sends it
        assert received.startswith(b"HTTP/1.0 200 " if head.startswith("1.0") else b"HTTP/1.1 200 "), head


# Slow, idle and disconnecting clients


class SteppedServer:
    """A server in this process. Its event loop only runs when a test calls `step`."""

    def __init__(self, app, stack):
        self.stack = stack
        self.listener = listen("127.0.0.1", 0)
        self.server = Server(app, self.listener, threads=1)
        stack.callback(self.server.close)
        stack.callback(self.server.task_dispatcher.shutdown)
        stack.callback(self.close_channels)

    def connect(self, sent=b""):
        """Return a client's socket, and the server's channel for it."""
        known = set(self.channels())
        client = self.stack.enter_context(socket.create_connection(self.listener.getsockname(), timeout=20))
        client.sendall(sent)
        wait_for(lambda: self.step() or set(self.channels()) - known, lambda: "not accepted")
        (channel,) = set(self.channels()) - known
        self.step()
        return client, channel

    def close_channels(self):
        for channel in self.channels():
            channel.handle_close()

    def channels(self):
        return list(self.server.active_channels.values())

    def step(self):
        """Run the event loop once."""
        wasyncore.loop(timeout=0.05, use_poll=True, map=self.server.sockets, count=1)

    def finish(self, channel):
        """Run the event loop until the channel's request has been processed."""
        tasks = self.server.task_dispatcher
        wait_for(lambda: self.step() or not (channel.requests or tasks.active_count), lambda: "not finished")


@pytest.fixture
def stepped(app):
    with ExitStack() as stack:
        yield SteppedServer(app, stack)


@pytest.fixture
def large_responses(stepped):
    """Serve large responses, which worker threads only finish when the returned event is set."""
    may_finish = threading.Event()

    def application(_environment, start_response):
        start_response("200 OK", [("Content-Length", str(LARGE_BYTES))])
        yield b"x" * LARGE_BYTES
        may_finish.wait(20)

    stepped.server.application = application
    yield may_finish
    may_finish.set()


def test_event_loop_leaves_sending_to_the_worker_thread(stepped, large_responses):
    """Otherwise, it would spin while a worker thread is sending a response."""
    _, channel = stepped.connect(HEALTH)
    wait_for(lambda: stepped.step() or channel.total_outbufs_len, lambda: "nothing was sent")
    channel.adj.outbuf_high_watermark = LARGE_BYTES
    assert not channel.writable()
    channel.adj.outbuf_high_watermark = channel.total_outbufs_len  # the worker thread would wait for the event loop
    assert channel.writable()
    large_responses.set()
    stepped.finish(channel)
    assert channel.writable()


def test_response_beyond_the_watermark_is_sent_completely(start, large_request):
    """The worker thread and the event loop must not wait for each other."""
    server = start(THREADS="1")
    with connect(server, receive_buffer=4096) as connection:
        connection.sendall(large_request * 2)
        with connection.makefile("rb") as file:
            responses = [read_response(file) for _ in range(2)]
    assert [(status, len(body) > LARGE_BYTES) for status, _, body in responses] == [(200, True)] * 2


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


@needs_proc
@pytest.mark.sqlite  # other tests' commits to the same PostgreSQL server make the cached response stale
def test_slow_readers_share_the_memory_of_a_response(start, large_request):
    """They need no temporary files either, which would count towards the limit of open files."""
    server = start()  # the shared one may have unused memory left from other tests
    status = Path(f"/proc/{server.process.pid}/status")

    def memory():
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read_text())[1]) * 1000

    with ExitStack() as stack:
        stack.enter_context(stalled_reader(server, large_request))
        before = memory()
        for _ in range(10):
            stack.enter_context(stalled_reader(server, large_request))
        assert memory() - before < 3 * LARGE_BYTES
        assert not [name for name in open_files(server.process.pid).values() if "(deleted)" in name]


def test_disconnects_do_not_clutter_the_log(site, new_log, large_request):
    for _ in range(5):
        with connect(site.server) as connection:
            connection.sendall(large_request * 3)
            connection.recv(10)
    assert site.get(f"/nowhere/{site.key}").status == 404
    site.server.wait_for_log(f"GET /nowhere/{site.key} 404")
    assert not [line for line in new_log().splitlines() if " INFO GET " not in line]


# The log


def test_log_has_one_line_per_request_and_no_keys(site, new_log):
    ((key_id,),) = run_sql(site.server.database, "SELECT id FROM api_key WHERE hash = ?", hash_key(site.key))
    user, path = f"{site.customer}  /{key_id}", LISTS[0]
    rename = "UPDATE customer SET name = ? WHERE name = ?"  # no command accepts this name
    run_sql(site.server.database, rename, f"{site.customer}\n\x1b", site.customer)
    responses = {
        f"GET {path} 200 %d bytes {user}": site.get(f"{path}?q=secret&x-api-key={site.key}"),
        f"GET {path} 304 %d bytes {user}": site.get(path, If_None_Match="*"),
        f"GET {path} 400 %d bytes {user}": site.get(f"{path}?take=0"),
        f"GET {path} 401 %d bytes -": site.get(path, x_api_key=site.key + "wrong"),
        f"OPTIONS {SITEMAP} 200 %d bytes -": site.get(SITEMAP, "OPTIONS"),
        f"GET {'/no%0A%1B%5B31mwhere/':x<200} 404 %d bytes -": site.get("/no%0a%1b[31mwhere/" + "x" * 5000),
        f"{'X' * 20} /healthz 405 %d bytes -": site.get("/healthz", "X" * 500),
    }
    site.server.wait_for_log(r" X{20} /healthz 405 .*\n")
    found = [
        re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ INFO (.*) \d+\.\d ms(.*)", line)
        for line in new_log().splitlines()
    ]
    assert [line[1] + line[2] for line in found] == [
        line.replace("%d", str(len(response.body))) for line, response in responses.items()
    ]


@pytest.mark.slow
def test_log_level_warning_logs_no_requests(start):
    """Not even waitress' warning if more requests arrive than there are threads."""
    server = start(LOG_LEVEL="warning", THREADS="1")
    assert all(call_concurrently(lambda _: get(server, "/healthz").status == 200, range(30), 30))
    assert server.stop() == 0
    assert server.log() == ""


def test_log_record_cannot_look_like_two(caplog):
    formatter = LineFormatter("%(levelname)s %(message)s")
    record = logging.makeLogRecord({"msg": "from\nINFO another \x1b[31mtool\x85x", "levelname": "ERROR"})
    assert formatter.format(record) == "ERROR from\n    INFO another  [31mtool\n    x"


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


def test_start_prints_the_database_without_its_password(app, capsys, monkeypatch):
    with app.app_context():
        url = make_url("postgresql+psycopg://ann:secret@db/articles?sslpassword=secret")
        monkeypatch.setattr(db.engine, "url", url)
        print_start_message("0.0.0.0", 8000)  # noqa: S104
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert "serving on http://127.0.0.1:8000 and on this machine's other addresses " in first
    assert second == "Database: postgresql+psycopg://ann:***@db/articles"


@pytest.mark.slow
@needs_full_disk
@pytest.mark.parametrize("redirection", [">&- 2>&-", ">/dev/full 2>&1"])
def test_service_runs_without_a_writable_output(shared, redirection):
    server = SimpleNamespace(host="127.0.0.1", port=free_port())
    prefix = ["sh", "-c", f'exec "$@" {redirection}', "sh"]
    args = helpers.subprocess_args(shared[1].database, "app.py", prefix=prefix, PORT=str(server.port))
    with listening(args["args"], server.port, cwd=args["cwd"], env=args["env"]) as running:
        assert get(server, "/healthz").status == 200
        running.process.terminate()
        assert running.process.wait(timeout=5) in (0, 120)  # 120: Python could not flush a standard stream


# Stopping


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_stop_completes_responses_in_flight(start, large_request, number):
    """A slow reader receives its complete response."""
    server = start()
    with connect(server), stalled_reader(server, large_request) as connection:
        server.process.send_signal(number)
        wait_until_closed(server)
        assert server.process.poll() is None
        with connection.makefile("rb") as file:
            status, headers, body = read_response(file)
    assert (status, len(body)) == (200, int(headers["Content-Length"]))
    assert len(body) > LARGE_BYTES
    assert server.process.wait(timeout=5) == 0


def test_stop_completes_requests_not_yet_read(stepped):
    """A recently active connection may already have sent another request. It gets one last response."""
    connections = [stepped.connect(HEALTH) for _ in range(3)]
    for client, channel in connections:
        stepped.finish(channel)
        assert statuses(client.recv(1000)) == [200]
    for client, _ in connections:
        client.sendall(HEALTH)
    stepped.server.stop()
    stepped.server.run()
    for client, _ in connections:
        with client.makefile("rb") as file:
            status, headers, _ = read_response(file)
            assert (status, headers["Connection"]) == (200, "close")


def test_stop_waits_a_limited_time_for_a_stalled_reader(stepped, large_responses, monkeypatch):
    monkeypatch.setattr("serving.server.DRAIN_SECONDS", 0.1)
    large_responses.set()
    _, channel = stepped.connect(HEALTH)
    stepped.finish(channel)
    stepped.server.stop()
    stepped.server.run()
    assert stepped.channels() == [channel]
