"""Start the project's programs fast: forked from a process that has imported them (`fork_server.py`).

Elsewhere than on Linux, with `TEST_COLD` in the environment, and if the fork could make a difference to the program,
it is started as a user starts it.
"""

import ctypes
import json
import os
import socket
import subprocess
import sys
from inspect import signature
from pathlib import Path
from threading import Lock
from typing import Any

PROJECT = Path(__file__).parent.parent
PROGRAMS = (["app.py"], ["seed.py"], ["-m", "flask"])
READ_BY_PYTHON = ("PYTHON", "LC_", "LANG")  # the variables that Python itself reads when it starts
PR_SET_CHILD_SUBREAPER = 36  # https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html

start_process = subprocess.Popen


class Popen(subprocess.Popen):
    """What the tests have in the place of `subprocess.Popen`, which forks the project's programs."""

    def _execute_child(self, *args: Any) -> None:
        plan = signature(super()._execute_child).bind(*args).arguments
        if not can_fork(plan):
            super()._execute_child(*args)
            return
        pipes = [plan[name] for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")]
        streams = [file if file >= 0 else number for number, file in enumerate((pipes[0], pipes[3], pipes[5]))]
        try:
            self.pid = server.fork(plan["args"][1:], dict(plan["env"] or os.environ), plan["process_group"], streams)
            self._child_created = True
        finally:
            self._close_pipe_fds(*pipes)


def can_fork(plan: dict[str, Any]) -> bool:
    """Return whether a program that is forked does the same as one that is started as a user starts it."""
    args, env = plan["args"], plan["env"] or os.environ
    unusual = plan["preexec_fn"] or plan["pass_fds"] or plan["shell"] or plan["start_new_session"]
    if sys.platform != "linux" or "TEST_COLD" in env or plan["cwd"] != PROJECT or unusual:
        return False
    names = {name for name in (*os.environ, *env) if name.startswith(READ_BY_PYTHON)}
    is_program = args[0] == sys.executable and any(args[1 : 1 + len(program)] == program for program in PROGRAMS)
    return is_program and all(os.environ.get(name) == env.get(name) for name in names)


class ForkServer:
    """The connection to the process that forks. The first program starts it."""

    def __init__(self) -> None:
        self._connection: socket.socket | None = None
        self._lock = Lock()

    def fork(self, arguments: list[str], env: dict[str, str], process_group: int, streams: list[int]) -> int:
        """Fork a program, which becomes a child of this process, and return its id."""
        with self._lock:
            if not self._connection:
                # The programs' own parent ends at once, and this process takes its place.
                ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
                self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                with theirs:
                    command = [sys.executable, str(PROJECT / "tests/fork_server.py"), str(theirs.fileno())]
                    self._process = start_process(command, cwd=PROJECT, pass_fds=[theirs.fileno()])
            request = {"arguments": arguments, "env": env, "process_group": process_group}
            socket.send_fds(self._connection, [json.dumps(request).encode()], streams)
            return int(self._connection.recv(100))

    def stop(self) -> None:
        """End the process, but none of the programs."""
        if self._connection:
            self._connection.close()
            self._process.wait()


server = ForkServer()
