"""The report of an import, built from notes."""

import pytest

from converters.records import IgnoredItem, Note, NoteGroup
from transfer.report import ImportReport, show_value


def test_report_begins_with_what_was_not_understood():
    report = ImportReport()
    report.ignore(IgnoredItem("Ignored", "c"))
    report.add_notes("a", [Note("Noticeable"), Note("Dropped", group=NoteGroup.DROPPED)])
    report.add_notes("a", [Note("Unknown", group=NoteGroup.UNKNOWN)])
    report.add_notes("b", [Note("Second noticeable")])
    assert [line.split(" (")[0] for line in report.note_lines()] == [
        *("Unknown", "Noticeable", "Second noticeable", "Dropped", "Ignored")
    ]


def test_every_name_has_its_own_count_and_slugs():
    report = ImportReport()
    for number in range(500):
        names = [f"field-{number}", *(["author"] if number < 5 else []), *(["caption"] if number == 3 else [])]
        report.add_notes(f"slug-{number}", [Note("Unknown fields", name, advice="Check.") for name in names])
    (line,) = report.note_lines()
    assert line.startswith("Unknown fields: field-0 (1): slug-0; author (5): slug-0, slug-1, slug-2, …; field-1 (1): ")
    assert "; caption (1): slug-3; " in line
    assert line.endswith("; field-499 (1): slug-499. Check.")
    assert line.count("; ") == 501


def test_report_counts_other_things_than_articles():
    report = ImportReport()
    for _ in range(37):
        report.ignore(IgnoredItem("Pictures stay on the old site", "", unit="attachment"))
    report.ignore(IgnoredItem("Skipped", "x" * 120, "", "file"))
    lines = ["Pictures stay on the old site (37 attachments)", f"Skipped (1 file): {'x' * 100}…"]
    assert list(report.note_lines()) == lines


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("it's", '"it\'s"'),
        ("a\x1b", r"'a\x1b'"),
        ([{"name": "x", "is": True}, None], '[{"name":"x","is":true},null]'),
        (["x" * 100], '["' + "x" * 77 + "…"),
        (["\ud800"], "[…]"),
    ],
)
def test_text_is_shown_in_quotation_marks_and_other_values_as_json(value, shown):
    """A list that JSON cannot contain is only hinted at."""
    assert show_value(value) == shown
