"""What the tests of imports share."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result
from helpers import PROJECT, write_files


class Importer:
    """The customer Acme, an empty folder, and functions that import from it and read what arrived."""

    def __init__(self, articles: Callable[..., Result], folder: Path) -> None:
        """`articles` runs `flask articles`."""
        self.run, self.folder = articles, folder

    def write(self, files: dict[str, Any]) -> None:
        write_files(self.folder, files)

    def imports(self, *arguments: Any) -> str:
        """Import twice, the second time without a change; return what the first one printed on standard error."""
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
        """Return the articles by slug, without fields that are derived."""
        return {record["slug"]: record for record in map(json.loads, self.run("export").stdout.splitlines())}

    def only(self, slug: str = "a") -> dict[str, Any]:
        """Return the article with this slug."""
        return self.articles()[slug]


def read_data(name: str) -> str:
    """Return the text of a file in `tests/data`."""
    return (PROJECT / "tests/data" / name).read_text("utf-8")
