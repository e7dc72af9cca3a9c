"""The service as it runs: real connections, its log, starting and stopping."""

import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pytest
from conftest import ENDPOINTS, LISTS, PROJECT, article, get, program, wait_for


def send(server, data):
    """Send raw bytes and give all that comes back until the server closes or says nothing for half a second."""
    received = b""
    with socket.create_connection((server.host, server.port), timeout=0.5) as connection, suppress(OSError):
        connection.sendall(data)
        while chunk := connection.recv(65536):
            received += chunk
    return received


def wait_for_log(server, pattern):
    return wait_for(lambda: re.search(pattern, server.log()), lambda: f"{pattern} is not in the log: {server.log()}")


def test_it_prints_its_address_and_what_is_missing(app, start, save, key):
    save(article(1))
    full = start()
    assert full.printed() == f"Serving on http://127.0.0.1:{full.port} (Ctrl+C stops)\n"


def test_an_empty_database_is_told_with_the_commands_that_fill_it(server):
    assert "flask keys create CUSTOMER" in server.printed()
    assert "python seed.py" in server.printed()
    assert get(server, "/healthz").status == 200


def test_it_serves_what_the_application_answers(client, save, server, key):
    save(*(article(number, content_html="<p>long</p>" * 2000) for number in range(100)))
    for path in (*ENDPOINTS, LISTS[0] + "?take=100", LISTS[1] + "?q=title%201&order=asc"):
        answer = get(server, path, x_api_key=key)
        assert answer.status == 200
        assert answer.body == client.get(path).data
        again = get(server, path, x_api_key=key, If_None_Match=answer.getheader("ETag"))
        assert (again.status, again.body) == (304, b"")
        head = get(server, path, "HEAD", x_api_key=key)
        assert (head.status, head.body) == (200, b"")
        assert int(head.getheader("Content-Length")) == len(answer.body)


def test_a_connection_serves_many_requests(server):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=10)
    connection.connect()
    ends = set()
    for path in ("/healthz", "/nowhere", ENDPOINTS[0], "/healthz"):
        ends.add(connection.sock.getsockname())
        connection.request("GET", path)
        connection.getresponse().read()
    assert len(ends) == 1
    connection.close()


def test_a_304_keeps_the_connection_unless_the_client_closes_it(app, server, key):
    with socket.create_connection((server.host, server.port), timeout=5) as connection:
        ask = f"GET {LISTS[0]} HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\nIf-None-Match: *\r\n"
        for _ in range(3):
            connection.sendall(f"{ask}\r\n".encode())
            head = connection.recv(65536)
            assert head.startswith(b"HTTP/1.1 304 ")
            assert head.endswith(b"\r\n\r\n")
            assert b"Connection" not in head
        connection.sendall(f"{ask}Connection: close\r\n\r\n".encode())
        assert b"Connection: close" in connection.recv(65536)
        assert connection.recv(1) == b""


def test_each_request_is_a_line_of_the_log_without_keys(app, save, server, key):
    save(article(1))
    get(server, LISTS[0] + f"?q=secret&x-api-key={key}", x_api_key=key)
    get(server, LISTS[0], x_api_key=key + "wrong")
    get(server, "/no%0a%1b[31mwhere/" + "x" * 5000)
    get(server, "/healthz", "X" * 500)
    wait_for_log(server, r" X{20} /healthz 405 ")
    moment = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    line = wait_for_log(server, moment + r" INFO GET /api/public/v1/articles 200 (\d+) bytes (\d+\.\d) ms Acme\n")
    assert int(line[1]) > 10
    wait_for_log(server, r"GET /api/public/v1/articles 401 \d+ bytes \d+\.\d ms -\n")
    wait_for_log(server, r"GET /no%0A%1B%5B31mwhere/x{100,200} 404 ")
    assert key not in server.log()
    assert "secret" not in server.log()
    assert "\x1b" not in server.log()


def test_the_log_can_be_quiet(start):
    quiet = start(LOG_LEVEL="warning")
    assert get(quiet, "/healthz").status == 200
    assert quiet.stop() == 0
    assert quiet.log() == ""


