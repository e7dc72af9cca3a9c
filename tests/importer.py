"""Shared by the import tests: a customer to import for, and article files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result
from helpers import PROJECT, write_files


def post(front_matter: str = "", text: str = "") -> str:
    """Return an article file with a title, a date, and this front matter and text."""
    return f"---\ntitle: A\ndate: 2026-01-01\n{front_matter}\n---\n{text}\n"


class Importer:
    """Import into the customer Acme from a temporary folder, and read what was stored."""

    def __init__(self, articles: Callable[..., Result], folder: Path) -> None:
        """`articles` runs `flask articles` with the given arguments."""
        self.run, self.folder = articles, folder

    def write(self, files: dict[str, Any]) -> None:
        write_files(self.folder, files)

    def imports(self, *arguments: Any) -> str:
        """Import, and check that importing again is silent and changes nothing; return the first import's stderr."""
        first, second = self.run("import", *arguments), self.run("import", *arguments)
        assert first.exit_code == 0, first.stderr
        assert second.stdout.startswith("0 new, 0 changed, "), second.stdout
        assert second.stderr == ""
        return first.stderr

    def states(self) -> dict[str, str]:
        """Return the state of each article by slug."""
        rows = map(json.loads, self.run("list", "--json").stdout.splitlines())
        return {row["slug"]: row["state"] for row in rows}

    def articles(self) -> dict[str, dict[str, Any]]:
        """Return the exported articles by slug, without derived fields."""
        return {record["slug"]: record for record in map(json.loads, self.run("export").stdout.splitlines())}

    def only(self, slug: str = "a") -> dict[str, Any]:
        """Return the article with this slug."""
        return self.articles()[slug]


def error_lines(result: Result) -> list[str]:
    """Return the mistakes that a failed import printed, without its heading and its advice."""
    assert (result.exit_code, result.stdout) == (1, "")
    heading, *lines = result.stderr.splitlines()
    assert heading == "Error: Nothing was written. What is wrong:"
    return [line for line in lines if not line.startswith("To import the valid articles")]


def read_data(name: str) -> str:
    """Return the text of a file in `tests/data`."""
    return (PROJECT / "tests/data" / name).read_text("utf-8")
