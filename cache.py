"""Rendered answers, kept in memory while nothing has changed: never stale, and within bounds."""

import gzip
import os
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from pathlib import Path
from threading import Lock

from flask import Flask, current_app

from models import db

BESIDES = 1000  # bytes that an answer takes besides its body, with its key and its places in dictionaries
MEGABYTE = 1_000_000


@dataclass(slots=True)
class Answer:
    """A rendered body. It holds until that time, in seconds since 1970, and while the database is at its version."""

    body: bytes
    until: float = inf
    version: Hashable = None  # None where it is not kept
    key: Hashable = None
    gzipped: bytes = b""  # made when it is first asked for
    compressing: Lock = field(default_factory=Lock)
    etag: str = field(init=False)

    def __post_init__(self) -> None:
        self.etag = sha256(self.body).hexdigest()[:32]


class Watch:
    """Tells whether anyone has committed to a SQLite file: any connection, of any process."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None  # the device and inode that it has open
        self._opened = 0  # how often: each connection counts from a number of its own

    def version(self) -> Hashable | None:
        """Give what differs after each commit, or None while that cannot be known.

        Source: https://www.sqlite.org/pragma.html#pragma_data_version
        """
        with self._lock:
            try:
                status = os.stat(self._path)
                if self._connection is None or self._file != (status.st_dev, status.st_ino):
                    self._open((status.st_dev, status.st_ino))
                assert self._connection
                return self._opened, self._connection.execute("PRAGMA data_version").fetchone()[0]
            except (OSError, sqlite3.Error):
                self._connection = None
                return None

    def _open(self, file: tuple[int, int]) -> None:
        self._opened += 1
        self._file = file
        uri = f"{Path(self._path).absolute().as_uri()}?mode=rw"
        # Each request asks, so it may not wait; and whichever thread has the lock.
        self._connection = sqlite3.connect(uri, uri=True, timeout=0, check_same_thread=False)


class Cache:
    """Answers by what was asked, the least recently used given up first; and the customers of keys."""

    def __init__(self, watch: Watch | None, capacity: int) -> None:
        self._watch = watch if capacity else None
        self._capacity = capacity  # bytes
        self._lock = Lock()
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._size = 0
        self._turns: dict[Hashable, Lock] = {}
        self.customers: dict[
            str, tuple[Hashable, tuple[int, str]]
        ] = {}  # by hash; only of keys that are good, so they are few

    def version(self) -> Hashable | None:
        """Give the database's version, to be read before its data; None where nothing can be kept."""
        return self._watch.version() if self._watch else None

    def answer(self, key: Hashable, version: Hashable | None, make: Callable[[], Answer]) -> Answer:
        """Give what `make` made for `key` at this version of the database; let one thread at a time make it."""
        if version is None:
            return make()
        if found := self._find(key, version):
            return found
        with self._lock:
            turn = self._turns.setdefault(key, Lock())
        with turn:
            try:
                return self._find(key, version) or self._keep(key, version, make())
            finally:
                with self._lock:
                    self._turns.pop(key, None)

    def _find(self, key: Hashable, version: Hashable) -> Answer | None:
        with self._lock:
            answer = self._answers.get(key)
            if answer is None or answer.version != version or answer.until <= time.time():
                return None
            self._answers.move_to_end(key)
            return answer

    def _keep(self, key: Hashable, version: Hashable, answer: Answer) -> Answer:
        with self._lock:
            self._drop(key)
            if len(answer.body) + BESIDES <= self._capacity:
                answer.key, answer.version = key, version
                self._answers[key] = answer
                self._size += len(answer.body) + BESIDES
                self._shrink()
        return answer

    def _drop(self, key: Hashable) -> None:
        old = self._answers.pop(key, None)
        if old:
            self._size -= len(old.body) + len(old.gzipped) + BESIDES

    def _shrink(self) -> None:
        while self._size > self._capacity:
            self._drop(next(iter(self._answers)))

    def gzipped(self, answer: Answer) -> bytes:
        """Give an answer's body compressed, once made for all."""
        with answer.compressing:
            if not answer.gzipped:
                gzipped = gzip.compress(answer.body, 6, mtime=0)
                with self._lock:
                    answer.gzipped = gzipped
                    if self._answers.get(answer.key) is answer:
                        self._size += len(gzipped)
                        self._shrink()
        return answer.gzipped


def init_app(app: Flask) -> None:
    """Give `app` a cache: on a SQLite file, within CACHE_MB. Other databases have no version that costs so little."""
    with app.app_context():
        url = db.engine.url
    a_file = url.get_backend_name() == "sqlite" and url.database and not url.database.startswith((":memory:", "file:"))
    watch = Watch(url.database) if a_file and url.database else None
    app.extensions["cache"] = Cache(watch, app.config["CACHE_MB"] * MEGABYTE)


def current_cache() -> Cache:
    """Give the current application's cache."""
    cache: Cache = current_app.extensions["cache"]
    return cache
