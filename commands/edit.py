"""`flask articles edit`: change an article in an editor."""

import shlex
from pathlib import Path
from tempfile import NamedTemporaryFile

import click
from flask import current_app

from commands import echo, params
from commands.import_articles import echo_notes
from commands.lookup import can_ask, customer_transaction, get_articles, get_customer, open_and_report
from converters.front_matter import parse_front_matter
from converters.markdown_files import own_article
from converters.records import Mistake, SourceArticle
from models import Customer
from storage.engine import release_connection
from transfer.article_files import format_article
from transfer.export import export_articles
from transfer.report import ImportFailedError, ImportReport
from transfer.writer import save_articles

CONFLICT = "The article was changed or deleted while the editor was open. To import your text as it is would undo that."


@click.command()
@click.argument("slug", type=params.text)
@params.customer_option
def edit(slug: str, customer: str | None) -> None:
    """Open the article SLUG in $EDITOR, and import what was saved.

    The file has the article's fields in YAML, and then its HTML. After a mistake the editor can be opened again. A time
    without a zone is of the setting TIMEZONE.
    """
    open_and_report()
    owner = get_customer(customer, writes=True)
    get_articles(owner, (slug,))  # It raises if there is no such article.
    original = _format_current(owner, slug)
    release_connection()
    with NamedTemporaryFile(prefix="article-", suffix=".html", delete=False) as temporary:
        temporary.write(original)
    file = Path(temporary.name)
    is_kept = True  # After a signal too: it does not end the editor, which may still save.
    try:
        result = _edit_until_valid(file, original, slug, customer)
        is_kept = False
    except click.ClickException:
        is_kept = _read(file) not in (original, b"")
        raise
    finally:
        if is_kept:
            name = ["--customer", customer] if customer else []
            command = shlex.join(["flask", "articles", "import", str(file), *name])
            click.echo(f"Your text is kept in {file}. To import it: {command}", err=True)
        else:
            file.unlink(missing_ok=True)
    echo(f"{slug}: {result}")


def _read(file: Path) -> bytes:
    """Return what the file holds: nothing if the editor has removed it."""
    return file.read_bytes() if file.is_file() else b""


def _format_current(owner: Customer, slug: str) -> bytes:
    """Return the article as a file, which is empty if there is no such article."""
    return b"".join(map(format_article, export_articles(owner, (slug,), all_fields=False)))


def _edit_until_valid(file: Path, original: bytes, slug: str, customer: str | None) -> str:
    """Open the file in the editor until what is saved can be imported; return what became of the article.

    A file that was emptied or removed changes nothing. Raises click.ClickException if the editor cannot be used or the
    article is no longer the original, and click.Abort if nobody corrects a mistake.
    """
    while True:
        click.edit(filename=str(file))
        text = _read(file)
        if text in (original, b""):
            return "unchanged"
        try:
            return _import(text, original, slug, customer)
        except ImportFailedError as error:
            click.echo(f"Error: {error}", err=True)
            if not can_ask():
                raise click.exceptions.Exit(1) from error
        click.confirm("Open the editor again?", default=True, abort=True, err=True)


def _import(text: bytes, original: bytes, slug: str, customer: str | None) -> str:
    """Import the text in the article's place; return "changed" or "unchanged".

    Raises ImportFailedError with a line for each mistake, and click.ClickException if the article is no longer the
    original.
    """
    report, zone = ImportReport(), current_app.config["TIMEZONE"]
    articles: list[SourceArticle] = []
    with report.catch("the file"):
        article = own_article("the file", *parse_front_matter(text), zone)
        article_id = parse_front_matter(original)[0]["id"]
        if article.fields.setdefault("id", article_id) != article_id:
            report.add(Mistake("the file", f"Must stay {article_id!r}.", "id"))
        articles.append(article)
    with customer_transaction(customer, writes=True) as owner:
        if _format_current(owner, slug) != original:
            raise click.ClickException(CONFLICT)
        counts = save_articles(owner, articles, report)
    echo_notes(report)
    return "changed" if counts["changed"] else "unchanged"
