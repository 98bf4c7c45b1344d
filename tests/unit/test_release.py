# SPDX-License-Identifier: Apache-2.0
"""The version is written once, and the changelog has it."""

import re
import tomllib
from pathlib import Path

from atoll import __version__

ROOT = Path(__file__).parents[2]


def test_the_newest_release_of_the_changelog_is_the_version() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert headings[0] == "Unreleased"
    releases = [re.fullmatch(r"(\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}", each) for each in headings[1:]]
    assert next(each[1] for each in releases if each) == __version__
    assert all(releases)


def test_the_package_takes_its_version_from_the_source() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in settings["project"]
    path = settings["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{__version__}"\n' in (ROOT / path).read_text()
