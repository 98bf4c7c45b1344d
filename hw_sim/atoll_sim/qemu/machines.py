# SPDX-License-Identifier: Apache-2.0
"""Machines of QEMU that run the code of a chip's host, and where they have memory."""

import re
from collections.abc import Sequence

from atoll.isa.instruction_set import Family, Vectors
from atoll.records import dataclass
from atoll.resolve.soc import Cpu


@dataclass(frozen=True, slots=True, kw_only=True)
class QemuMachine:
    """A machine of QEMU.

    Attributes:
        core: what runs there, for people.
        memories: addresses of different bytes, as the core sees them at reset. A Cortex-M looks for
            its vector table at the first of them.
    """

    name: str
    core: str
    memories: tuple[range, ...]


def _of_mps2(name: str, core: str, psram: int) -> QemuMachine:
    memories = (_span(0x0000_0000, 4), _span(0x2000_0000, 4), _span(psram, 16))
    return QemuMachine(name=name, core=core, memories=memories)


def _span(first: int, mebibytes: float) -> range:
    return range(first, first + int(mebibytes * 2**20))


_AN385 = _of_mps2("mps2-an385", "Cortex-M3", 0x2100_0000)
_AN505 = QemuMachine(
    name="mps2-an505",
    core="Cortex-M33",
    memories=(_span(0x1000_0000, 4), _span(0x3800_0000, 2), _span(0x3820_0000, 2)),
)
_AN547 = QemuMachine(
    name="mps3-an547",
    core="Cortex-M55",
    memories=(
        *(_span(0x0000_0000, 0.5), _span(0x1100_0000, 2), _span(0x3000_0000, 0.5)),
        *(_span(0x3100_0000, 2), _span(0x3120_0000, 2), _span(0x7000_0000, 256)),
    ),
)
_MACHINES = {
    "cortex_m0plus": _AN385,
    "cortex_m3": _AN385,
    "cortex_m4": _of_mps2("mps2-an386", "Cortex-M4", 0x2100_0000),
    "cortex_m7": _of_mps2("mps2-an500", "Cortex-M7", 0x6000_0000),
    "cortex_m23": _AN505,
    "cortex_m33": _AN505,
    "cortex_m52": _AN547,
    "cortex_m55": _AN547,
    "cortex_m85": _AN547,
    "cortex_a53": QemuMachine(
        name="xlnx-zcu102", core="Cortex-A53", memories=(_span(0x0010_0000, 112),)
    ),
}
"""A machine with the core, or one that has its instructions."""

_VIRT = QemuMachine(name="virt", core="RISC-V core", memories=(_span(0x8000_0000, 96),))
"""Has any instruction set of RISC-V of its width; its device tree lies behind the memory here."""


LEAST_LENGTH, MOST_LENGTH = 128, 1024
"""Bits of a vector register that QEMU's cores of RISC-V may have."""

_LENGTH = re.compile(r"_zvl([0-9]+)b")


def vector_length(host: Cpu) -> int:
    """Return the bits of a vector register: as many as the ISA says, and as QEMU has at least."""
    named = _LENGTH.search(host.isa)
    return max(LEAST_LENGTH, int(named[1]) if named else 0)


def core_options(host: Cpu) -> Sequence[str]:
    """Return QEMU's options for the core of a machine; none for the one that it has by itself.

    Elements are no longer than the ISA has them, so that code which has longer ones traps.
    """
    if host.instructions.vectors is not Vectors.RVV:
        return ()
    longest = 32 if "zve32x" in host.isa else 64
    parts = (
        f"rv{host.instructions.bits}",
        *("v=true", "vext_spec=v1.0", f"vlen={vector_length(host)}", f"elen={longest}"),
    )
    return ("-cpu", ",".join(parts))


def machine_for(host: Cpu) -> QemuMachine | None:
    """Return the machine that runs the code of a core; None if none is known."""
    if host.instructions.family is Family.RISCV:
        return _VIRT
    return _MACHINES.get(host.spec.name)
