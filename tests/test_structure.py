"""The packages and modules of the project, and which of them may import which."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from helpers import PROJECT

# Each package or module may import those of the lines below its own, and itself.
LAYERS = [
    {"seed"},
    {"app"},
    {"commands"},
    {"endpoints", "serving"},
    {"auth", "importing"},
    {"storage"},
    {"models"},
    {"errors", "settings"},
    {"schemas"},
    {"field_types"},
]
PACKAGES = set().union(*LAYERS)
UNIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"}


def modules() -> list[Path]:
    found = [*PROJECT.glob("*.py")]
    for package in sorted(PACKAGES):
        found += (PROJECT / package).glob("*.py")
    return found


def imported_packages(path: Path, *, top_only: bool = False) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    names = set()
    for node in tree.body if top_only else ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
    return names


def layer(package: str) -> int:
    return next(number for number, packages in enumerate(LAYERS) if package in packages)


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_module_imports_only_what_it_may(path):
    own = path.relative_to(PROJECT).parts[0].removesuffix(".py")
    assert own in PACKAGES
    imported = imported_packages(path)
    if own == "commands":  # "flask articles preview" serves another instance of the application.
        assert "app" not in imported_packages(path, top_only=True)
        imported -= {"app"}
    assert [package for package in (imported & PACKAGES) - {own} if layer(package) <= layer(own)] == []
    assert "click" not in imported or own in {"app", "commands", "seed", "settings"}
    assert "schemas" not in imported or own != "models"
    assert not imported_packages(path, top_only=True) & UNIX_MODULES


def test_each_imported_package_is_pinned():
    requirements = "".join(path.read_text() for path in PROJECT.glob("requirements*.txt"))
    imported = set().union(*map(imported_packages, modules())) - PACKAGES - sys.stdlib_module_names
    installed = packages_distributions()
    assert {"click", "flask", "werkzeug"} <= imported & installed.keys()
    for package in imported & installed.keys():
        assert re.search(rf"^{installed[package][0]}(\[\w+\])?==", requirements, re.MULTILINE), package
