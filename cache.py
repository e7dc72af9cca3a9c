"""Rendered answers, kept in memory while nothing has changed: never stale, and within bounds."""

import gzip
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from threading import Lock
from typing import TypeVar

from flask import Flask, current_app

from models import db
from watch import DisturbedError, Version, Watch, watch_over

BESIDES = 1000  # bytes that an answer takes besides its body and key
MEGABYTE = 1_000_000

T = TypeVar("T")


@dataclass(slots=True, weakref_slot=True, eq=False)
class Answer:
    """A rendered body. It holds from `since` until `until` (seconds since 1970), with the database at its version."""

    body: bytes
    since: float = 0
    until: float = inf
    version: Hashable = None
    key: Hashable = None
    gzipped: bytes = b""  # made when it is first asked for
    compressing: Lock = field(default_factory=Lock)
    etag: str = field(init=False)

    def __post_init__(self) -> None:
        self.etag = sha256(self.body).hexdigest()[:32]

    def is_of_now(self) -> bool:
        """Tell whether it holds at this time."""
        return self.since <= time.time() < self.until

    def size(self) -> int:
        """Give the bytes of memory that it takes."""
        return len(self.body) + len(self.gzipped) + len(repr(self.key)) + BESIDES


class Cache:
    """Answers by what was asked, the least recently used given up first; and the customers of keys."""

    def __init__(self, watch: Watch | None, capacity: int) -> None:
        self.watch = watch
        self._capacity = capacity  # bytes
        self._lock = Lock()
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._size = 0
        self._making: dict[Hashable, Future[Answer]] = {}
        self.customers: dict[str, tuple[Hashable, tuple[int, str]]] = {}  # by hash, of keys that are or were good

    def version(self) -> Version | None:
        """Give the database's version, to be read before its data; None where it has none that can be known."""
        return self.watch.version() if self.watch else None

    def keeps(self, version: Version | None) -> bool:
        """Tell whether what is read at this version can be kept."""
        return version is not None and self._capacity > 0

    def check_undisturbed(self, version: Version | None, *, at_last: bool) -> None:
        """Raise DisturbedError where what was read since this version may be of two files.

        A file that is copied over another one may leave a transaction with pages of both. It looks as a checkpoint
        does, which changes the file too but nothing in it: `at_last`, after several attempts, that is let pass, as one
        of a large log goes on for seconds.
        """
        now = self.version()
        if self.watch and not (now and version and now[at_last] == version[at_last]):
            raise DisturbedError

    def undisturbed(self, read: Callable[[bool], T], again: Callable[[], object] = lambda: None) -> T:
        """Give what `read` gives, in the third attempt at last; it is told whether this is the last.

        Where it raises DisturbedError, its transaction ends, and before the next attempt `again` is called.
        """
        for _ in range(2):
            try:
                return read(False)
            except DisturbedError:
                db.session.rollback()
                again()
        return read(True)

    def answer(self, key: Hashable, version: Version | None, make: Callable[[], Answer]) -> Answer:
        """Give what `make` made for `key` at this version of the database.

        Where several threads ask for the same at once, one makes it, and all get that, or what it raised. But where it
        no longer holds by then, or the file was changed meanwhile, each makes its own.
        """
        if not self.keeps(version):
            return make()
        with self._lock:
            found = self._answers.get(key)
            if found and self.holds(found, version):
                self._answers.move_to_end(key)
                return found
            making = self._making.get((key, version))
            if not making:
                mine = self._making[key, version] = Future()
        if making:
            with suppress(DisturbedError):
                answer = making.result()
                if answer.is_of_now():
                    return answer
            return make()
        return self._make(key, version, make, mine)

    def _make(self, key: Hashable, version: Version | None, make: Callable[[], Answer], mine: Future[Answer]) -> Answer:
        """Make an answer, for those who wait for `mine` too, and keep it."""
        try:
            answer = make()
            answer.key, answer.version = key, version
            self._keep(answer)
            mine.set_result(answer)
            return answer
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._making[key, version]

    def holds(self, answer: Answer, version: Version | None) -> bool:
        """Tell whether `answer` is kept, and good at this version and time."""
        return answer.version == version and answer.is_of_now() and self._answers.get(answer.key) is answer

    def _keep(self, answer: Answer) -> None:
        with self._lock:
            self._drop(answer.key)
            if answer.size() <= self._capacity:
                self._answers[answer.key] = answer
                self._size += answer.size()
                self._shrink()

    def _drop(self, key: Hashable) -> None:
        old = self._answers.pop(key, None)
        if old:
            self._size -= old.size()

    def _shrink(self) -> None:
        while self._size > self._capacity:
            self._drop(next(iter(self._answers)))

    def gzipped(self, answer: Answer) -> bytes:
        """Give an answer's body compressed, once made for all."""
        with answer.compressing:
            if not answer.gzipped:
                gzipped = gzip.compress(answer.body, 6, mtime=0)
                with self._lock:
                    if self._answers.get(answer.key) is answer:
                        self._size += len(gzipped)
                    answer.gzipped = gzipped
                    self._shrink()
        return answer.gzipped


def init_app(app: Flask) -> None:
    """Give `app` a cache: on a SQLite file, within CACHE_MB. Other databases have no version that costs so little."""
    with app.app_context():
        app.extensions["cache"] = Cache(watch_over(db.engine), app.config["CACHE_MB"] * MEGABYTE)


def current_cache() -> Cache:
    """Give the current application's cache."""
    cache: Cache = current_app.extensions["cache"]
    return cache
