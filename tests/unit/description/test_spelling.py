# SPDX-License-Identifier: Apache-2.0
"""D1: what people read has names as the chip's files write them."""

from pathlib import Path

import pytest

from atoll.description.spelling import speller, spellings


def test_d1_layers_agree_on_a_spelling_or_the_identifier_stays(tmp_path: Path) -> None:
    """A thread and a name of the base count; a name written in two ways is not shown in one."""
    (tmp_path / "base.yaml").write_text(
        "devices: {a-b: {stack: {threads: {net.0: 1 KiB}}}, plain: {}}\nmemories: {x.y: {}}\n"
    )
    (tmp_path / "chip.yaml").write_text("extends: base.yaml\nmemories: {x-y: {}}\n")
    assert spellings(tmp_path / "chip.yaml") == {"a_b": "a-b", "net_0": "net.0"}


@pytest.mark.parametrize("text", ["soc: [", "extends: absent.yaml", "extends: chip.yaml"])
def test_a_file_that_cannot_be_read_spells_nothing(text: str, tmp_path: Path) -> None:
    chip = tmp_path / "chip.yaml"
    chip.write_text(text)
    assert spellings(chip) == {}
    assert spellings(tmp_path / "absent.yaml") == {}


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("'a_b' and 'devices.a_b.stack'", "'a-b' and 'devices.a-b.stack'"),
        ("write --set devices.a_b.x=1", "write --set devices.a_b.x=1"),
        ("out/a_b.elf, a_b/main.c and a_b.ld", "out/a_b.elf, a_b/main.c and a_b.ld"),
        ("a_bc, ca_b and a_b_c", "a_bc, ca_b and a_b_c"),
        ("operator 'a_b', tensor 'a_b' on 'a_b'", "operator 'a_b', tensor 'a_b' on 'a-b'"),
    ],
)
def test_d1_only_names_of_the_chip_are_spelled(text: str, spelled: str) -> None:
    assert speller({"a_b": "a-b"})(text) == spelled
    assert speller({})(text) == text
