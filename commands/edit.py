"""`flask articles edit`: change an article in an editor."""

import shlex
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import click
import orjson

from commands import echo_notes, params
from commands.lookup import get_customer, require_slugs
from field_types import printable
from importing.article_files import format_article, parse_article
from importing.errors import ImportErrors, ImportFailedError, SourceError, SourceLocation
from importing.export import export_articles
from importing.front_matter import FIRST_LINE
from importing.writer import save_articles
from storage.engine import release_connection, write_transaction
from storage.tables import open_database

COMMENT_LINES = 2  # what is wrong, and what to do
GIVE_UP = "or close the editor without a change to give up."


class EditConflictError(Exception):
    """The article was changed while the editor was open. `merged` is its current text with the user's changes."""

    def __init__(self, current: dict[str, Any], merged: bytes) -> None:
        super().__init__()
        self.current, self.merged = current, merged


@click.command()
@click.argument("slug", type=params.slug)
@params.customer_option
def edit(slug: str, name: str | None) -> None:
    """Open the article SLUG in $EDITOR, with its fields in YAML and then its HTML, and import what was saved.

    After a mistake the editor opens again and says what is wrong. Closed without a change, it gives up.
    """
    open_database()
    article = _read_article(slug, name)
    original = format_article(article)
    with NamedTemporaryFile(prefix="article-", suffix=".html", delete=False) as temporary:
        temporary.write(original)
    file = Path(temporary.name)
    try:
        result = _edit_until_valid(file, original, article, name)
    except BaseException:
        if file.is_file() and file.read_bytes() != original:
            command = shlex.join(["flask", "articles", "import", str(file), *(["--customer", name] if name else [])])
            click.echo(f"Your text is kept in {file}. To import it: {command}", err=True)
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


def _edit_until_valid(file: Path, text: bytes, article: dict[str, Any], name: str | None) -> str:
    """Open `text` in the editor until what is saved can be imported, and import it.

    Returns what became of the article. Raises click.ClickException if the user gives up after a mistake.
    """
    comment, tried = b"", text
    while True:
        opened = _insert_comment(text, comment)
        saved = _open_editor(file, opened)
        text = saved.replace(comment, b"", 1)
        if saved == opened or text == tried:
            if comment:
                raise click.ClickException("Nothing was written.")
            return "unchanged"
        tried = text
        try:
            return _import(text, article, name)
        except ImportFailedError as error:
            reasons = [str(error).splitlines()[-1], f"Correct it and save, {GIVE_UP}"]
        except EditConflictError as conflict:
            fields = ", ".join(_changes(article, conflict.current))
            reasons = [f"The article was changed while the editor was open: {fields}. Your changes are below."]
            reasons.append(f"To import them, remove these lines and save, {GIVE_UP}")
            article, text = conflict.current, conflict.merged
            tried = b""  # saving it as it is imports it
        comment = "".join(f"# {printable(line)}\n" for line in reasons).encode()


def _insert_comment(text: bytes, comment: bytes) -> bytes:
    """Return the text with the comment at the top of its front matter, if it has one."""
    first_line = FIRST_LINE.match(text)
    start = first_line.end() if first_line else 0
    return text[:start] + comment + text[start:]


def _open_editor(file: Path, text: bytes) -> bytes:
    """Return what the user has made of the text. Raises click.ClickException if that cannot be read."""
    file.write_bytes(text)
    release_connection()
    try:
        click.edit(filename=str(file))
        return file.read_bytes()
    except click.ClickException as error:
        raise click.ClickException(
            f"{error.message}. Nothing was written. Set EDITOR to an editor that works."
        ) from error
    except OSError as error:
        raise click.ClickException(f"Nothing was written. {file} cannot be read ({error.strerror}).") from error


def _changes(article: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of `record` that differ from the article's. A field that was removed is null."""
    return {name: record.get(name) for name in article | record if record.get(name) != article.get(name)}


def _import(text: bytes, article: dict[str, Any], name: str | None) -> str:
    """Import the text in the place of `article`; return "changed" or "unchanged".

    Raises ImportFailedError for a mistake, also another id, and EditConflictError.
    """
    errors, location = ImportErrors(), SourceLocation("the editor")
    try:
        record, lines = parse_article(text, first_line=1 + COMMENT_LINES)
    except SourceError as error:
        raise ImportFailedError(f"{location.at_line(error.line)}: {error}") from error
    open_database()  # it may be another one than before, or gone
    with write_transaction():
        current = _read_article(article["slug"], name)
        if current["id"] != article["id"]:
            raise click.ClickException("Nothing was written. Another article has taken this slug in the meantime.")
        if current != article:
            raise EditConflictError(current, format_article(current | _changes(article, record)))
        if record.setdefault("id", article["id"]) != article["id"]:
            raise ImportFailedError(f"id: Must stay {article['id']!r}.")
        records = [(location._replace(lines=lines), record)]
        counts = save_articles(get_customer(name, changes=True), records, errors)
    echo_notes(errors)
    return "changed" if counts["changed"] else "unchanged"
