"""The report of an import: problems, and notes by subject."""

import reprlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

import orjson

from content.text import printable
from converters.articles import IgnoredItem, ImportProblem, Note, SourceError, Subject, unreadable_problem
from transfer import ImportFailedError

MAX_CHANGES = 20  # articles whose changes are shown
MAX_REASONS = 20
MAX_EXAMPLES = 3
MAX_PROBLEM_LENGTH = 1000  # characters
MAX_NAME_LENGTH = 100  # characters
MAX_VALUE_LENGTH = 80  # characters

NamesByNote = dict[Note, Counter[str]]  # slugs, URLs or names of files, which may be empty

_quoted = reprlib.Repr()
_quoted.maxstring = _quoted.maxother = MAX_VALUE_LENGTH
_quoted.fillvalue = "…"


def show_value(value: Any) -> str:
    """Return a value for a message: text in quotation marks, anything else as JSON. Long values are abbreviated."""
    if isinstance(value, str):
        return _quoted.repr(str(value))
    try:
        text = orjson.dumps(value, str, orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_NON_STR_KEYS).decode()
    except orjson.JSONEncodeError:  # nested too deeply, or with lone surrogates
        return "{…}" if isinstance(value, dict) else "[…]"
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[: MAX_VALUE_LENGTH - 1]}…"


class ImportReport:
    """The report of one import, printed at its end."""

    def __init__(self) -> None:
        self.problem_count = 0
        self.invalid_count = 0  # articles
        self.is_stopped = False  # a problem concerns more than one article, so it cannot be skipped
        self.empty_sources: list[str] = []
        self.sources_without_old_urls: list[str] = []
        # slugs of the first changed articles, with their changed fields
        self.changed: list[tuple[str, list[str]]] = []
        self._names_by_note: NamesByNote = defaultdict(Counter)
        # lines by field and reason
        self._problem_lines: dict[tuple[str, str], list[str]] = {}

    def stop(self, problem: ImportProblem) -> None:
        """Record a problem that stops the import, such as a source that cannot be read to its end."""
        self.is_stopped = True
        self._record(problem)

    def reject(self, *problems: ImportProblem) -> None:
        """Record an invalid article, with its problems."""
        self.invalid_count += 1
        for problem in problems:
            self._record(problem)

    def _record(self, problem: ImportProblem) -> None:
        self.problem_count += 1
        key = problem.field, problem.reason
        if key not in self._problem_lines and len(self._problem_lines) >= MAX_REASONS:
            return
        reason = problem.reason.replace("{}", problem.other) if problem.other else problem.reason
        if problem.value is not None:
            reason = f"{show_value(problem.value)} {reason[0].lower()}{reason[1:]}"
        parts = filter(None, (problem.where, problem.field, reason))
        line = ": ".join(parts)
        shown = f"{line[:MAX_PROBLEM_LENGTH]}…" if len(line) > MAX_PROBLEM_LENGTH else line
        self._problem_lines.setdefault(key, []).append(shown)

    @contextmanager
    def catch(self, where: str) -> Iterator[None]:
        """Record errors raised while the block reads a source."""
        try:
            yield
        except (SourceError, OSError) as error:
            self.stop(unreadable_problem(where, error))

    def ignore(self, item: IgnoredItem) -> None:
        """Record an item of a source that is not imported."""
        note = Note(item.kind, item.detail, item.unit)
        self._names_by_note[note][item.name] += 1

    def add_notes(self, slug: str, notes: Iterable[Note]) -> None:
        """Record what there is to note about an article."""
        for note in dict.fromkeys(notes):
            self._names_by_note[note][slug] += 1

    def add_urls(self, note: Note, urls: Iterable[str]) -> None:
        """Record what there is to note about URLs. Each counts once, however many articles have it."""
        for url in urls:
            self._names_by_note[note][url] = 1

    def add_change(self, slug: str, fields: list[str]) -> None:
        """Record a changed article, and its changed fields."""
        if len(self.changed) < MAX_CHANGES:
            self.changed.append((slug, fields))

    def note_lines(self, *, only_undecided: bool = False) -> Iterator[str]:
        """Yield a line for each kind of note, in the order of their subjects."""
        by_kind: dict[tuple[Subject, str], NamesByNote] = {}
        for note, names in self._names_by_note.items():
            if note.subject is Subject.DECISION or not only_undecided:
                by_kind.setdefault((note.subject, note.kind), {})[note] = names
        for subject, kind in sorted(by_kind, key=itemgetter(0)):
            yield _format_kind(kind, by_kind[subject, kind])

    def problem_lines(self) -> list[str]:
        """Return one line per problem. A problem that repeats is shown for the first articles only."""
        shown = []
        for lines in self._problem_lines.values():
            shown += lines[:MAX_EXAMPLES]
            if len(lines) > MAX_EXAMPLES:
                shown.append(f"… and {len(lines) - MAX_EXAMPLES} more with this error.")
        if rest := self.problem_count - sum(map(len, self._problem_lines.values())):
            shown.append(f"… and {rest} more.")
        return shown

    def raise_if_problems(self, *, can_skip: bool, skip_invalid: bool) -> None:
        """Raise ImportFailedError if there are problems, unless they may be skipped.

        `can_skip`: whether there are valid articles to import without the invalid ones.
        """
        can_skip = can_skip and not self.is_stopped
        if self.problem_count and not (can_skip and skip_invalid):
            hint = ["To import the valid articles anyway, add --skip-invalid."] if can_skip else []
            lines = ["Nothing was written because of these errors:", *self.problem_lines(), *hint]
            raise ImportFailedError("\n".join(map(printable, lines)))


def _format_kind(kind: str, notes: NamesByNote) -> str:
    """Return the line for one kind of notes, such as `Shortcodes: gallery (2): first, second; toc (1): third`."""
    texts = [_format_note(note, names) for note, names in notes.items()]
    separator = " " if texts[0].startswith("(") else ": "
    line = f"{kind}{separator}{'; '.join(texts)}"
    advice = next(iter(notes)).advice
    return append_sentence(line, advice) if advice else line


def _format_note(note: Note, names: Counter[str]) -> str:
    """Return a note with its count and its first names: `gallery (2): first, second` or `(37 attachments)`."""
    if note.detail:
        count = f"{note.detail} ({names.total()})"
    elif note.unit == "article":
        count = f"({names.total()})"
    else:
        count = f"({names.total()} {note.unit}{'' if names.total() == 1 else 's'})"
    distinct = [name for name in names if name]
    if not distinct:
        return count
    return f"{count}: {shorten(distinct)}"


def shorten(names: list[str]) -> str:
    """Return the first names of a list, as in `first, second, third, …`."""
    shown = [name if len(name) <= MAX_NAME_LENGTH else f"{name[:MAX_NAME_LENGTH]}…" for name in names[:MAX_EXAMPLES]]
    return ", ".join([*shown, "…"] if len(names) > MAX_EXAMPLES else shown)


def append_sentence(text: str, sentence: str) -> str:
    """Return a text that may end with an ellipsis, followed by a sentence."""
    return f"{text}{'' if text.endswith('…') else '.'} {sentence}"
