"""Which of the systems around Unicorn's instructions a core has, by its interrupt controller."""

from atoll.resolve.soc import Cpu
from atoll_sim.iss.cortex_m import CortexSystem
from atoll_sim.iss.devices import CoreLocal
from atoll_sim.iss.picorv32 import PicoSystem
from atoll_sim.iss.riscv import Lines, Maintain, Registers, RiscvSystem

System = RiscvSystem | PicoSystem | CortexSystem

FIRST_BITS = {"fast": 14, "vexriscv": None}
"""Bit of `mip` of a core's line 0; see `RiscvSystem`."""


def system_of(
    cpu: Cpu, registers: Registers, lines: Lines, local: CoreLocal, maintain: Maintain
) -> System:
    """Return the system of a core.

    Args:
        cpu: its description.
        registers: those that Unicorn has.
        lines: its interrupt lines.
        local: the timer of a core-local interruptor, for RISC-V cores other than PicoRV32.
        maintain: cleans or invalidates a line of its data cache.
    """
    controller = cpu.spec.controller or ""
    if controller == "nvic":
        return CortexSystem(lines, maintain)
    if controller == "picorv32":
        return PicoSystem(registers, lines, cpu.reset_address)
    bits = cpu.instructions.bits
    return RiscvSystem(registers, lines, lambda: local.due, FIRST_BITS[controller], maintain, bits)
