# SPDX-License-Identifier: Apache-2.0
"""Which chips a machine of QEMU can be."""

import shutil
from collections.abc import Iterator

from atoll.diagnostics.errors import Fault, SimulationError, ToolchainError
from atoll.isa.instruction_set import Family
from atoll.resolve.soc import Master, ResolvedSoc
from atoll_sim.qemu.probe import faults_of

PROGRAMS = (
    "qemu-system-arm",
    "qemu-system-aarch64",
    "qemu-system-riscv32",
    "qemu-system-riscv64",
)
_MACHINES = {
    "cortex_m3": "mps2-an385",
    "cortex_m4": "mps2-an386",
    "cortex_m7": "mps2-an500",
    "cortex_m23": "mps2-an505",
    "cortex_m33": "mps2-an505",
    "cortex_m52": "mps3-an547",
    "cortex_m55": "mps3-an547",
    "cortex_m85": "mps3-an547",
    "cortex_a53": "xlnx-zcu102",
}
"""A machine with the core, or one that has its instructions; those of RISC-V have any of the width.
"""

INSTALL = "install QEMU's system emulators, of Debian: qemu-system-arm, qemu-system-misc"


def program_of(soc: ResolvedSoc) -> str:
    """Return the program that has the host's instruction set; "" if there is none."""
    instructions = soc.host_cpu.instructions
    if instructions.family is Family.THUMB:
        return PROGRAMS[0]
    if instructions.family is Family.AARCH64:
        return PROGRAMS[1]
    if instructions.family is Family.RISCV:
        return f"qemu-system-riscv{instructions.bits}"
    return ""


def check_chip(soc: ResolvedSoc) -> None:
    """Refuse a chip that no machine of QEMU can be, and a machine that lacks QEMU.

    Raises:
        SimulationError: E103.
        ToolchainError: E070.
    """
    if faults := tuple(_faults(soc)):
        raise SimulationError.all(faults)
    program = program_of(soc)
    if shutil.which(program) is None:
        raise ToolchainError(
            "E070", f"--cpu qemu needs '{program}', which is not on the PATH", remedy=INSTALL
        )
    if faults := tuple(faults_of(soc, program)):
        raise SimulationError.all(faults)


def _faults(soc: ResolvedSoc) -> Iterator[Fault]:
    host, program = soc.host_cpu, program_of(soc)
    if not program:
        yield Fault(
            code="E103",
            message=f"no firmware for '{host.isa}' of '{soc.host}' runs on QEMU",
            at=host.at,
            remedy="use --cpu native",
        )
        return
    if host.unit:
        yield Fault(
            code="E103",
            message=f"no machine of QEMU has the function unit '{host.unit.name}' of '{soc.host}'",
            at=host.at,
            remedy="use --cpu rtl or --cpu iss",
        )
    if host.cache and host.cache.maintenance:
        yield Fault(
            code="E103",
            message="no machine of QEMU has the registers that maintain the data cache of"
            f" '{soc.host}'",
            at=host.at,
            remedy="use --cpu iss",
        )
    others = [d for d in soc.devices if d.name != soc.host and not isinstance(d, Master)]
    for device in others:
        yield Fault(
            code="E103",
            message=f"no machine of QEMU has '{device.name}': it runs one core alone",
            at=device.at,
            remedy="use --cpu rtl or --cpu iss, or a chip of one core",
        )
    if not others and not soc.qemu_machine:
        has_any = host.instructions.family is Family.RISCV
        example = "virt" if has_any else _MACHINES.get(host.spec.name, "")
        write = f"write 'qemu: {{machine: {example}}}' into the chip, for example"
        yield Fault(
            code="E103",
            message=f"chip '{soc.name}' does not say which machine of QEMU it is",
            at=host.at,
            remedy=write
            if example
            else f"use --cpu iss; no machine with a {host.spec.name} is known",
        )