def test_more_requests_than_threads_flood_no_log(start, save, key):
    save(article(1))
    server = start(THREADS="1")
    threads = [threading.Thread(target=get, args=(server, LISTS[0]), kwargs={"x_api_key": key}) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "queue" not in server.log()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_when_stopped_it_finishes_what_is_in_flight(app, save, server, key, number):
    """A reader that is slow to take a large answer gets all of it, though the service was told to stop meanwhile."""
    save(*(article(each, content_html="x" * 200_000) for each in range(100)))
    with socket.create_connection((server.host, server.port), timeout=20) as connection:
        connection.sendall(f"GET {LISTS[0]}?take=100 HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n".encode())
        received = bytearray(connection.recv(1000))
        server.process.send_signal(number)
        time.sleep(0.5)
        assert server.process.poll() is None
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((server.host, server.port))
        length = int(re.search(rb"Content-Length: (\d+)", received)[1])
        assert length > 20_000_000
        expected = received.index(b"\r\n\r\n") + 4 + length
        while len(received) < expected and (chunk := connection.recv(1 << 20)):
            received += chunk
        missing = expected - len(received)
    assert missing == 0
    assert server.process.wait(timeout=5) == 0
    json.loads(received[-length:])


def test_a_reader_that_takes_nothing_delays_the_stop_only_so_long(app, save, server, key):
    save(*(article(each, content_html="x" * 200_000) for each in range(100)))
    with socket.create_connection((server.host, server.port), timeout=20) as connection:
        connection.sendall(f"GET {LISTS[0]}?take=100 HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n".encode())
        connection.recv(10)
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began > 5


def test_idle_connections_do_not_delay_the_stop(server):
    idle = [socket.create_connection((server.host, server.port)) for _ in range(20)]
    get(server, "/healthz")
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 5
    for connection in idle:
        connection.close()


def test_clients_that_pipeline_and_do_not_read_keep_no_thread(save, server, key):
    """As many of them as there are threads, each asking for far more than it is given room for."""
    save(*(article(each, content_html="x" * 20_000) for each in range(100)))
    request = f"GET {LISTS[0]}?take=100 HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n".encode()
    idle = [socket.create_connection((server.host, server.port)) for _ in range(5)]
    for connection in idle:
        connection.sendall(request * 60)
    for _ in range(10):
        time.sleep(0.1)
        assert get(server, "/healthz").status == 200
    # One that begins to read gets every answer.
    idle[0].settimeout(20)
    read = b""
    while read.count(b"HTTP/1.1 200 OK") < 60:
        read += idle[0].recv(1 << 20)
    for connection in idle:
        connection.close()
    assert get(server, "/healthz").status == 200


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nx-api-key: half of a requ"])
def test_connections_that_are_still_keep_nobody_out(server, sent):
    """Not even more of them than there may be: those that have been still for longest are closed."""
    still = []
    for _ in range(900):
        still.append(socket.create_connection((server.host, server.port)))
        still[-1].sendall(sent)
    for _ in range(20):
        began = time.monotonic()
        assert get(server, "/healthz").status == 200
        assert time.monotonic() - began < 2
    still[0].settimeout(5)
    assert still[0].recv(1) == b""
    still[-1].sendall(b"\r\n\r\n" if sent else b"GET /healthz HTTP/1.1\r\n\r\n")
    assert still[-1].recv(100).startswith(b"HTTP/1.1 ")
    for connection in still:
        connection.close()
    assert "limit" not in server.log()


@pytest.mark.sqlite  # without a cache, this is work for a minute
def test_connections_that_do_not_read_what_they_ask_for_keep_nobody_out(save, server, key):
    save(*(article(each, content_html="x" * 60_000) for each in range(100)))  # more than the system keeps for them
    request = f"GET {LISTS[0]}?take=100 HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n".encode()
    held = []
    for _ in range(950):
        held.append(socket.socket())
        held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # what it does not read stays with the service
        held[-1].connect((server.host, server.port))
        held[-1].sendall(request * 2)
    for _ in range(5):
        assert get(server, "/healthz").status == 200
    for connection in held:
        connection.close()


def memory_of(process):
    """Give the megabytes of memory that a process holds."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) / 1000


@pytest.mark.sqlite
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc")
def test_slow_readers_of_a_large_page_share_it_and_keep_nobody_waiting(save, server, key):
    save(*(article(each, content_html="x" * 200_000) for each in range(100)))
    request = f"GET {LISTS[0]}?take=100 HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n".encode()
    body = get(server, LISTS[0] + "?take=100", x_api_key=key).body
    before = memory_of(server.process)
    readers = [socket.create_connection((server.host, server.port)) for _ in range(100)]
    for reader in readers:
        reader.sendall(request)
    for reader in readers:
        reader.recv(10)
        assert get(server, "/healthz").status == 200
    assert memory_of(server.process) - before < 50  # and not 100 times 20 MB
    readers[7].settimeout(10)
    with readers[7].makefile("rb") as answer:
        while answer.readline().strip():
            pass
        assert answer.read(len(body)) == body
    for reader in readers:
        reader.close()


def test_a_reader_of_the_log_that_stops_reading_stops_nothing(database, app, tmp_path):
    process = subprocess.Popen(**program(database, "app.py"))
    port = int(re.search(r":(\d+) ", process.stdout.readline())[1])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    for _ in range(2000):  # lines of 60 bytes and more: twice what a pipe holds
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b'{"status": "ok"}'
    process.terminate()
    assert process.wait(timeout=5) == 0
    lines = process.stderr.read().splitlines()
    assert 500 < len(lines) < 2000
    assert all(re.fullmatch(r"\S+Z INFO GET /healthz 200 16 bytes \S+ ms -", line) for line in lines)
    process.stdout.close()
    process.stderr.close()
    connection.close()


def test_it_serves_without_a_standard_error(database, app):
    closed = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh"]
    with subprocess.Popen(**program(database, "app.py", prefix=closed)) as process:
        port = int(re.search(r":(\d+) ", process.stdout.readline())[1])
        for _ in range(3):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/healthz")
            assert connection.getresponse().read() == b'{"status": "ok"}'
            connection.close()
        process.terminate()
        assert process.wait(timeout=5) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is a disk without room")
def test_it_serves_though_its_outputs_cannot_be_written(database, app):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with Path("/dev/full").open("w") as full:
        serving = program(database, "app.py", PORT=str(port)) | {"stdout": full, "stderr": full}
        process = subprocess.Popen(**serving)

    def answers():
        with suppress(OSError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            with closing(connection):
                connection.request("GET", "/healthz")
                return connection.getresponse().read() == b'{"status": "ok"}'

    wait_for(answers, lambda: "It does not answer.")
    process.terminate()
    assert process.wait(timeout=5) == 0


def test_when_stopped_it_answers_whoever_had_reached_it(server):
    """Also those that it had not yet noticed: connections that wait to be accepted, requests that wait to be read."""
    for _ in range(2):
        get(server, "/healthz")
    server.process.send_signal(signal.SIGSTOP)
    waiting = [socket.create_connection((server.host, server.port), timeout=10) for _ in range(50)]
    for connection in waiting[:40]:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    server.process.send_signal(signal.SIGTERM)
    server.process.send_signal(signal.SIGCONT)
    time.sleep(0.3)
    for connection in waiting[40:]:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    for connection in waiting:
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 OK")
        connection.close()
    assert server.process.wait(timeout=5) == 0


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_stops_at_once(app, save, server, key, second):
    save(*(article(each, content_html="x" * 200_000) for each in range(100)))
    with socket.create_connection((server.host, server.port), timeout=20) as connection:
        connection.sendall(f"GET {LISTS[0]}?take=100 HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n".encode())
        connection.recv(10)
        server.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        server.process.send_signal(second)
        assert server.process.wait(timeout=5) == -second


BAD_SETTINGS = [
    ({"PORT": "eighty"}, ["PORT", "0 to 65535"]),
    ({"PORT": "65536"}, ["PORT", "0 to 65535"]),
    ({"THREADS": "0"}, ["THREADS", "1 to 64"]),
    ({"THREADS": "x", "PORT": "x"}, ["THREADS", "PORT"]),
    ({"LOG_LEVEL": "loud"}, ["LOG_LEVEL", "debug, info, warning, error"]),
    ({"DATABASE_URL": "articles.db"}, ["DATABASE_URL", "sqlite:////path/to/articles.db"]),
    ({"DATABASE_URL": "oracle9://x"}, ["DATABASE_URL"]),
    ({"DATABASE_URL": "mysql://user:secret@db/x"}, ["DATABASE_URL", "pip", "'MySQLdb'"]),
    ({"DATABASE_URL": "postgresql+psycopg://user:secret@db:port/x"}, ["DATABASE_URL"]),
    ({"DATABASE_URL": "sqlite:////no/such/folder/articles.db"}, ["database", "DATABASE_URL"]),
]
BAD_HOSTS = [({"HOST": host}, ["HOST", host[:50]]) for host in ("no such host", "192.0.2.1", "x" * 300, "é..x")]


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        *((started.split(), *bad) for started in ("app.py", "seed.py", "-m flask keys list") for bad in BAD_SETTINGS),
        *((["app.py"], *bad) for bad in BAD_HOSTS),
    ],
)
def test_a_bad_setting_is_one_clear_line(database, arguments, environment, words):
    result = subprocess.run(**program(database, *arguments, **environment), timeout=30)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert all(word in result.stderr for word in words)
    assert "secret" not in result.stderr


def test_a_port_in_use_is_one_clear_line(server, database):
    result = subprocess.run(**program(database, "app.py", PORT=str(server.port)), timeout=30)
    assert result.returncode == 1
    assert result.stderr == f"Error: Cannot listen on HOST 127.0.0.1, PORT {server.port}: Address already in use.\n"


def test_several_commands_may_make_the_tables_at_once(database):
    creating = program(database, "-m", "flask", "keys", "create", "Acme")
    commands = [subprocess.Popen(**creating) for _ in range(6)]
    outputs = [each.communicate(timeout=30) for each in commands]
    assert [each.returncode for each in commands] == [0] * 6, outputs
    assert len({key for key, _ in outputs}) == 6


@pytest.mark.parametrize("host", ["localhost", "0.0.0.0", "::1", "::"])  # noqa: S104
def test_it_listens_where_it_is_told(start, host):
    server = start(HOST=host)
    assert get(server, "/healthz").status == 200


HOSTILE = [
    b"",
    b"\r\n\r\n",
    b"\0" * 100 + b"\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"get /healthz HTTP/1.1\r\n\r\n",
    b"GET healthz HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET http://[::1/ HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET //x:99999999/ HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET * HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\xff\xfe /\xff?\xff=\xff HTTP/1.1\r\nHost: \xff\r\nx-api-key: \xff\r\n\r\n",
    b"GET /%ff%00%zz HTTP/1.1\r\nHost: a:b:c\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
    b"GET /healthz HTTP/1.1\r\nno colon\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n: empty\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nAccept: " + b"x" * 100_000 + b"\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)) * 2 + b"\r\n\r\n",
]


def statuses(received):
    return [int(code) for code in re.findall(rb"HTTP/1\.[01] (\d{3}) [A-Z]", received)]


def test_no_bytes_make_a_fault_of_the_service(app, save, server, key):
    save(article(1))
    answered = 0
    for data in HOSTILE:
        codes = statuses(send(server, data))
        answered += bool(codes)
        assert all(code < 500 for code in codes), data
    assert answered > 20
    assert get(server, LISTS[0], x_api_key=key).status == 200
    assert "Traceback" not in server.log()


def test_random_requests_make_no_fault_of_the_service(app, save, server, key):
    save(article(1))
    chance = random.Random(5)
    good = (
        f"GET {LISTS[0]}?q=a&take=5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-api-key: {key}\r\n"
        'If-None-Match: "x"\r\n\r\n'
    ).encode()
    assert statuses(send(server, good)) == [200]
    codes = Counter()
    for _ in range(300):
        data = bytearray(good)
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(len(data) - 4)] = chance.randrange(256)
        answers = statuses(send(server, bytes(data)))
        codes.update(answers)
        assert all(code < 500 for code in answers), bytes(data)
    assert codes.keys() >= {200, 400, 401, 404}
    assert codes.total() > 250
    assert get(server, LISTS[0], x_api_key=key).status == 200
    assert "Traceback" not in server.log()


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET http://[ HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: " + b"9" * 4400 + b"\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: -1\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 17_000 + b"\r\n\r\n", 431),
    ],
)
def test_what_is_no_request_is_refused_as_problem_details(server, data, status):
    received = send(server, data)
    assert statuses(received) == [status]
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"Content-Type: application/problem+json" in head
    assert b"Connection: close" in head
    assert b"waitress" not in received
    assert b"X-Content-Type-Options: nosniff" in head
    problem = json.loads(body)
    assert problem["status"] == status
    assert set(problem) == {"type", "title", "status", "detail"}
    wait_for_log(server, rf"- - {status} {len(body)} bytes - -\n")


@pytest.mark.parametrize("header", ["", "Content-Length: 0\r\n"])
def test_what_expects_to_be_continued_is_answered_and_its_key_is_not_the_next_ones(save, server, key, header):
    save(article(1))
    head = f"GET {LISTS[1]} HTTP/1.1\r\nHost: x\r\n"
    first = f"{head}x-api-key: {key}\r\nExpect: 100-continue\r\n{header}\r\n"
    with socket.create_connection((server.host, server.port), timeout=5) as connection:
        for request, status in ((first, b"200"), (f"{head}\r\n", b"401")):
            connection.sendall(request.encode())
            assert connection.recv(100_000).startswith(b"HTTP/1.1 " + status)


def test_a_body_that_waits_to_be_asked_for_is_asked_for(server):
    with socket.create_connection((server.host, server.port), timeout=5) as connection:
        connection.sendall(b"POST /healthz HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"hello")
        assert connection.recv(1000).startswith(b"HTTP/1.1 405 ")


def test_what_is_asked_to_go_on_behind_other_requests_disturbs_no_answer(server):
    """The thread that answered them asks, while the loop may be sending the answers."""
    pipeline = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 3
    pipeline += b"POST /healthz HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    for _ in range(100):
        received = b""
        with socket.create_connection((server.host, server.port), timeout=5) as connection:
            connection.sendall(pipeline)
            while b" 100 Continue" not in received:
                received += connection.recv(65536)
            connection.sendall(b"hello")
            while b"405" not in received or not received.endswith(b"}"):
                received += connection.recv(65536)
        assert statuses(received) == [200, 200, 200, 100, 405]
    assert "Traceback" not in server.log()


def test_a_search_may_be_sent_as_it_is_typed(save, server, key):
    """As by curl, which does not encode it."""
    save(article(1, title="Café"), article(2))
    target = f"{LISTS[1]}?q=CAFÉ"
    received = send(server, f"GET {target} HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n".encode())
    assert b'"meta":{"total":1,' in received
    assert statuses(send(server, "GET /é HTTP/1.1\r\nHost: x\r\n\r\n".encode())) == [404]


def test_a_long_file_among_the_static_ones_is_sent_whole(start, tmp_path):
    for path in (*PROJECT.glob("*.py"), *PROJECT.glob("endpoints/*.py")):
        copy = tmp_path / "copy" / path.relative_to(PROJECT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    picture = os.urandom(2_500_000)
    (tmp_path / "copy/static").mkdir()
    (tmp_path / "copy/static/picture.jpg").write_bytes(picture)
    server = start("env", "-C", str(tmp_path / "copy"))
    assert get(server, "/static/picture.jpg").body == picture
    assert "Traceback" not in server.log()


def test_a_head_that_is_refused_has_no_body(server):
    received = send(server, b"HEAD /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n")
    assert statuses(received) == [413]
    assert received.endswith(b"\r\n\r\n")


def test_clients_that_go_away_leave_no_trace_but_their_request(app, save, server, key):
    save(*(article(each, content_html="x" * 100_000) for each in range(100)))
    for _ in range(5):
        with socket.create_connection((server.host, server.port), timeout=20) as connection:
            connection.sendall(f"GET {LISTS[0]}?take=100 HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n".encode() * 3)
            connection.recv(10)
    assert get(server, "/healthz").status == 200
    wait_for_log(server, "GET /healthz 200")
    assert not [line for line in server.log().splitlines() if " INFO GET " not in line]


def test_pipelined_requests_are_answered_in_turn(server):
    paths = ["/healthz", "/nowhere", LISTS[0], "/healthz"]
    data = "".join(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n" for path in paths)
    with socket.create_connection((server.host, server.port), timeout=10) as connection:
        connection.sendall(data.encode())
        received = b""
        while len(statuses(received)) < 4 and (chunk := connection.recv(65536)):
            received += chunk
    assert statuses(received) == [200, 404, 401, 200]


def test_readers_are_served_while_a_writer_writes(app, save, sql, server, key):
    save(*(article(number) for number in range(200)))
    done = threading.Event()
    bad = []

    def read():
        while not done.is_set():
            answer = get(server, LISTS[1] + "?take=100", x_api_key=key)
            views = {each["category"] for each in json.loads(answer.body)["data"]} if answer.status == 200 else None
            if views is None or len(views) != 1:
                bad.append((answer.status, views))

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(60):
        sql("UPDATE article SET category = ?", f"state {number}")
    done.set()
    for reader in readers:
        reader.join()
    assert not bad
