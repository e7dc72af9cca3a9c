"""CONTRIBUTING's instructions for a new field, applied to a copy of the project, add the field everywhere."""

import json
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from helpers import POSTGRESQL, PROJECT, read_page, section, subprocess_args

from storage.tables import TABLES_VERSION

ADD_COLUMN = "ALTER TABLE article ADD COLUMN subtitle TEXT NOT NULL DEFAULT ''"
# file, text, and what is inserted before it
CHANGES = [
    ("models.py", "    keywords: Mapped[str]", '    subtitle: Mapped[str] = mapped_column(Text, server_default="")\n'),
    ("models.py", '        text_check("category"),', '        text_check("subtitle"),\n'),
    (
        "schemas.py",
        "    read_time = Minutes(",
        '    subtitle = fields.String(load_default="", metadata=field_metadata("Below the title.", "Soup"))\n',
    ),
    ("schemas.py", '"keywords")', '"subtitle", '),
    (
        "storage/versions.py",
        "}\n\n# SQL expressions",
        f'    {TABLES_VERSION + 1}: {{"sqlite": [], "postgresql": [{ADD_COLUMN!r}]}},\n',
    ),
    ("tests/helpers.py", "readTime contentHtml", "subtitle "),
    ("tests/helpers.py", 'keywords"', "subtitle "),
    ("README.md", "| `readTime` |", "| `subtitle` | string | |\n"),
    ("README.md", "` and `keywords`.", "`, `subtitle"),
    ("README.md", '"readTime": ', '"subtitle": "", '),
    ("docs/fields.md", "`schemaMarkup` | none |", "`subtitle`, "),
    ("docs/fields.md", "`bannerUrl`, `category`,", "`subtitle`, "),
    (
        "CHANGELOG.md",
        "## [",
        f"## [Unreleased]\n\n### Before you upgrade\n\nThe tables change to version {TABLES_VERSION + 1}.\n\n",
    ),
]


def run(folder: Path, database: Path, *arguments: str) -> str:
    """Run Python in the copy; return its stdout."""
    finished = subprocess.run(**subprocess_args(database, *arguments) | {"cwd": folder}, timeout=900)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.mark.slow
def test_field_added_as_documented_is_everywhere(app, save, sql, database, tmp_path):
    """The copy upgrades a database of the current version that has an article, and passes the default tests."""
    save({"title": "One", "slug": "one", "contentHtml": "<p>One</p>", "publishedAt": "2026-01-31T09:30:00Z"})
    ignored = shutil.ignore_patterns(".env", ".git", ".venv", ".*_cache", "instance", "__pycache__")
    copy = Path(shutil.copytree(PROJECT, tmp_path / "copy", ignore=ignored))
    for name, text, inserted in CHANGES:
        file = copy / name
        before, after = file.read_text("utf-8").split(text, 1)
        file.write_text(f"{before}{inserted}{text}{after}", "utf-8")
    listed = re.findall(r"^\| `(.*?)` \|", section(read_page("CONTRIBUTING"), "A new field"), re.MULTILINE)
    assert listed == [*dict.fromkeys(name for name, *_ in CHANGES)]
    flask = "-m", "flask", "articles"
    article = json.loads(run(copy, database, *flask, "export")) | {"subtitle": "Bo"}
    (tmp_path / "new.json").write_text(json.dumps(article))
    changed = run(copy, database, *flask, "import", f"{tmp_path}/new.json").splitlines()
    assert changed == ["one: subtitle", "0 new, 1 changed, 0 unchanged"]
    assert json.loads(run(copy, database, *flask, "export"))["subtitle"] == "Bo"
    if not POSTGRESQL:  # PostgreSQL stores the bytes as text
        with pytest.raises(sqlite3.IntegrityError):
            sql("UPDATE article SET subtitle = ?", b"\xff\x00")
    tests = ["tests/test_migration.py"] if POSTGRESQL else []
    run(copy, database, "-m", "pytest", "-q", "-n", "auto", *tests)
