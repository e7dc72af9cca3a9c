"""What an import prints at its end."""

import shlex
from pathlib import Path

from commands.support.terminal import echo, format_article_count
from models import PUBLICATION_STATES
from transfer.report import MAX_CHANGES, ImportReport
from transfer.writer import ImportResult


def print_result(result: ImportResult, report: ImportReport, *, dry_run: bool) -> None:
    """Print the report and the summary. If nothing changed, only open decisions are printed."""
    counts = result.counts
    changes_nothing = not result.has_changes and not dry_run and counts["unchanged"] > 0
    for line in report.note_lines(only_undecided=changes_nothing):
        echo(line, err=True)
    if report.invalid_count:
        echo("These articles are invalid, so they were not imported:", err=True)
        for line in report.problem_lines():
            echo(line, err=True)
    _print_changes(result, report, dry_run=dry_run)
    counts["invalid"] = report.invalid_count
    names = [name for name in ("unpublished", "adopted", "left alone", "invalid") if counts[name]]
    summary = ", ".join(f"{counts[name]} {name}" for name in ("new", "changed", "unchanged", *names))
    states = ", ".join(f"{counts[state]} {state}" for state in PUBLICATION_STATES if counts[state])
    echo(summary + (f" (new: {states})" if states else "") + (" (dry run: nothing was written)" if dry_run else ""))
    for reason in result.stop_reasons.splitlines() if dry_run else ():
        echo(f"This import would stop, and ask for --yes: {reason}", err=True)


def _print_changes(result: ImportResult, report: ImportReport, *, dry_run: bool) -> None:
    """Name the first changed articles and their fields, and in a dry run the new articles too."""
    total = result.counts["changed"] + result.counts["unpublished"]
    lines = [f"{slug}: {', '.join(fields)}" for slug, fields in report.changed]
    if dry_run:
        total += result.counts["new"]
        lines += [f"{article.slug}: new" for article in result.written if not article.stored]
    for line in lines[:MAX_CHANGES]:
        echo(line)
    if rest := total - len(lines[:MAX_CHANGES]):
        echo(f"… and {rest} more")


def print_missing_old_urls(report: ImportReport, redirects: Path) -> None:
    """Name the sources that have no old URLs."""
    for source in report.sources_without_old_urls:
        advice = f"If they follow a pattern, name it with --old-urls. Otherwise, add them to {redirects} yourself."
        echo(f"{source}: Contains no old URLs of its articles. {advice}", err=True)


def print_pending(number: int, customer: str | None, *, dry_run: bool) -> None:
    """Print what to do about pending articles."""
    noun, them, whose = ("article is", "it", "its") if number == 1 else ("articles are", "them", "their")
    if dry_run:
        echo(f"{format_article_count(number)} would be pending, and hidden until you publish {them}.", err=True)
        return
    name = f" --customer {shlex.quote(customer)}" if customer else ""
    waiting = f"{number} pending {noun} published by {whose} source, but hidden here until you publish {them}."
    echo(f"{waiting} To preview: flask articles preview{name}", err=True)
    echo(f"To publish {them}: flask articles publish --pending{name}", err=True)
