# SPDX-License-Identifier: Apache-2.0
"""docs/errors.md has one row for every code, and a test meets every code."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"(?<!0x)E[012][0-9]{2}")


def raised() -> set[str]:
    """Return the codes that are literals in the sources."""
    sources = (path for part in ("compiler", "hw_sim") for path in (ROOT / part).rglob("*.py"))
    return {
        code for path in sources for code in re.findall(r'"(E[012][0-9]{2})"', path.read_text())
    }


def explained() -> list[str]:
    """Return the codes of the table's rows, in order."""
    text = (ROOT / "docs" / "errors.md").read_text()
    return re.findall(r"^\| (E[012][0-9]{2}) \| [^|]+ \| [^|]+ \|$", text, re.M)


def met() -> Iterator[str]:
    """Yield every code that a test or a golden message mentions."""
    for pattern in ("*.py", "*.txt"):
        for path in (ROOT / "tests").rglob(pattern):
            if path != Path(__file__):
                yield from CODE.findall(path.read_text(errors="replace"))


def test_every_code_has_one_row() -> None:
    assert len(raised()) > 80
    assert explained() == sorted(raised())


def test_every_code_is_met_by_a_test() -> None:
    assert raised() <= set(met())


def test_docstrings_and_documents_name_no_other_code() -> None:
    documents = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    sources = [path for part in ("compiler", "hw_sim") for path in (ROOT / part).rglob("*.py")]
    named = {code for path in documents + sources for code in CODE.findall(path.read_text())}
    assert named <= raised()


def test_codes_that_went_are_not_used_again() -> None:
    rows = re.findall(r"^\| error codes \| (.*) \| gone \|$", text_of("CHANGELOG.md"), re.M)
    gone = {code for row in rows for code in CODE.findall(row)}
    assert gone
    assert not gone & raised()


def text_of(name: str) -> str:
    return (ROOT / name).read_text()
