"""The packages and modules of the project, what they import, and the packages that pip installs."""

import ast
import sys
from functools import cache
from importlib.metadata import distributions, packages_distributions
from pathlib import Path

import pytest
from helpers import PROJECT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Each package or module may import those of the lines below its own, and itself.
LAYERS = [
    {"seed"},
    {"app"},
    {"commands"},
    {"endpoints", "serving"},
    {"auth", "transfer"},
    {"converters", "storage"},
    {"models"},
    {"errors", "settings"},
    {"schemas"},
    {"content"},
    {"fields"},
]
LEVELS = {package: level for level, packages in enumerate(LAYERS) for package in packages}
UNIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"}


@cache
def modules() -> dict[str, ast.Module]:
    """Return the parsed modules by their path in the project."""
    paths = [*PROJECT.glob("*.py"), *(path for package in LEVELS for path in (PROJECT / package).glob("*.py"))]
    return {path.relative_to(PROJECT).as_posix(): ast.parse(path.read_text("utf-8")) for path in paths}


def imported_packages(*nodes: ast.AST) -> set[str]:
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in names}


def pins(path: Path) -> dict[str, Requirement]:
    """Return the requirements of a file, and of the files that it names, by package."""
    found = {}
    for line in path.read_text().splitlines():
        if line.startswith("-r "):
            found |= pins(path.parent / line[3:])
        elif line and not line.startswith("#"):
            requirement = Requirement(line)
            found[canonicalize_name(requirement.name)] = requirement
    return found


def test_modules_import_only_what_is_below_them():
    for path, tree in modules().items():
        own = path.split("/")[0].removesuffix(".py")
        below = {package for package in LEVELS if LEVELS[package] > LEVELS[own]} | {own}
        if own == "commands":  # "flask articles preview" serves another instance of the application when it runs.
            assert "app" not in imported_packages(*tree.body)
            below.add("app")
        assert imported_packages(*ast.walk(tree)) & LEVELS.keys() <= below, path


@pytest.mark.parametrize("package", ["content", "converters"])
def test_text_is_converted_without_database_flask_and_click(package):
    beyond = {"auth", "click", "endpoints", "flask", "flask_sqlalchemy", "models", "sqlalchemy", "storage", "transfer"}
    paths = [path for path in modules() if path.startswith(f"{package}/")]
    assert paths
    for path in paths:
        assert not imported_packages(*ast.walk(modules()[path])) & beyond, path


def test_no_module_needs_unix_to_be_imported():
    for path, tree in modules().items():
        assert not imported_packages(*tree.body) & UNIX_MODULES, path


def test_each_imported_package_is_required():
    imported = imported_packages(*(node for tree in modules().values() for node in ast.walk(tree)))
    installed = packages_distributions()
    required = pins(PROJECT / "requirements-postgresql.txt")
    packages = imported - LEVELS.keys() - sys.stdlib_module_names
    assert {"click", "flask", "werkzeug"} <= packages
    assert {canonicalize_name(installed[package][0]) for package in packages & installed.keys()} <= required.keys()


@pytest.mark.parametrize("name", ["requirements", "requirements-dev", "requirements-postgresql", ".ci/requirements"])
def test_all_that_pip_installs_is_pinned(name):
    pinned = pins(PROJECT / f"{name}.txt")
    assert {str(requirement.specifier)[:2] for requirement in pinned.values()} == {"=="}
    for package in distributions():
        if canonicalize_name(package.name) in pinned:
            needed = [requirement for text in package.requires or () if is_installed(requirement := Requirement(text))]
            assert {canonicalize_name(requirement.name) for requirement in needed} <= pinned.keys(), package.name


def is_installed(requirement: Requirement) -> bool:
    """Return whether pip installs what a package requires, on this Python and system and without extras."""
    return not requirement.marker or requirement.marker.evaluate({"extra": ""})
