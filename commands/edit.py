"""`flask articles edit`: change an article in an editor."""

import re
import shlex
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import click
from flask import current_app
from sqlalchemy import select

from commands.support import params
from commands.support.groups import articles_group
from commands.support.lookup import get_articles, get_customer, get_customer_again
from commands.support.session import command_session
from commands.support.terminal import can_ask, echo
from converters.front_matter import parse_front_matter
from converters.records import Mistake, SourceArticle
from models import Article, Customer, db
from transfer import ImportFailedError
from transfer.article_files import EXPORTED_FIELDS, format_article, own_article
from transfer.export import export_articles
from transfer.plan import ImportOptions
from transfer.report import ImportReport
from transfer.spool import create_spool
from transfer.writer import report_notes, write_articles

HIDDEN_FIELDS = {"origin", "claim", "claimedAt", "edited"}  # not in the editor
CONFLICT = (
    "The article was changed or deleted while the editor was open. Add that change to your text first: "
    "importing it as it is would undo the change."
)


@articles_group.command()
@click.argument("slug", type=params.text)
@params.customer_option
def edit(slug: str, customer: str | None) -> None:
    """Edit the article SLUG in $VISUAL or $EDITOR.

    The file has the article's fields in YAML, then its HTML. What you save is imported; if it has a mistake, you can
    open the editor again. Times without a UTC offset are in TIMEZONE.
    """
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
        get_articles(owner, (slug,))  # raises if there is no such article
        original = _read_record(owner, slug)
    original_text = _format(original)
    with NamedTemporaryFile(prefix="article-", suffix=".html", delete=False) as temporary:
        temporary.write(original_text)
    file = Path(temporary.name)
    try:
        result = _edit_until_valid(file, original, owner)
    except click.ClickException as error:
        if _read(file) in (original_text, b""):
            file.unlink(missing_ok=True)
            raise
        error.show()
        click.echo(_explain_saved(file, customer), err=True)
        raise click.exceptions.Exit(error.exit_code) from error
    except BaseException:  # such as a signal: the editor survives it, and may still save
        click.echo(_explain_saved(file, customer), err=True)
        raise
    file.unlink(missing_ok=True)
    echo(f"{slug}: {result}")


def _explain_saved(file: Path, customer: str | None) -> str:
    """Return a message that names the file, and the command that imports it.

    A file without the fields of an export would not be recognized as this service's own.
    """
    text = _read(file).decode(errors="replace")
    missing = [name for name in sorted(EXPORTED_FIELDS) if not re.search(rf"^{name}\s*:", text, re.MULTILINE)]
    condition = f"Add {', '.join(missing)} again, then" if missing else "Once it is correct,"
    name = ["--customer", customer] if customer else []
    command = shlex.join(["flask", "articles", "import", str(file), *name])
    return f"Your text was saved in {file}. {condition} import it: {command}"


def _read(file: Path) -> bytes:
    """Return the file's content, or b"" if the editor removed it."""
    return file.read_bytes() if file.is_file() else b""


def _read_record(owner: Customer, slug: str) -> dict[str, Any]:
    """Return the article as it is exported, or an empty dictionary if it does not exist."""
    records = list(export_articles(owner, (slug,), all_fields=False))
    return records[0] if records else {}


def _format(record: dict[str, Any]) -> bytes:
    """Return the article as a file for the editor."""
    return format_article({name: value for name, value in record.items() if name not in HIDDEN_FIELDS})


def _edit_until_valid(file: Path, original: dict[str, Any], owner: Customer) -> str:
    """Open the editor until the file can be imported. Returns what has changed, to print after the slug.

    An empty or removed file changes nothing. Raises click.ClickException if the editor fails or the article was
    changed in the meantime, and Exit if the user gives up.
    """
    while True:
        _open_editor(file)
        text = _read(file)
        if text in (_format(original), b""):
            return "unchanged"
        try:
            return _import(text, original, owner)
        except ImportFailedError as error:
            click.echo(f"Error: {error}", err=True)
            if not can_ask():
                raise click.exceptions.Exit(1) from error
        if not click.confirm("Open the editor again?", default=True, err=True):
            raise click.exceptions.Exit(1)


def _open_editor(file: Path) -> None:
    """Open the file in the editor, and wait until it is closed. Raises click.ClickException if the editor fails."""
    try:
        click.edit(filename=str(file))
    except (click.ClickException, ValueError) as error:  # ValueError: from shlex
        cause = error.__cause__
        reason = "The command has an unclosed quotation mark" if isinstance(error, ValueError) else str(error)
        if isinstance(cause, OSError):
            reason = f"{cause.filename!r} cannot be started: {cause.strerror}"
        raise click.ClickException(f"{reason}. Set VISUAL or EDITOR to your editor's command.") from error


def _import(text: bytes, original: dict[str, Any], owner: Customer) -> str:
    """Replace the article with the text. Returns what has changed, to print after the slug.

    Raises ImportFailedError if the text has mistakes, and click.ClickException if the article was changed since it was
    read. Its views may have been counted since.
    """
    report = ImportReport()
    slug = original["slug"]
    articles = _parse(text, original, report)
    with create_spool() as spool:
        spool.add(articles, report)
        with command_session(writes=True):
            customer = get_customer_again(owner)
            current = _read_record(customer, slug)
            if not current or _format(current | {"views": 0}) != _format(original | {"views": 0}):
                raise click.ClickException(CONFLICT)
            result = write_articles(customer, spool, report, ImportOptions())
            is_own = Article.customer_id == customer.id, Article.id == original["id"]
            is_edited = db.session.scalars(select(Article.edited).where(*is_own)).one()
        report_notes(result, spool, report)
    for line in report.note_lines():
        echo(line, err=True)
    if is_edited:
        echo("Imports leave its text alone now. To take the source's text again: --take-over SLUG.", err=True)
    new_slug = articles[0].fields["slug"]
    if new_slug != slug:
        return f"renamed to {new_slug}. Its old URL no longer works: redirect it on your site."
    return "changed" if result.counts["changed"] else "unchanged"


def _parse(text: bytes, original: dict[str, Any], report: ImportReport) -> list[SourceArticle]:
    """Return the edited article, or nothing if it cannot be read. Mistakes go to the report."""
    articles = []
    with report.catch("the file"):
        article = own_article("the file", *parse_front_matter(text), current_app.config["TIMEZONE"])
        if article.fields.setdefault("id", original["id"]) != original["id"]:
            report.stop(Mistake("the file", f"Cannot be changed. Set it back to {original['id']!r}.", "id"))
        if article.fields.get("views") == original["views"]:
            del article.fields["views"]  # It may have been counted up since.
        article.fields["claim"] = original.get("claim")  # Without one, it would no longer count as missing.
        articles.append(article)
    return articles
