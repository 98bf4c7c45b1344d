# SPDX-License-Identifier: Apache-2.0
"""What files call an alias is one in the description, and what could be one is a question."""

from pathlib import Path

import pytest
from tests.unit.importing.reading import chip, imported

from atoll.description.undecided import UNDECIDED

HEAD = """<?xml version="1.0" encoding="utf-8"?>
<package schemaVersion="1.7.0"><devices><family Dfamily="Terns" Dvendor="Nobody:1">
<processor Dcore="Cortex-M4" Dfpu="SP_FPU" Dmpu="MPU"/>
"""
MEMORY = '<memory name="{}" access="{}" start="{:#x}" size="0x8000" {}/>'


def pdsc(*memories: tuple[str, str, int, str]) -> str:
    lines = "\n".join(MEMORY.format(*memory) for memory in memories)
    return f'{HEAD}<device Dname="D">{lines}</device></family></devices></package>\n'


def aliases(tmp_path: Path, *memories: tuple[str, str, int, str]) -> dict[str, str]:
    found = chip(imported(tmp_path, {"tern.pdsc": pdsc(*memories)}))
    named = {
        name: each["alias_of"] for name, each in found["memories"].items() if "alias_of" in each
    }
    assert found["pools"].keys() == found["memories"].keys() - named.keys()
    return named


@pytest.mark.parametrize("back", ["", 'alias="RAM_NS"'])
def test_a_pack_says_which_memory_has_the_bytes(tmp_path: Path, back: str) -> None:
    both = ("RAM_S", "rwx", 0x3000_0000, back), ("RAM_NS", "rwx", 0x2000_0000, 'alias="RAM_S"')
    assert aliases(tmp_path, *both) == ({"ram_s": "ram_ns"} if back else {"ram_ns": "ram_s"})


def test_an_alias_of_an_alias_is_one_of_the_memory(tmp_path: Path) -> None:
    rows = (
        ("C", "rx", 0x1000_0000, 'alias="B"'),
        ("B", "rx", 0x0800_0000, 'alias="A"'),
        ("A", "rx", 0x0000_0000, ""),
    )
    assert aliases(tmp_path, *rows) == {"c": "a", "b": "a"}


def test_an_alias_of_nothing_is_a_question(tmp_path: Path) -> None:
    rows = ("A", "rx", 0, ""), ("B", "rwx", 0x2000_0000, 'alias="GONE"')
    assert aliases(tmp_path, *rows) == {"b": UNDECIDED}


def test_an_alias_of_itself_is_a_question(tmp_path: Path) -> None:
    """So is what is an alias of such a one."""
    rows = ("A", "rwx", 0x2000_0000, 'alias="A"'), ("B", "rwx", 0x3000_0000, 'alias="A"')
    assert aliases(tmp_path, ("F", "rx", 0, ""), *rows) == {"a": UNDECIDED, "b": UNDECIDED}


def test_memories_of_one_name_and_size_are_a_question(tmp_path: Path) -> None:
    rows = ("R", "rwx", 0x3000_0000, ""), ("R", "rw", 0x2000_0000, "")
    assert aliases(tmp_path, *rows) == {"r_2": UNDECIDED}
    found = imported(tmp_path, {"tern.pdsc": pdsc(*rows)})
    assert chip(found)["memories"]["r_2"]["origin"] == 0x3000_0000
    assert [each.example for each in found.questions if each.key[-1] == "alias_of"] == ["r"]


@pytest.mark.parametrize(("one", "two"), [("RAM_S", "RAM_NS"), ("SRAM_CODE", "SRAM_SYS")])
def test_twins_are_a_question(tmp_path: Path, one: str, two: str) -> None:
    rows = (one, "rwx", 0x2000_0000, ""), (two, "rwx", 0x3000_0000, "")
    assert aliases(tmp_path, *rows) == {two.lower(): UNDECIDED}


@pytest.mark.parametrize(("kind", "answer"), [("rwx", "ram_s"), ("rx", "none")])
def test_the_example_is_a_memory_that_could_have_the_bytes(
    tmp_path: Path, kind: str, answer: str
) -> None:
    rows = ("RAM_S", "rwx", 0x3000_0000, ""), ("B", kind, 0x2000_0000, 'alias="GONE"')
    found = imported(tmp_path, {"tern.pdsc": pdsc(*rows)})
    (asked,) = (each for each in found.questions if each.key[-1] == "alias_of")
    assert asked.example == answer
