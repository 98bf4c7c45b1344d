# SPDX-License-Identifier: Apache-2.0
"""Which cores Zephyr runs on, with which of their memories, and what its Kconfig calls them.

Source: Zephyr 4.1, ``arch/riscv/Kconfig.isa``, ``arch/arm/core/cortex_m/Kconfig`` and
``soc/common/riscv-privileged``.
"""

from collections.abc import Iterator

from atoll.isa.instruction_set import Family, Vectors
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Cpu, Region, ResolvedSoc
from atoll_board.cortex_m import has_floats, is_baseline, is_cortex_m, model

KIB = 1024
LEAST_RAM = 8 * KIB
"""Bytes of RAM in which a kernel with two threads and its interrupt stack has room for them."""

MACHINE_BITS = 32
"""Interrupts of a RISC-V core: the bits of ``mip``."""

_SINGLE_LETTERS = frozenset("mac")
_FLOATS = frozenset("fdg")
_MVE = "+mve"


def why_not(soc: ResolvedSoc, core: Cpu) -> str:
    """Return why Zephyr does not run on a core, as a clause; "" if it does."""
    name, controller = core.name, core.spec.controller
    if not is_cortex_m(core) and not (
        core.instructions.family is Family.RISCV and core.instructions.bits == MACHINE_BITS
    ):
        return f"boards are written for RV32 and Cortex-M, and '{name}' is {core.isa}"
    if not is_cortex_m(core) and set(_letters(core)) & _FLOATS:
        return (
            f"boards are written for RV32 without floating-point registers, and '{name}' has some"
        )
    if core.instructions.vectors is Vectors.RVV:
        return f"boards are written for RV32 without vector registers, and '{name}' has some"
    if controller is None:
        return f"core '{core.spec.name}' does not say what its interrupt controller is"
    if controller not in ("fast", "nvic"):
        return f"Zephyr has no driver for the interrupt controller '{controller}'"
    if controller == "fast" and core.spec.local is None:
        return f"core '{core.spec.name}' has no timer"
    if core.load:
        return f"nothing of Zephyr's start-up code copies the code of '{name}' ('loader: copy')"
    if core.is_held or any(each.is_held for each in soc.cpus if core.name == soc.host):
        return "its build has no image of one core in that of another ('loader: host')"
    _, size = ram_of(soc, core)
    if size < LEAST_RAM:
        need = f"Zephyr needs {LEAST_RAM} in one piece: raise devices.{name}.data.size"
        return f"{size} bytes are the most that data and stacks of '{name}' have, and {need}"
    return ""


def ram_of(soc: ResolvedSoc, core: Cpu) -> tuple[int, int]:
    """Return address and bytes of Zephyr's RAM, where the core sees it.

    It is the largest span of the core's data and stacks without a gap.
    """
    own = _as_seen(soc, core)
    spans: list[tuple[int, int]] = []
    for each in sorted((own.data, *own.stacks), key=lambda region: region.origin):
        if spans and sum(spans[-1]) == each.origin:
            spans[-1] = (spans[-1][0], spans[-1][1] + each.size)
        else:
            spans.append((each.origin, each.size))
    return max(spans, key=lambda span: span[1])


def code_of(soc: ResolvedSoc, core: Cpu) -> Region:
    """Return the region of instructions, where the core sees it."""
    return _as_seen(soc, core).code


def selects(core: Cpu) -> tuple[str, ...]:
    """Return the symbols of Kconfig that say what a core is."""
    return tuple(_arm(core) if is_cortex_m(core) else _riscv(core))


def settings(core: Cpu) -> tuple[str, ...]:
    """Return the lines of the board's ``_defconfig`` that a core needs."""
    lines = ["CONFIG_XIP=y", "CONFIG_BUILD_OUTPUT_BIN=n"]
    if core.hart:
        lines.append(f"CONFIG_RV_BOOT_HART={core.hart}")
    if has_vectors_or_floats(core):
        lines += ["CONFIG_FPU=y", "CONFIG_FPU_SHARING=y"]
        lines.append(f"CONFIG_FP_{'HARD' if has_floats(core) else 'SOFT'}ABI=y")
    return tuple(lines)


def has_vectors_or_floats(core: Cpu) -> bool:
    """Return whether a Cortex-M has the registers of floating-point numbers, for these or MVE."""
    return is_cortex_m(core) and (has_floats(core) or _MVE in core.isa)


def interrupts(core: Cpu) -> int:
    """Return how many interrupts a core has."""
    return core.spec.last_line + 1 if is_cortex_m(core) else MACHINE_BITS


def rom_start(core: Cpu) -> int:
    """Return the bytes from the begin of the code region to Zephyr's first instruction."""
    return 0 if is_cortex_m(core) else core.spec.reset_offset


def _as_seen(soc: ResolvedSoc, core: Cpu) -> Cpu:
    found = as_seen_by(soc, core.name).device(core.name)
    assert isinstance(found, Cpu), core.name
    return found


def _arm(core: Cpu) -> Iterator[str]:
    yield "ARM"
    yield f"CPU_CORTEX_{model(core).upper()}"
    yield "CPU_CORTEX_M_HAS_SYSTICK"
    if is_baseline(core):
        yield "CPU_CORTEX_M_HAS_VTOR"
    if has_vectors_or_floats(core):
        yield "CPU_HAS_FPU"
    if "fp.dp" in core.isa:
        yield "CPU_HAS_FPU_DOUBLE_PRECISION"
    if "+dsp" in core.isa or _MVE in core.isa:
        yield "ARMV8_M_DSP"
    if _MVE in core.isa:
        yield "ARMV8_1_M_MVEI"


def _letters(core: Cpu) -> str:
    return core.isa.removeprefix("rv32").partition("_")[0]


def _riscv(core: Cpu) -> Iterator[str]:
    base, extensions = _letters(core), core.isa.partition("_")[2]
    yield from ("RISCV", "RISCV_PRIVILEGED", "RISCV_VECTORED_MODE", "GEN_IRQ_VECTOR_TABLE")
    yield from ("RISCV_ISA_RV32I", "RISCV_ISA_EXT_ZICSR", "RISCV_ISA_EXT_ZIFENCEI")
    yield from (f"RISCV_ISA_EXT_{letter.upper()}" for letter in base if letter in _SINGLE_LETTERS)
    yield from (f"RISCV_ISA_EXT_{each.upper()}" for each in extensions.split("_") if each)
    yield "INCLUDE_RESET_VECTOR"
    if "a" not in base:
        yield "ATOMIC_OPERATIONS_C"
