"""Let a user edit a text in an editor, and keep the text if it cannot be saved."""

import shlex
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

import click

from commands.support.command_errors import report_errors
from commands.support.terminal import UnconfirmedError, can_ask, echo


def require_terminal() -> None:
    """Raise UnconfirmedError without a terminal, on which an editor could run."""
    if not can_ask():
        raise UnconfirmedError("An editor needs a terminal. To import a file instead: flask articles import FILE")


def edit_text(original: bytes, suffix: str, save: Callable[[str], None], customer: str | None) -> None:
    """Open a text in the editor, and call `save` with the file.

    Does not save if nothing has changed, or if the file is empty or removed. A text that is not saved stays in the
    file, which is named together with the command that imports it. Raises click.ClickException if the editor fails.
    """
    with NamedTemporaryFile(prefix="article-", suffix=suffix, delete=False) as temporary:
        temporary.write(original)
    file = Path(temporary.name)
    name = ["--customer", customer] if customer else []
    command = shlex.join(["flask", "articles", "import", str(file), *name])
    saved = f"Your text was saved in {file}. Once it is correct, import it: {command}"
    try:
        with report_errors():
            _open_editor(file)
            if _has_changed(file, original):
                save(str(file))
            else:
                echo("Nothing was changed.")
    except click.ClickException as error:
        if _has_changed(file, original):
            raise click.ClickException(f"{error.message}\n{saved}") from error
        file.unlink(missing_ok=True)
        raise
    except KeyboardInterrupt:  # which the editor survives
        echo(saved, err=True)
        raise
    file.unlink(missing_ok=True)


def _open_editor(file: Path) -> None:
    try:
        click.edit(filename=str(file))
    except (click.ClickException, ValueError) as error:  # ValueError: from shlex
        raise click.ClickException("Your editor has failed. Set VISUAL or EDITOR to its command.") from error


def _has_changed(file: Path, original: bytes) -> bool:
    return file.is_file() and file.read_bytes() not in (original, b"")
