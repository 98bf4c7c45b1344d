# SPDX-License-Identifier: Apache-2.0
"""Where code lives if nobody says so: in the largest ROM, never silently in a small boot ROM."""

from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.resolve import load_soc
from atoll.resolve.explain import explain

CHIP = """
soc: chip
version: 1
devices:
  cpu: {kind: cpu, isa: rv32imc, stack: {memory: sram, size: 8 KiB}}
memories:
  boot: {origin: 0x0000_0000, size: 32 KiB, kind: rom}
  sram: {origin: 0x2000_0000, size: 256 KiB, kind: ram}
FLASH
pools:
  weights: {memory: sram, role: constants, size: 64 KiB, reach: {cpu: rw}}
  shared: {memory: sram, role: workspace, reach: {cpu: rw}}
"""
FLASH = "  flash: {origin: 0x1000_0000, size: 2 MiB, kind: rom}"


@pytest.fixture
def chip(tmp_path: Path) -> Callable[[str], Path]:
    def write(memories: str) -> Path:
        (tmp_path / "chip.yaml").write_text(CHIP.replace("FLASH", memories))
        return tmp_path / "chip.yaml"

    return write


@pytest.mark.parametrize(
    ("memories", "memory", "why"),
    [
        (FLASH, "flash", "the largest rom"),
        ("", "sram", "the memory of the stack, because the largest rom 'boot' has only 32 KiB"),
        (FLASH.replace("2 MiB", "48 KiB"), "sram", "because the largest rom 'flash' has only"),
    ],
)
def test_code_is_where_there_is_room(
    chip: Callable[[str], Path], memories: str, memory: str, why: str
) -> None:
    soc = load_soc(chip(memories))
    assert soc.host_cpu.code.memory == memory
    assert why in soc.layers["devices.cpu.code.memory"]


def test_explain_shows_the_memory_of_code_and_why(chip: Callable[[str], Path]) -> None:
    layers = next(table for table in explain(load_soc(chip(FLASH))) if table.key == "layers")
    assert ("devices.cpu.code.memory", "derived: flash, the largest rom") in layers.rows


def test_a_memory_that_is_named_is_taken(chip: Callable[[str], Path]) -> None:
    soc = load_soc(chip(FLASH), ["devices.cpu.code.memory=boot"])
    assert soc.host_cpu.code.memory == "boot"
