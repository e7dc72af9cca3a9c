"""Imported packages are required and pinned, and no module needs Unix to be imported."""

import re
import sys
from importlib.metadata import distributions, packages_distributions
from pathlib import Path

import pytest
from helpers import PROJECT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

UNIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"}
MODULES = (*PROJECT.glob("*.py"), *PROJECT.glob("[!.]*/*.py"), *PROJECT.glob("converters/*/*.py"))
SOURCE = "\n".join(path.read_text("utf-8") for path in MODULES if path.parent.name not in ("benchmarks", "tests"))


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
    assert not UNIX_MODULES & set(re.findall(r"^(?:from|import) (\w+)", SOURCE, re.MULTILINE))


def test_each_imported_package_is_required():
    installed = packages_distributions()
    imported = set(re.findall(r"^ *(?:from|import) (\w+)", SOURCE, re.MULTILINE)) & installed.keys()
    packages = {canonicalize_name(installed[name][0]) for name in imported - sys.stdlib_module_names}
    assert {"click", "flask", "werkzeug"} <= packages <= pins(PROJECT / "requirements-postgresql.txt").keys()


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
