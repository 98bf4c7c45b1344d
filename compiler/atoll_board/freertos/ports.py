# SPDX-License-Identifier: Apache-2.0
"""Which port of the FreeRTOS kernel a core has, and what its configuration asks for.

Source: FreeRTOS-Kernel 11.3, ``portable/GCC`` and "Running the RTOS on a ARM Cortex-M Core".
"""

from atoll.isa.instruction_set import Vectors
from atoll.records import dataclass
from atoll.resolve.soc import Cpu
from atoll_board.cortex_m import (
    architecture,
    has_floats,
    is_baseline,
    is_cortex_m,
    priority_bits,
)

_RISCV = "RISC-V"
_CM3 = "ARM_CM3"
_MVE = "+mve"
_FLOAT_PORTS = {"cortex_m4": "ARM_CM4F", "cortex_m7": "ARM_CM7/r0p1"}
_V8_PORTS = {
    "armv8-m.base": "ARM_CM23_NTZ/non_secure",
    "armv8-m.main": "ARM_CM33_NTZ/non_secure",
    "armv8.1-m.main": "ARM_CM55_NTZ/non_secure",
}
_ASSEMBLY = ("ARM_CM0", *_V8_PORTS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A port of the kernel.

    Attributes:
        folder: below ``portable/GCC``.
        sources: its files, relative to the kernel's folder.
        includes: folders, likewise.
        settings: what the port's configuration has beside that of all, by name.
    """

    folder: str
    sources: tuple[str, ...]
    includes: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()


def why_not(core: Cpu) -> str:
    """Return why the kernel does not run on a core, as a clause; "" if it does."""
    if core.spec.controller is None:
        return f"core '{core.spec.name}' does not say what its interrupt controller is"
    if core.spec.controller not in ("fast", "nvic"):
        return f"nothing here serves the interrupt controller '{core.spec.controller}'"
    if core.spec.controller == "fast" and core.spec.local is None:
        return f"core '{core.spec.name}' has no timer"
    if core.instructions.vectors is Vectors.RVV:
        return f"its port saves no vector registers between tasks, and '{core.name}' has some"
    return ""


def port_of(core: Cpu) -> Port:
    """Return the port of a core on which the kernel runs."""
    folder = _folder(core) if is_cortex_m(core) else _RISCV
    path = f"portable/GCC/{folder}"
    if folder == _RISCV:
        extension = f"{path}/chip_specific_extensions/RISCV_MTIME_CLINT_no_extensions"
        sources = (f"{path}/port.c", f"{path}/portASM.S")
        return Port(folder=folder, sources=sources, includes=(path, extension))
    sources = (f"{path}/port.c", *((f"{path}/portasm.c",) if folder in _ASSEMBLY else ()))
    return Port(folder=folder, sources=sources, includes=(path,), settings=_settings(core))


def _folder(core: Cpu) -> str:
    match architecture(core):
        case "armv6-m":
            return "ARM_CM0"
        case version if version in _V8_PORTS:
            return _V8_PORTS[version]
        case _:
            return _FLOAT_PORTS.get(core.spec.name, _CM3) if has_floats(core) else _CM3


def _settings(core: Cpu) -> tuple[tuple[str, str], ...]:
    """Return priorities of interrupts, and what the ports of Armv8-M ask for."""
    if architecture(core) == "armv6-m":
        return (("configENABLE_MPU", "0"),)
    bits = priority_bits(core)
    most = 1 << 8 - bits
    found = (
        []
        if is_baseline(core)
        else [
            ("configPRIO_BITS", str(bits)),
            ("configKERNEL_INTERRUPT_PRIORITY", "255"),
            ("configMAX_SYSCALL_INTERRUPT_PRIORITY", str(most)),
        ]
    )
    if architecture(core).startswith("armv8"):
        vectors = _MVE in core.isa
        found += [
            ("configENABLE_MPU", "0"),
            ("configENABLE_TRUSTZONE", "0"),
            ("configRUN_FREERTOS_SECURE_ONLY", "1"),
            ("configENABLE_FPU", str(int(has_floats(core) or vectors))),
        ]
        found += [("configENABLE_MVE", str(int(vectors)))] if "8.1" in architecture(core) else []
    return tuple(found)
