"""What an import prints at its end."""

import shlex

from commands.support.terminal import echo, format_article_count
from models import PUBLICATION_STATES
from transfer.imports import report_notes
from transfer.report import ImportReport, shorten_line
from transfer.writer import ImportResult

MAX_CHANGES = 20  # articles whose changes are shown


def print_result(result: ImportResult, report: ImportReport, *, dry_run: bool) -> None:
    """Print the report and the summary. If nothing changed, only open decisions are printed."""
    report_notes(result, report, dry_run=dry_run)
    counts = result.counts
    for line in report.note_lines(only_undecided=not (result.has_changes or dry_run)):
        echo(line, err=True)
    if report.invalid:
        echo("These articles are invalid, so they were not imported:", err=True)
        for line in report.problem_lines():
            echo(line, err=True)
    _print_changes(result, dry_run=dry_run)
    counts["invalid"] = len(report.invalid)
    names = [name for name in ("unpublished", "left alone", "invalid") if counts[name]]
    summary = ", ".join(f"{counts[name]} {name}" for name in ("new", "changed", "unchanged", *names))
    states = ", ".join(f"{counts[state]} {state}" for state in PUBLICATION_STATES if counts[state])
    echo(summary + (f" (new: {states})" if states else "") + (" (dry run: nothing was written)" if dry_run else ""))
    for reason in result.stop_reasons.splitlines() if dry_run else ():
        echo(shorten_line(f"This import would stop, and ask for --yes: {reason}"), err=True)


def _print_changes(result: ImportResult, *, dry_run: bool) -> None:
    """Name the first changed articles and what changed, and in a dry run all new articles."""
    for slug, fields in result.changes[:MAX_CHANGES]:
        echo(shorten_line(f"{slug}: {', '.join(fields)}"))
    if rest := len(result.changes[MAX_CHANGES:]):
        echo(f"… and {rest} more")
    for slug in result.new if dry_run else ():
        echo(f"{slug}: new")


def print_waiting(number: int, customer: str | None) -> None:
    """Print how many articles their source publishes, but are pending here, and what to do about them."""
    name = f" --customer {shlex.quote(customer)}" if customer else ""
    count = format_article_count(number)
    echo(f"Pending here, but published by their source: {count}. To preview: flask articles preview{name}", err=True)
    echo(f"To publish: flask articles publish --pending{name}", err=True)
