"""Let a user edit a text in an editor, and keep the text if it cannot be saved."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

import click

from commands.support.terminal import UnconfirmedError, can_ask
from transfer import ImportFailedError
from transfer.article_files import EXPORTED_FIELDS


def require_terminal() -> None:
    """Raise UnconfirmedError without a terminal, on which an editor could run."""
    if not can_ask():
        raise UnconfirmedError("An editor needs a terminal. To import a file instead: flask articles import FILE")


def edit_text(original: bytes, suffix: str, save: Callable[[str, bytes], str], customer: str | None) -> str:
    """Open a text in the editor, and return what `save` returns, given the file and the text.

    Returns "" without saving if nothing has changed, or if the file is empty or removed. A text that is not saved stays
    in the file, which is named together with the command that imports it.
    """
    with NamedTemporaryFile(prefix="article-", suffix=suffix, delete=False) as temporary:
        temporary.write(original)
    file = Path(temporary.name)
    try:
        _open_editor(file)
        text = _read(file)
        result = "" if text in (original, b"") else save(str(file), text)
    except (ImportFailedError, click.ClickException) as error:
        reported = error if isinstance(error, click.ClickException) else click.ClickException(str(error))
        if _read(file) in (original, b""):
            file.unlink(missing_ok=True)
            raise reported from error
        reported.show()
        click.echo(_explain_saved(file, customer), err=True)
        raise click.exceptions.Exit(reported.exit_code) from error
    except BaseException:  # such as a signal: the editor survives it, and may still save
        click.echo(_explain_saved(file, customer), err=True)
        raise
    file.unlink(missing_ok=True)
    return result


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
