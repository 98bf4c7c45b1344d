# SPDX-License-Identifier: Apache-2.0
"""Accelerators that a native host drives are held to the rules of ports, programs among them."""

import ctypes
from pathlib import Path

import pytest

from atoll.resolve import load_soc
from atoll_sim.shadow.device_rows import known_registers
from atoll_sim.shadow.memory import HostShadow, shadow_library
from atoll_sim.shadow.table import ports_table
from atoll_sim.trace.findings import name_findings

EXAMPLES = Path(__file__).parents[3] / "examples"
LOOM = EXAMPLES / "11_systolic_array" / "chip.yaml"
PLOVER = EXAMPLES / "10_vector_engine" / "chip.yaml"
BUSY, DONE, FAILED, REFUSED = 1, 2, 4, 16


class Watched:
    """An accelerator of a chip after reset, of which no network is known."""

    def __init__(self, chip: Path | str, name: str) -> None:
        self.soc = load_soc(chip)
        self.table = ports_table(self.soc)
        self.shadow = HostShadow()
        assert self.shadow.load(self.table.words)
        engine = next(each for each in self.soc.engines if each.name == name)
        self.registers = engine.spec.registers
        self.master = self.table.masters.index(name)
        self.library = ctypes.CDLL(str(shadow_library()))
        self.library.atoll_devices_new.restype = ctypes.c_void_p
        self.watch = ctypes.c_void_p(self.library.atoll_devices_new(self.shadow._handle))
        self.library.atoll_devices_reset(self.watch, ctypes.c_uint64(1), self.master)

    def read(self, register: str, value: int, *, failed: bool = False) -> None:
        """Read `value` from a register."""
        words = (self.master, 0, self.registers[register], value, int(failed), 0, 0)
        self.library.atoll_devices_answered(self.watch, ctypes.c_uint64(10), *words)

    def write(self, register: str, value: int) -> None:
        """Write a register."""
        words = (self.master, self.registers[register], value)
        self.library.atoll_devices_wrote(self.watch, ctypes.c_uint64(5), *words)

    @property
    def said(self) -> list[str]:
        """Return the first line of each finding."""
        found = name_findings(self.shadow.findings()[0], self.table, self.soc)
        return [str(each.violation).splitlines()[0] for each in found]


@pytest.mark.parametrize("wrong", [BUSY, FAILED, REFUSED, BUSY | DONE])
def test_a5_what_programs_wait_for_and_look_at_begins_with_zeros(wrong: int) -> None:
    loom = Watched(LOOM, "loom")
    loom.read("STATUS", DONE)
    assert loom.said == [], "no step of the program reads that bit"
    loom.read("STATUS", wrong)
    (said,) = loom.said
    assert said.startswith("wrong value after reset (A5): device loom")
    assert f"STATUS of loom reads {wrong:#x}" in said


def test_a5_after_a_start_those_bits_may_be_set() -> None:
    loom = Watched(LOOM, "loom")
    loom.write("IMAGE", 0x2000_0000)
    loom.read("STATUS", FAILED)
    assert loom.said == []


def test_a5_windows_that_the_driver_reads_are_answered() -> None:
    plover = Watched(PLOVER, "vector")
    plover.read("OUT", 0, failed=True)
    (said,) = plover.said
    assert "answers a read of OUT with an error" in said


def test_a5_lists_have_no_interrupt_after_reset() -> None:
    lagoon = Watched("lagoon", "npu")
    lagoon.read("IRQ_STATUS", 1)
    (said,) = lagoon.said
    assert "IRQ_STATUS of npu reads 0x1 before anything was started" in said


def test_a5_all_that_is_known_after_reset_is_read() -> None:
    (npu,) = load_soc("lagoon").engines
    names = {npu.registers.origin + at: name for name, at in npu.spec.registers.items()}
    looked = [names[at] for at in known_registers(npu)]
    assert sorted(looked) == ["ID", "IRQ_STATUS", "PARAMS", "STATUS", "WEIGHT_ROWS"]
