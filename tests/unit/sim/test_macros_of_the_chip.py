# SPDX-License-Identifier: Apache-2.0
"""Macros hold for the RTL of the whole chip, whichever description names them."""

from pathlib import Path

from atoll.resolve import load_soc
from atoll_sim.chip.file_list import read_list
from atoll_sim.chip.sources import included_files, macro_faults

CHIP = """
soc: two_engines
version: 1
devices:
  cpu: {kind: cpu, isa: rv32imc, stack: {memory: sram, size: 1 KiB}}
  one: {kind: npu, accelerator: ./one.yaml, registers: 0x4000_0000, irq: 3}
  two: {kind: npu, accelerator: ./two.yaml, registers: 0x4000_1000, irq: 4}
memories:
  flash: {origin: 0x0000_0000, size: 64 KiB, kind: rom}
  sram: {origin: 0x2000_0000, size: 64 KiB, kind: ram}
pools:
  weights: {memory: flash, role: constants, reach: {cpu: ro, one: ro, two: ro}}
  shared: {memory: sram, role: workspace, reach: {cpu: rw, one: rw, two: rw}}
host: cpu
"""
ENGINE = """
accelerator: NAME
version: 1
operators: {ADD: {}}
rtl: {module: NAME, sources: [./NAME.sv], defines: {LANES: COUNT, OWN_NAME: 1}}
"""


def macros(folder: Path, *lanes: int) -> list[str]:
    """Return what is said of the macros of two engines."""
    (folder / "chip.yaml").write_text(CHIP)
    for name, count in zip(("one", "two"), lanes, strict=True):
        text = ENGINE.replace("NAME", name, 2).replace("NAME", name, 1).replace("COUNT", str(count))
        (folder / f"{name}.yaml").write_text(text)
    return [
        f"{fault.code}: {fault.message}" for fault in macro_faults(load_soc(folder / "chip.yaml"))
    ]


def test_two_values_of_a_macro_are_refused(tmp_path: Path) -> None:
    assert macros(tmp_path, 8, 8) == []
    (said,) = macros(tmp_path, 8, 16)
    assert said.startswith("E256: macro 'LANES' is '8' for accelerator 'one' and '16' for")


def test_what_is_included_is_found_from_file_to_file(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "top.v").write_text('`include "beside.vh"\n// `include "no.vh"\n')
    (tmp_path / "beside.vh").write_text('  `include "deep.vh"\n')
    (tmp_path / "inc" / "deep.vh").write_text('`include "beside.vh"\n')
    (tmp_path / "no.vh").write_text("")
    found = included_files([tmp_path / "top.v"], [tmp_path / "inc"])
    assert [path.name for path in found] == ["beside.vh", "deep.vh"]


def test_lists_of_words_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "all.f").write_text("list more.f  # others\nfile rtl/one.v\ninclude rtl\n")
    (tmp_path / "more.f").write_text("rtl/two.v\n")
    found = read_list(tmp_path / "all.f")
    assert [path.name for path in found.sources] == ["two.v", "one.v"]
    assert [*found.includes] == [tmp_path / "rtl"]
