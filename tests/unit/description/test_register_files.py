# SPDX-License-Identifier: Apache-2.0
"""Registers in SystemRDL are those of the YAML; what is wrong with a file is one error."""

import re
from pathlib import Path

import pytest

from atoll.description.accelerator_files import load_accelerator
from atoll.diagnostics.errors import DescriptionError

PLOVER = Path(__file__).parents[3] / "examples" / "10_vector_engine" / "plover.yaml"
REGISTERS = re.compile(r"^registers:\n(?:  .*\n)+", re.M)


def rdl() -> str:
    """Return the registers of the vector engine in SystemRDL."""
    offsets = load_accelerator(PLOVER, None).model.registers.map
    lines = [
        f"  reg {{ field {{ sw = rw; hw = r; }} VALUE[31:0]; }} {name.lower()} @ {offset:#x};"
        for name, offset in offsets.items()
    ]
    return "\n".join(["addrmap plover_registers {", *lines, "};", ""])


def written(folder: Path, text: str, before: str = "", more: str = "") -> Path:
    """Write the vector engine with its registers in SystemRDL; `before` becomes `more`."""
    (folder / "mine.rdl").write_text(text)
    yaml = REGISTERS.sub("systemrdl: ./mine.rdl\n", PLOVER.read_text())
    assert "systemrdl" in yaml
    assert before in yaml
    path = folder / "plover.yaml"
    path.write_text(yaml.replace(before, more, 1) if before else yaml)
    return path


def test_the_registers_are_the_same(tmp_path: Path) -> None:
    made = load_accelerator(written(tmp_path, rdl()), None).model.registers
    assert dict(made.map) == dict(load_accelerator(PLOVER, None).model.registers.map)
    assert made.size == 0x10C


def test_names_are_paths(tmp_path: Path) -> None:
    text = rdl()
    inner = "  regfile { reg { field {} VALUE[31:0]; } start[2]; } dma @ 0x200;\n};\n"
    made = load_accelerator(written(tmp_path, text[: text.rindex("};")] + inner), None).model
    assert made.registers.map["DMA_START0"] == 0x200
    assert made.registers.map["DMA_START1"] == 0x204


MISTAKES = {
    "no SystemRDL": ("reg {", "rag {", "", "", "E148", r"mine.rdl:\d+:\d+"),
    "a register of no word": ("VALUE[31:0]; } id", "VALUE[15:0]; regwidth = 16; } id", "", "",
                              "E148", "16 bits"),
    "no registers": (None, "addrmap empty {};", "", "", "E148", "is refused as SystemRDL"),
    "no file": ("", "", "mine.rdl", "other.rdl", "E148", "no such file"),
    "both": ("", "", "systemrdl:", "registers: {size: 4, map: {ID: 0}}\nsystemrdl:", "E148",
             "remove 'registers'"),
    "an unknown register": ("mode", "mood", "", "", "E161", "MOOD|MODE"),
}  # fmt: skip
"""What is in the file, what is written instead, the same of the YAML, and what is said."""


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_error(name: str, tmp_path: Path) -> None:
    right, wrong, before, more, code, told = MISTAKES[name]
    text = wrong if right is None else rdl().replace(right, wrong, 1) if right else rdl()
    with pytest.raises(DescriptionError) as caught:
        load_accelerator(written(tmp_path, text, before, more), None)
    assert {fault.code for fault in caught.value.faults} == {code}
    assert re.search(told, str(caught.value)), str(caught.value)
    assert all(fault.remedy for fault in caught.value.faults)
