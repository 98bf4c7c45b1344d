# SPDX-License-Identifier: Apache-2.0
"""The fixes of all faults in tests/bad: each makes its fault go and keeps comments."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from atoll.diagnostics.errors import Fault
from atoll_lsp.analysis import analyse, kind_of, text_of
from atoll_lsp.fixes import changes_of

BAD = Path(__file__).parents[2] / "bad"
CHIPS = sorted(path.name for path in BAD.glob("*.yaml"))

NO_EDIT = {
    ("chip_for_parts.yaml", "E190"): "another file is to be given",
    ("empty.yaml", "E003"): "the output of a command",
    ("extends_missing.yaml", "E001"): "a file is missing",
    ("other_core_without_isa.yaml", "E010"): "only the user knows what the core runs",
    ("other_core_without_isa.yaml", "E042"): "a file of the user's own",
    ("pools_without_sizes.yaml", "E042"): "a file of the user's own",
    ("too_deep.yaml", "E006"): "a matter of design",
    ("unclosed_flow.yaml", "E003"): "only the user knows where the mapping ends",
    ("wrong_indent.yaml", "E003"): "only the user knows which keys belong together",
}
"""Faults whose remedy is no edit, and why."""


def read(name: str) -> dict[Path, str]:
    return {BAD / name: (BAD / name).read_bytes().decode("utf-8", "replace")}


def faults_of(path: Path, texts: Mapping[Path, str]) -> tuple[Fault, ...]:
    known = analyse(path, texts) if kind_of(texts[path]) else None
    return known.faults if known else ()


def after_fixes(fault: Fault, path: Path, texts: dict[Path, str]) -> list[dict[Path, str]]:
    """Return the texts after each fix."""
    found = []
    for fix in fault.fixes:
        changes = changes_of(fix, fault, path, texts, lambda each: each.is_relative_to(BAD))
        assert changes, (fault, fix)
        new = dict(texts)
        for file, change in changes.items():
            text = text_of(file, texts) or ""
            new[file] = text[: change.span[0]] + change.text + text[change.span[1] :]
        found.append(new)
    return found


def comments(text: str) -> list[str]:
    return re.findall(r"(?:^|\s)#[^\n\a]*", text)


@pytest.mark.slow
def test_every_remedy_that_is_an_edit_is_a_fix() -> None:
    without = set()
    for name in CHIPS:
        path, texts = BAD / name, read(name)
        for fault in faults_of(path, texts):
            if not after_fixes(fault, path, texts):
                without.add((name, fault.code))
    assert without == NO_EDIT.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", CHIPS)
def test_every_fix_makes_its_fault_go(name: str) -> None:
    path, texts = BAD / name, read(name)
    for fault in faults_of(path, texts):
        for new in after_fixes(fault, path, texts):
            left = [(each.code, each.message) for each in faults_of(path, new)]
            assert (fault.code, fault.message) not in left, new
            for file, text in new.items():
                assert comments(text) == comments(text_of(file, texts) or "")
