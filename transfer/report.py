"""The report of an import: problems, and notes by subject."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import itemgetter
from typing import Any

import orjson

from content.text import printable
from converters.source_articles import IgnoredFile, ImportProblem, Note, Subject
from transfer import ImportFailedError

MAX_REASONS = 20
MAX_EXAMPLES = 3
MAX_LINE_LENGTH = 300  # characters
MAX_VALUE_LENGTH = 60  # characters, so that three values and a reason fit in a line

NamesByNote = dict[Note, Counter[str]]  # slugs, URLs or names of files, which may be empty


def show_value(value: Any) -> str:
    """Return a value for a message: text in quotation marks, anything else as JSON. Long values are abbreviated."""
    if isinstance(value, str):
        return repr(_abbreviate(value))
    try:
        text = orjson.dumps(value, str, orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_NON_STR_KEYS).decode()
    except orjson.JSONEncodeError:  # nested too deeply, or with lone surrogates
        return "{…}" if isinstance(value, dict) else "[…]"
    return _abbreviate(text)


def _abbreviate(text: str) -> str:
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[: MAX_VALUE_LENGTH - 1]}…"


class ImportReport:
    """The report of one import, printed at its end."""

    def __init__(self) -> None:
        self.fatal: list[ImportProblem] = []  # which concern more than one article, so they cannot be skipped
        self.invalid: list[tuple[ImportProblem, ...]] = []  # the problems of each invalid article
        self._names_by_note: NamesByNote = defaultdict(Counter)

    def ignore(self, file: IgnoredFile) -> None:
        """Record a file or folder that is not imported."""
        self._names_by_note[Note("Files and folders that were skipped", file.reason, "file")][file.path] += 1

    def add_notes(self, slug: str, notes: Iterable[Note]) -> None:
        """Record what there is to note about an article."""
        for note in dict.fromkeys(notes):
            self._names_by_note[note][slug] += 1

    def add_urls(self, note: Note, urls: Iterable[str]) -> None:
        """Record what there is to note about URLs. Each counts once, however many articles have it."""
        for url in urls:
            self._names_by_note[note][url] = 1

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
        lines: dict[tuple[str, str], list[str]] = {}
        for problem in [*self.fatal, *chain.from_iterable(self.invalid)]:
            lines.setdefault((problem.field, problem.reason), []).append(_format_problem(problem))
        shown = []
        for repeated in list(lines.values())[:MAX_REASONS]:
            shown += repeated[:MAX_EXAMPLES]
            if len(repeated) > MAX_EXAMPLES:
                shown.append(f"… and {len(repeated) - MAX_EXAMPLES} more with this error.")
        if rest := sum(map(len, list(lines.values())[MAX_REASONS:])):
            shown.append(f"… and {rest} more.")
        return shown

    def raise_if_problems(self, *, has_valid: bool, skip_invalid: bool) -> None:
        """Raise ImportFailedError if there are problems, unless they concern single articles and may be skipped.

        `has_valid`: whether there are valid articles beside the others.
        """
        if self.fatal or (self.invalid and not skip_invalid):
            can_skip = has_valid and not self.fatal
            hint = ["To import the valid articles anyway, add --skip-invalid."] if can_skip else []
            lines = ["Nothing was written because of these errors:", *self.problem_lines(), *hint]
            raise ImportFailedError("\n".join(map(printable, lines)))


def _format_problem(problem: ImportProblem) -> str:
    reason = problem.reason.replace("{}", problem.other) if problem.other else problem.reason
    if problem.value is not None:
        reason = f"{show_value(problem.value)} {reason[0].lower()}{reason[1:]}"
    return shorten_line(": ".join(filter(None, (problem.where, problem.field, reason))))


def shorten_line(text: str, advice: str = "") -> str:
    """Return a text, shortened if necessary, followed by advice."""
    room = MAX_LINE_LENGTH - len(advice) - 2
    if len(text) > room:
        text = f"{text[:room]}…"
    if not advice:
        return text
    return f"{text}{'' if text.endswith('…') else '.'} {advice}"


def _format_kind(kind: str, notes: NamesByNote) -> str:
    """Return the line for one kind of notes, such as `Shortcodes: gallery (2): first, second; toc (1): third`."""
    for examples in (MAX_EXAMPLES, 1):  # counts matter more than examples
        texts = [_format_note(note, names, examples) for note, names in notes.items()]
        separator = " " if texts[0].startswith("(") else ": "
        line = f"{kind}{separator}{'; '.join(texts)}"
        if len(line) <= MAX_LINE_LENGTH:
            break
    return shorten_line(line, next(iter(notes)).advice)


def _format_note(note: Note, names: Counter[str], examples: int) -> str:
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
    return f"{count}: {shorten(distinct, examples)}"


def shorten(names: list[str], examples: int = MAX_EXAMPLES) -> str:
    """Return the first names of a list, as in `first, second, third, …`."""
    return ", ".join([*names[:examples], *(["…"] if len(names) > examples else [])])
