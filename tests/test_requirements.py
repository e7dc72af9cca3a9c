"""Imported packages are required and pinned, and no module needs Unix to be imported."""

import ast
import sys
from functools import cache
from importlib.metadata import distributions, packages_distributions
from pathlib import Path

import pytest
from helpers import PROJECT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

UNIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"}
OTHERS = {"benchmarks", "examples", "tests"}


@cache
def modules() -> dict[str, ast.Module]:
    """Parse all modules; return them by path."""
    paths = [path.relative_to(PROJECT) for path in (*PROJECT.glob("*.py"), *PROJECT.glob("*/*.py"))]
    return {str(path): ast.parse((PROJECT / path).read_text("utf-8")) for path in paths if path.parts[0] not in OTHERS}


def imported_packages(*nodes: ast.AST) -> set[str]:
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in names}


def pins(path: Path) -> dict[str, Requirement]:
    """Return the requirements of a file and of those it includes, by package."""
    found = {}
    for line in path.read_text().splitlines():
        if line.startswith("-r "):
            found |= pins(path.parent / line[3:])
        elif line and not line.startswith("#"):
            requirement = Requirement(line)
            found[canonicalize_name(requirement.name)] = requirement
    return found


def test_no_module_needs_unix_to_be_imported():
    for path, tree in modules().items():
        assert not imported_packages(*tree.body) & UNIX_MODULES, path


def test_each_imported_package_is_required():
    imported = imported_packages(*(node for tree in modules().values() for node in ast.walk(tree)))
    installed = packages_distributions()
    required = pins(PROJECT / "requirements-postgresql.txt")
    packages = (imported & installed.keys()) - sys.stdlib_module_names
    assert {"click", "flask", "werkzeug"} <= packages
    assert {canonicalize_name(installed[package][0]) for package in packages} <= required.keys()


@pytest.mark.parametrize("name", ["requirements", "requirements-dev", "requirements-postgresql", ".ci/requirements"])
def test_all_installed_packages_are_pinned(name):
    pinned = pins(PROJECT / f"{name}.txt")
    assert {str(requirement.specifier)[:2] for requirement in pinned.values()} == {"=="}
    for package in distributions():
        if canonicalize_name(package.name) in pinned:
            needed = [requirement for text in package.requires or () if is_installed(requirement := Requirement(text))]
            assert {canonicalize_name(requirement.name) for requirement in needed} <= pinned.keys(), package.name


def is_installed(requirement: Requirement) -> bool:
    """Return whether pip would install a requirement here, without extras."""
    return not requirement.marker or requirement.marker.evaluate({"extra": ""})
