# SPDX-License-Identifier: Apache-2.0
"""Which of the systems around Unicorn's instructions a core has, by its interrupt controller."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from atoll.resolve.soc import Cpu
from atoll_sim.iss.cache_control import CacheControl
from atoll_sim.iss.cortex_faults import Words
from atoll_sim.iss.cortex_m import CortexSystem
from atoll_sim.iss.devices import CoreLocal
from atoll_sim.iss.mpu import Mpu
from atoll_sim.iss.picorv32 import PicoSystem
from atoll_sim.iss.pmp import Pmp
from atoll_sim.iss.riscv import Lines, Registers, RiscvSystem
from atoll_sim.iss.rules import Rules

System = RiscvSystem | PicoSystem | CortexSystem

FIRST_BITS = {"fast": 14, "vexriscv": None}
"""Bit of `mip` of a core's line 0; see `RiscvSystem`."""


def system_of(
    cpu: Cpu,
    registers: Registers,
    words: Words,
    lines: Lines,
    local: CoreLocal,
    cache: CacheControl,
    rules: Rules,
    send: Callable[[], None],
) -> System:
    """Return the system of a core.

    Args:
        cpu: its description.
        registers: those that Unicorn has.
        words: memory as the core sees it.
        lines: its interrupt lines.
        local: the timer of a core-local interruptor, for RISC-V cores other than PicoRV32.
        cache: its data cache.
        rules: what it traps on.
        send: sends an event to all cores.
    """
    controller = cpu.spec.controller or ""
    if controller == "nvic":
        mpu = Mpu(cpu.spec.protection, rules)
        return CortexSystem(registers, words, cpu.boot.origin, lines, cache, rules, mpu, send)
    if controller == "picorv32":
        return PicoSystem(registers, lines, cpu.reset_address)
    bits = cpu.instructions.bits
    pmp, first = Pmp(cpu.spec.protection, bits, rules), FIRST_BITS[controller]
    return RiscvSystem(registers, lines, lambda: local.due, first, cache, rules, pmp, bits)


def system_addresses(system: System, texts: Iterable[tuple[range, bytes]]) -> Iterator[int]:
    """Yield where instructions may lie that Unicorn must not run; `texts` are spans of code."""
    for span, data in texts:
        for index in np.flatnonzero(system.system_words(words_at_halves(data))):
            yield span.start + 2 * int(index)


def words_at_halves(data: bytes) -> NDArray[np.uint32]:
    """Return the 32 bits from each half word on, as instructions may lie."""
    halves = np.frombuffer(data[: len(data) & ~1], "<u2").astype(np.uint32)
    return (halves | np.append(halves[1:], 0) << 16).astype(np.uint32)
