"""Let a user edit a text in an editor until it can be saved."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

import click

from commands.support.terminal import can_ask
from transfer import ImportFailedError
from transfer.article_files import EXPORTED_FIELDS


def edit_text(original: bytes, save: Callable[[bytes], str], customer: str | None) -> str:
    """Open a text in the editor, and return what `save` returns for the edited one, or "" if nothing has changed.

    A text that is not saved stays in a file, which is named together with the command that imports it.
    """
    with NamedTemporaryFile(prefix="article-", suffix=".html", delete=False) as temporary:
        temporary.write(original)
    file = Path(temporary.name)
    try:
        result = _edit_until_valid(file, original, save)
    except click.ClickException as error:
        if _read(file) in (original, b""):
            file.unlink(missing_ok=True)
            raise
        error.show()
        click.echo(_explain_saved(file, customer), err=True)
        raise click.exceptions.Exit(error.exit_code) from error
    except BaseException:  # such as a signal: the editor survives it, and may still save
        click.echo(_explain_saved(file, customer), err=True)
        raise
    file.unlink(missing_ok=True)
    return result


def _edit_until_valid(file: Path, original: bytes, save: Callable[[bytes], str]) -> str:
    """Open the editor until the file can be saved. Returns what `save` returns, or "" if nothing has changed.

    An empty or removed file changes nothing. Raises click.ClickException if the editor fails, or if `save` does, and
    Exit if the user gives up after an error.
    """
    while True:
        _open_editor(file)
        text = _read(file)
        if text in (original, b""):
            return ""
        try:
            return save(text)
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


def _explain_saved(file: Path, customer: str | None) -> str:
    """Return a message that names the file, and the command that imports it.

    A file without the fields of an export would not be recognized as this service's own.
    """
    text = _read(file).decode(errors="replace")
    lacking = [name for name in sorted(EXPORTED_FIELDS) if not re.search(rf"^{name}\s*:[ \t]*\S", text, re.MULTILINE)]
    condition = f"Add {', '.join(lacking)}, then" if lacking else "Once it is correct,"
    name = ["--customer", customer] if customer else []
    command = shlex.join(["flask", "articles", "import", str(file), *name])
    return f"Your text was saved in {file}. {condition} import it: {command}"


def _read(file: Path) -> bytes:
    """Return the file's content, or b"" if the editor removed it."""
    return file.read_bytes() if file.is_file() else b""
