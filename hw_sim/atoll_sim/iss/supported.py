# SPDX-License-Identifier: Apache-2.0
"""Which chips an instruction-set simulation runs; none of it loads Unicorn."""

from collections.abc import Iterator

from atoll.bsp.core_images import image_cores
from atoll.diagnostics.errors import Fault, SimulationError
from atoll.isa.instruction_set import Family, Vectors
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_sim.host.memory import PAGE

_THUMB = {
    "armv6-m": "M0",
    "armv7-m": "M3",
    "armv7e-m": "M4",
    "armv8-m.base": "M33",
    "armv8-m.main": "M33",
}
"""Unicorn's core of each architecture; it has none of Armv8.1-M."""


def unicorn_core(cpu: Cpu) -> str:
    """Return Unicorn's name of a core that runs Thumb; "" if it has none.

    Its mode for microcontrollers is not used: every core is a Cortex-M33 in it.
    """
    if cpu.isa.startswith("armv7e-m") and (cpu.spec.name == "cortex_m7" or "+fp.dp" in cpu.isa):
        return "M7"
    return _THUMB.get(cpu.isa.partition("+")[0], "")


def check_chip(soc: ResolvedSoc) -> None:
    """Refuse a chip that no simulator here runs.

    Raises:
        SimulationError: E102.
    """
    faults = [*_core_faults(soc), *_memory_faults(soc)]
    if faults:
        raise SimulationError.all(faults)


def _core_faults(soc: ResolvedSoc) -> Iterator[Fault]:
    for cpu in image_cores(soc):
        why, remedy = _why_not(cpu)
        if why:
            message = f"no instruction-set simulator runs core '{cpu.name}': {why}"
            yield Fault(code="E102", message=message, at=cpu.at, remedy=remedy)


def _why_not(cpu: Cpu) -> tuple[str, str]:
    """Return why a core cannot run, and what helps; "" if it can."""
    family, remedy = cpu.instructions.family, "use --cpu native, or another core"
    if cpu.spec.rtl_module:
        remedy = "use --cpu rtl"
    if cpu.instructions.vectors is Vectors.RVV:
        remedy = "use --cpu qemu" if not cpu.spec.rtl_module else remedy
        return f"'{cpu.isa}' has vectors, which Unicorn does not run", remedy
    extensions = [each for each in cpu.isa.split("_")[1:] if each.startswith("zb")]
    if extensions:
        return f"'{cpu.isa}' has {', '.join(extensions)}, which Unicorn does not run", remedy
    runs = family is Family.RISCV and cpu.isa[4] in "ig"
    if not runs and not (family is Family.THUMB and unicorn_core(cpu)):
        return f"Unicorn has no core that runs '{cpu.isa}'", remedy
    if cpu.spec.controller is None:
        return (
            f"core '{cpu.spec.name}' does not say what its interrupt controller is",
            f"give the core's YAML interrupts: {{controller: ...}}, or {remedy}",
        )
    if (family is Family.THUMB) != (cpu.spec.controller == "nvic"):
        return (
            f"its interrupt controller '{cpu.spec.controller}' is none of '{cpu.isa}'",
            "correct 'controller' of the core's interrupts",
        )
    if cpu.cache and not cpu.cache.maintenance and cpu.spec.controller == "picorv32":
        return "its PicoRV32 has no instructions that maintain a data cache", remedy
    if family is Family.THUMB and not cpu.spec.traps:
        return "a Cortex-M does not ignore failed accesses", "write 'bus_errors: traps'"
    return "", ""


def _memory_faults(soc: ResolvedSoc) -> Iterator[Fault]:
    for memory in soc.memories:
        if memory.origin % PAGE:
            yield Fault(
                code="E102",
                message=f"no instruction-set simulator has memory '{memory.name}': its origin"
                f" {memory.origin:#010x} is not a multiple of {PAGE} bytes",
                at=memory.at,
                remedy="change 'origin' of the memory, or use --cpu rtl",
            )
