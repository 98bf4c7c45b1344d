# SPDX-License-Identifier: Apache-2.0
"""The ports of an accelerator, driven by hand, for the rules that it is held to."""

import ctypes

from tests.unit.sim.shadow_bench import BEGUN, CHIP, NPU_A, RUN_BEGUN, Bench

from atoll.resolve.soc import ResolvedSoc
from atoll_sim.shadow.memory import shadow_library


class Ports:
    """An accelerator's registers, interrupt and ports to memory; each call is ten cycles more."""

    def __init__(self, chip: ResolvedSoc = CHIP, master: int = NPU_A, name: str = "npu_a") -> None:
        self.bench = Bench(chip=chip)
        self.name, self.master, self.cycle = name, master, 1000
        engine = next(each for each in chip.engines if each.name == name)
        self.registers = engine.spec.registers
        library = ctypes.CDLL(str(shadow_library()))
        library.atoll_devices_new.restype = ctypes.c_void_p
        self._library = library
        self._watch = ctypes.c_void_p(library.atoll_devices_new(self.bench.shadow._handle))
        self.bench.shadow.trace(RUN_BEGUN)
        self.bench.shadow.trace(BEGUN)
        self.call("reset")

    def call(self, what: str, *words: int) -> bool:
        """Tell what happens at the ports; True if the accelerator may work then."""
        self.cycle += 10
        function = getattr(self._library, f"atoll_devices_{what}")
        cycle = ctypes.c_uint64(self.cycle)
        return bool(function(self._watch, cycle, self.master, *words))

    def write(self, register: str, value: int, *, failed: bool = False) -> bool:
        """Write a register."""
        offset = self.registers[register]
        working = self.call("wrote", offset, value)
        self.call("answered", 1, offset, value, int(failed), 0, 0)
        return working

    def read(
        self, register: str, value: int, unanswered: int = 0, held: int = 0, *, failed: bool = False
    ) -> bool:
        """Read `value` from a register."""
        words = (0, self.registers[register], value, int(failed), unanswered, held)
        return self.call("answered", *words)

    def line(self, high: int, unanswered: int = 0, held: int = 0) -> bool:
        """The interrupt changes."""
        return self.call("line", high, unanswered, held)

    def wait(self, cycles: int) -> None:
        """Let time go by until the firmware tells something."""
        self.cycle += cycles
        self.call("look")

    @property
    def found(self) -> list[tuple[str, str]]:
        """Number and name of each rule that was broken."""
        return [(each.number, each.rule) for each in self.bench.found()]

    @property
    def said(self) -> str:
        """What is said of what was found."""
        return "\n".join(map(str, self.bench.found()))
