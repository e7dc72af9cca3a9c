"""CONTRIBUTING's instructions for a new field, applied to a copy of the project, add the field everywhere."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import POSTGRESQL, PROJECT, database_url, read_page, section

# file, old text, new text
CHANGES = [
    (
        "models.py",
        "    keywords: Mapped[str]",
        '    author: Mapped[str] = mapped_column(Text, server_default="")\n    keywords: Mapped[str]',
    ),
    ("models.py", '        is_text("category"),', '        is_text("category"),\n        is_text("author"),'),
    (
        "schemas.py",
        "    read_time = Minutes(",
        '    author = fields.String(load_default="", metadata=field_metadata("Writer.", "Ann Lee"))\n'
        "    read_time = Minutes(",
    ),
    ("schemas.py", '"category", "keywords")', '"category", "keywords", "author")'),
    ("storage/tables.py", "TABLES_VERSION = 4", "TABLES_VERSION = 5"),
    ("tests/helpers.py", "category readTime contentHtml", "category author readTime contentHtml"),
    ("tests/helpers.py", 'readTime category keywords"', 'readTime category keywords author"'),
    ("README.md", "| `readTime` |", "| `author` | string | |\n| `readTime` |"),
    ("README.md", "`category` and `keywords`.", "`category`, `keywords` and `author`."),
    ("docs/import.md", "| `bannerUrl`, `category`,", "| `bannerUrl`, `category`, `author`,"),
    ("CHANGELOG.md", "### Before you upgrade\n", "### Before you upgrade\n\n- The tables change: authors.\n"),
]
PROGRAM = """
import json
from app import create_app

app = create_app()

def run(*arguments, **options):
    result = app.test_cli_runner().invoke(args=arguments, **options)
    assert result.exit_code == 0, result.output
    return result.stdout

key = run("keys", "create", "Acme").strip()
given = json.loads(run("articles", "export")) | {"author": "Bo"}
print(run("articles", "import", "-", input=json.dumps(given)), end="")
print(run("articles", "import", "-", input=run("articles", "export")), end="")
client = app.test_client()
lists = [client.get(f"/api/public/v1/{path}", headers={"x-api-key": key}) for path in ("articles", "articles/preview")]
print(*(response.get_json()["data"][0]["author"] for response in lists))
print("Ann Lee" in client.get("/openapi.json").get_data(as_text=True))
"""


def run(folder: Path, database: Path, *arguments: str) -> str:
    """Run Python in the copy; return its stdout."""
    environment = os.environ | {"DATABASE_URL": database_url(database)}
    finished = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.mark.slow
def test_field_added_as_documented_is_everywhere(app, save, sql, database, tmp_path):
    """The copy upgrades a database of the current version that has an article."""
    save({"title": "One", "slug": "one", "contentHtml": "<p>One</p>", "publishedAt": "2026-01-31T09:30:00Z"})
    ignored = shutil.ignore_patterns(".*", "instance", "__pycache__", "integration")
    copy = Path(shutil.copytree(PROJECT, tmp_path / "copy", ignore=ignored))
    for name, old, new in CHANGES:
        text = (copy / name).read_text("utf-8")
        assert old in text, (name, old)
        (copy / name).write_text(text.replace(old, new, 1), "utf-8")
    listed = re.findall(r"^\| `(.*?)`", section(read_page("CONTRIBUTING"), "A new field"), re.MULTILINE)
    assert listed == list(dict.fromkeys(name for name, _, _ in CHANGES))
    printed = run(copy, database, "-c", PROGRAM).splitlines()
    first, again, author, has_author = printed[1:]
    assert printed[0] == "one: author"
    assert (first, again) == ("0 new, 1 changed, 0 unchanged", "0 new, 0 changed, 1 unchanged")
    assert (author, has_author) == ("Bo Bo", "True")
    if not POSTGRESQL:  # PostgreSQL stores the bytes as text
        with pytest.raises(sqlite3.IntegrityError):
            sql("UPDATE article SET author = ?", b"\xff\x00")
    run(copy, database, "seed.py")
    tests = "specification", "openapi", "documentation"
    modules = [f"tests/test_{name}.py" for name in tests]
    run(copy, database, "-m", "pytest", "-q", "-n", "0", "-k", "test_specification or test_openapi or field", *modules)
