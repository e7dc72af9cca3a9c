"""The report of an import, built from notes."""

import pytest

from converters.source_articles import IgnoredFile, Note, Subject
from transfer.report import ImportReport, show_value


def test_report_is_in_the_order_of_subjects():
    report = ImportReport()
    report.add_notes("a", [Note("Appearance"), Note("Old site", subject=Subject.OLD_SITE)])
    report.add_notes("a", [Note("Access", subject=Subject.ACCESS)])
    report.ignore(IgnoredFile("c.md", "no front matter"))
    assert [line.split()[0] for line in report.note_lines()] == ["Access", "Appearance", "Files", "Old"]


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
def test_text_is_shown_in_quotation_marks_other_values_as_json(value, shown):
    """A list that JSON cannot contain is only hinted at."""
    assert show_value(value) == shown
