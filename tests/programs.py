"""Start the project's programs fast: forked from a process that has imported them (`fork_server.py`).

Elsewhere than on Linux, with `TEST_COLD` in the environment, and if the fork could make a difference to the program,
it is started as a user starts it.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any

from fork_server import REPORT

PROJECT = Path(__file__).parent.parent
PROGRAMS = (["app.py"], ["seed.py"], ["-m", "flask"])
READ_BY_PYTHON = ("PYTHON", "LC_", "LANG")  # the variables that Python itself reads when it starts
OPTIONS = {"stdin", "stdout", "stderr", "text", "process_group"}

start_new_process = subprocess.Popen


def start(args: Any, *others: Any, **options: Any) -> Any:
    """Start a program with the arguments of `subprocess.Popen`, and return an object like it."""
    if others or not can_fork(args, **options):
        return start_new_process(args, *others, **options)
    try:
        return Program(args, **options)
    except (BrokenPipeError, ConnectionResetError):
        server.stop()
        print("The process that starts the tests' programs has ended. Another one is started.", file=sys.stderr)
        return Program(args, **options)


def can_fork(args: Any, cwd: Any = None, env: Mapping[str, str] | None = None, **options: Any) -> bool:
    """Return whether a program that is forked does the same as one that is started anew."""
    variables = os.environ if env is None else env
    if sys.platform != "linux" or "TEST_COLD" in variables or cwd != PROJECT or options.keys() - OPTIONS:
        return False
    names = {name for name in (*os.environ, *variables) if name.startswith(READ_BY_PYTHON)}
    is_program = args[0] == sys.executable and any(args[1 : 1 + len(program)] == program for program in PROGRAMS)
    return is_program and all(os.environ.get(name) == variables.get(name) for name in names)


class Popen(subprocess.Popen):
    """What the tests have in the place of `subprocess.Popen`, so that `subprocess.run` starts programs fast too."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return start(*args, **options)


class ForkServer:
    """The connection to the process that forks. The first program starts it."""

    def __init__(self) -> None:
        self._connection: socket.socket | None = None
        self._lock = Lock()

    def send(self, files: list[int]) -> None:
        """Send the files of one program. Raises BrokenPipeError if the process has ended."""
        with self._lock:
            if not self._connection:
                self._connection, theirs = socket.socketpair()
                with theirs:
                    arguments = [sys.executable, str(PROJECT / "tests/fork_server.py"), str(theirs.fileno())]
                    self._process = start_new_process(arguments, cwd=PROJECT, pass_fds=[theirs.fileno()])
            socket.send_fds(self._connection, [b"+"], files)

    def stop(self) -> None:
        """End the process, but none of the programs."""
        with self._lock:
            if self._connection:
                self._connection.close()
                self._connection = None
                self._process.wait()


server = ForkServer()


class Program:
    """A forked program, with what the tests use of `subprocess.Popen`."""

    def __init__(
        self,
        args: list[str],
        cwd: Path,
        env: Mapping[str, str] | None = None,
        text: bool = False,
        process_group: int = -1,
        **streams: Any,
    ) -> None:
        self.args = args
        self.returncode: int | None = None
        self._connection, theirs = socket.socketpair()
        to_close = [theirs.detach()]
        files = [*to_close]
        self.stdin, self.stdout, self.stderr = (
            open_stream(number, streams.get(name), text, files, to_close)
            for number, name in enumerate(("stdin", "stdout", "stderr"))
        )
        try:
            server.send(files)
        finally:
            for file in to_close:
                os.close(file)
        variables = dict(os.environ if env is None else env)
        request = {"arguments": args[1:], "env": variables, "process_group": process_group}
        self._connection.sendall(json.dumps(request).encode() + b"\n")
        self.pid = self._receive()

    def _receive(self) -> int:
        report = self._connection.recv(REPORT.size)
        if not report:
            raise BrokenPipeError("The process that waits for a program has ended before the program.")
        return int(REPORT.unpack(report)[0])

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_error: object) -> None:
        for file in (self.stdout, self.stderr, self.stdin):
            if file:
                with suppress(BrokenPipeError):
                    file.close()
        self.wait()

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = self._receive()
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            self._connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:
        """Write the input, read both outputs to their ends, and wait for the exit status."""
        received: dict[str, Any] = {}

        def read(name: str, file: IO[Any]) -> None:
            with file:
                received[name] = file.read()

        def write(file: IO[Any]) -> None:
            with suppress(BrokenPipeError), file:
                if input:
                    file.write(input)

        outputs = [("stdout", self.stdout), ("stderr", self.stderr)]
        threads = [Thread(target=read, args=output, daemon=True) for output in outputs if output[1]]
        if self.stdin and not self.stdin.closed:
            threads.append(Thread(target=write, args=[self.stdin], daemon=True))
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + timeout if timeout is not None else None
        for thread in threads:
            thread.join(max(0, deadline - time.monotonic()) if deadline else None)
            if thread.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.wait(max(0, deadline - time.monotonic()) if deadline else None)
        return received.get("stdout"), received.get("stderr")


def open_stream(number: int, value: Any, text: bool, files: list[int], to_close: list[int]) -> IO[Any] | None:
    """Add the file that a program has as a standard stream to `files`, and return this process's end of a pipe."""
    own = None
    if value == subprocess.PIPE:
        ends = os.pipe()
        own = os.fdopen(ends[number == 0], ("w" if number == 0 else "r") + ("" if text else "b"))
        files.append(ends[number != 0])
    elif value == subprocess.DEVNULL:
        files.append(os.open(os.devnull, os.O_RDWR))
    elif value == subprocess.STDOUT:
        files.append(files[2])
    else:
        files.append(number if value is None else value if isinstance(value, int) else value.fileno())
    if value in (subprocess.PIPE, subprocess.DEVNULL):
        to_close.append(files[-1])
    return own
