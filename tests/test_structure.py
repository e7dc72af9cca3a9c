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
    {"errors", "settings", "schemas"},
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
def test_imports_go_one_way(path):
    own = path.relative_to(PROJECT).parts[0].removesuffix(".py")
    assert own in PACKAGES
    for package in (imported_packages(path) & PACKAGES) - {own}:
        assert layer(package) > layer(own), f"{own} imports {package}"


def test_only_commands_and_programs_know_click():
    for path in modules():
        if path.relative_to(PROJECT).parts[0].removesuffix(".py") not in {"app", "commands", "seed", "settings"}:
            assert "click" not in imported_packages(path), path


def test_models_and_schemas_do_not_know_each_other():
    assert "schemas" not in imported_packages(PROJECT / "models.py")
    assert "models" not in imported_packages(PROJECT / "schemas.py")


def test_no_module_needs_unix_to_be_imported():
    for path in modules():
        assert not imported_packages(path, top_only=True) & UNIX_MODULES, path


def test_each_imported_package_is_pinned():
    requirements = "".join(path.read_text() for path in PROJECT.glob("requirements*.txt"))
    imported = set().union(*map(imported_packages, modules())) - PACKAGES - sys.stdlib_module_names
    installed = packages_distributions()
    assert {"click", "flask", "werkzeug"} <= imported & installed.keys()
    for package in imported & installed.keys():
        assert re.search(rf"^{installed[package][0]}(\[\w+\])?==", requirements, re.MULTILINE), package
