"""Progress on a terminal."""

import io

import pytest

from commands.support.terminal import show_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("stderr", "is_shown"), [(Terminal(), True), (io.StringIO(), False)])
def test_long_work_shows_a_count_on_a_terminal_only(monkeypatch, stderr, is_shown):
    monkeypatch.setattr("sys.stderr", stderr)
    with show_progress(range(30), "Importing") as items:
        assert list(items) == list(range(30))
    printed = stderr.getvalue()
    assert ("Importing" in printed, " 30" in printed) == (is_shown, is_shown)
    assert printed == "" or printed.endswith("\n")
