# SPDX-License-Identifier: Apache-2.0
"""Every source says its licence, for tools that read SPDX."""

from pathlib import Path

import pytest
from tests.licence_lines import COMMENTS, LINE, NOT_OURS, ROOT, add_line, lacks_line, sources


def test_every_source_says_its_licence() -> None:
    found = sources()
    assert {path.suffix for path in found} == set(COMMENTS)
    missing = [str(path.relative_to(ROOT)) for path in found if lacks_line(path)]
    assert not missing, "run `python -m tests.licence_lines`"


def test_what_is_not_ours_is_left_alone() -> None:
    for folder in NOT_OURS:
        texts = [path for path in (ROOT / folder).rglob("*") if path.suffix in COMMENTS]
        assert texts
        assert not any(COMMENTS[path.suffix].format(LINE) == first(path) for path in texts)


def first(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace").partition("\n")[0]


@pytest.mark.parametrize("suffix", sorted(COMMENTS))
def test_a_line_is_added_once(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"source{suffix}"
    path.write_text("one\ntwo\n")
    assert lacks_line(path)
    add_line(path)
    assert not lacks_line(path)
    assert path.read_text().replace(COMMENTS[suffix].format(LINE) + "\n", "") == "one\ntwo\n"


def test_a_script_keeps_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text("#!/usr/bin/env python3\npass\n")
    add_line(path)
    assert path.read_text() == f"#!/usr/bin/env python3\n# {LINE}\npass\n"
