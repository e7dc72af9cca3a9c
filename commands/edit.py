"""`flask articles edit`: change an article in an editor."""

import os
import re
from pathlib import Path
from tempfile import mkstemp
from typing import Any

import click
import orjson
from flask.cli import with_appcontext

from commands import echo_notes, params
from commands.lookup import get_customer, require_slugs
from commands.params import customer_option
from field_types import printable
from importing.errors import ImportErrors, ImportFailedError, SourceLocation
from importing.export import export_articles
from importing.writer import load_articles, save_articles
from storage.engine import release_connection, write_transaction
from storage.tables import open_database

COMMENT_LINE = re.compile(r"^#.*\n?", re.MULTILINE)
RECOVERY_HINT = "Correct it and save, or close the editor without a change to give up."


class EditConflictError(Exception):
    """The article was changed while the editor was open.

    Holds the current article, and its text with the user's changes applied.
    """

    def __init__(self, article: dict[str, Any], text: str) -> None:
        super().__init__()
        self.article, self.text = article, text


@click.command()
@with_appcontext
@click.argument("slug", type=params.slug)
@customer_option
def edit(slug: str, name: str | None) -> None:
    """Open the article SLUG as JSON in $EDITOR, and import what was saved.

    After a mistake the editor opens again and says what is wrong. Closed without a change, it gives up.
    """
    open_database()
    article = _read_article(slug, name)
    release_connection()
    original = _to_text(article)
    descriptor, path = mkstemp(".json", "article-")
    os.close(descriptor)
    file = Path(path)
    file.write_bytes(original.encode())
    try:
        result = _edit_until_valid(file, original, article, name)
    except BaseException:
        if file.is_file() and file.read_bytes() != original.encode():
            click.echo(f"Your text is kept in {file}", err=True)
        else:
            file.unlink(missing_ok=True)
        raise
    file.unlink(missing_ok=True)
    click.echo(f"{printable(slug)}: {result}")


def _read_article(slug: str, name: str | None) -> dict[str, Any]:
    """Return the article in the form that import takes. Raises click.ClickException if it does not exist."""
    customer = get_customer(name, changes=True)
    require_slugs(customer, (slug,))
    article: dict[str, Any] = orjson.loads(orjson.dumps(next(export_articles(customer, (slug,), all_fields=False))))
    return article


def _edit_until_valid(file: Path, text: str, article: dict[str, Any], name: str | None) -> str:
    """Open `text` in the editor until what is saved can be imported, and import it.

    Returns what became of the article. Raises click.ClickException if the user gives up after a mistake.
    """
    comment, has_conflict = "", False
    while True:
        opened = comment + text
        saved = _open_editor(file, opened)
        edited = COMMENT_LINE.sub("", saved)
        if saved == opened or (edited == text and not has_conflict):
            if comment:
                raise click.ClickException("Nothing was written.")
            return "unchanged"
        text, has_conflict = edited, False
        try:
            return _import(_parse(text), article, name)
        except ImportFailedError as error:
            reasons = str(error).splitlines()
        except EditConflictError as error:
            fields = [field for field in article | error.article if article.get(field) != error.article.get(field)]
            changed = f"The article was changed while the editor was open: {', '.join(fields)}."
            reasons = [f"{changed} Your changes are below. To import them, remove these lines and save."]
            article, text, has_conflict = error.article, error.text, True
        release_connection()
        comment = "".join(f"# {line}\n" for line in (*reasons, RECOVERY_HINT))


def _open_editor(file: Path, text: str) -> str:
    """Return what the user has made of the text. Raises click.ClickException if that cannot be read."""
    file.write_bytes(text.encode())
    try:
        click.edit(filename=str(file))
        return file.read_bytes().decode("utf-8-sig")
    except click.ClickException as error:
        raise click.ClickException(
            f"{error.message}. Nothing was written. Set EDITOR to an editor that works."
        ) from error
    except OSError as error:
        raise click.ClickException(f"Nothing was written. {file} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise click.ClickException("Nothing was written. The editor must save the file in UTF-8.") from error


def _to_text(article: dict[str, Any]) -> str:
    return orjson.dumps(article, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _changes(article: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of `record` that differ from the article's. A field that was removed is null."""
    return {name: record.get(name) for name in article | record if record.get(name) != article.get(name)}


def _parse(text: str) -> dict[str, Any]:
    """Return the article that the user has saved. Raises ImportFailedError if it is no JSON object."""
    try:
        record: dict[str, Any] = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        line = error.lineno + 2  # below the comment
        raise ImportFailedError(f"Must be JSON ({error.msg}, line {line}, column {error.colno}).") from error
    if not isinstance(record, dict):
        raise ImportFailedError("Must be an object.")
    return record


def _import(record: dict[str, Any], article: dict[str, Any], name: str | None) -> str:
    """Import the record in the place of `article`; return "changed" or "unchanged".

    Raises ImportFailedError, also for another id, and EditConflictError.
    """
    with write_transaction():
        current = _read_article(article["slug"], name)
        if current["id"] != article["id"]:
            raise click.ClickException("Nothing was written. Another article has taken this slug in the meantime.")
        if current != article:
            raise EditConflictError(current, _to_text(current | _changes(article, record)))
        if record.setdefault("id", article["id"]) != article["id"]:
            raise ImportFailedError(f"id: Must stay {article['id']!r}.")
        errors = ImportErrors()
        loaded = load_articles([(SourceLocation("the editor"), record)], errors)
        counts = save_articles(get_customer(name, changes=True), loaded, errors)
        errors.raise_if_any()
    echo_notes(errors)
    return "changed" if counts["changed"] else "unchanged"
