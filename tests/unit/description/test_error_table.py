"""docs/errors.md explains every code that reading and resolving a description uses."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
SOURCES = [
    path
    for stage in ("description", "resolve")
    for path in (ROOT / "compiler" / "atoll" / stage).glob("*.py")
]


def test_every_code_is_in_the_table() -> None:
    used = {code for path in SOURCES for code in re.findall(r'"(E0[0-9]{2})"', path.read_text())}
    rows = re.findall(r"^\| (E0[0-9]{2}) \|", (ROOT / "docs" / "errors.md").read_text(), re.M)
    assert len(used) > 30
    assert used <= set(rows)
    assert rows == sorted(set(rows))
