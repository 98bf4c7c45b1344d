# SPDX-License-Identifier: Apache-2.0
"""Which chips a machine of QEMU can be, or run the code of."""

import shutil
from collections.abc import Iterator
from dataclasses import replace

from atoll.diagnostics.errors import Fault, SimulationError, ToolchainError
from atoll.isa.instruction_set import Family, Vectors
from atoll.resolve.soc import Master, ResolvedSoc
from atoll_sim.qemu.machines import MOST_LENGTH, machine_for, vector_length
from atoll_sim.qemu.probe import faults_of
from atoll_sim.qemu.relink import OTHERWISE, relinked_chip

PROGRAMS = (
    "qemu-system-arm",
    "qemu-system-aarch64",
    "qemu-system-riscv32",
    "qemu-system-riscv64",
)
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
    """Refuse a chip whose code no machine of QEMU runs, and a computer that lacks QEMU.

    Raises:
        SimulationError: E103.
        ToolchainError: E070.
    """
    if faults := tuple(_faults(soc)):
        raise SimulationError.all(faults)
    chip = soc if soc.qemu_machine else relinked_chip(soc, {})
    program = program_of(soc)
    if shutil.which(program) is None:
        raise ToolchainError(
            "E070", f"--cpu qemu needs '{program}', which is not on the PATH", remedy=INSTALL
        )
    faults = tuple(faults_of(chip, program))
    if faults and chip is not soc:
        faults = tuple(replace(fault, remedy=OTHERWISE) for fault in faults)
    if faults:
        raise SimulationError.all(faults)


def require_machine(soc: ResolvedSoc) -> None:
    """Refuse a chip that names no machine: images are linked for the chip's own addresses.

    Raises:
        SimulationError: E103.
    """
    if not soc.qemu_machine:
        machine = machine_for(soc.host_cpu)
        name = machine.name if machine else ""
        raise SimulationError(
            "E103",
            f"chip '{soc.name}' does not say which machine of QEMU it is, and the image is linked"
            " for the chip's own addresses",
            at=soc.host_cpu.at,
            remedy=f"use atoll run, which links the networks for '{name}', or --cpu iss; or write"
            f" 'qemu: {{machine: {name}}}' into a chip with the memories of that machine",
        )


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
            remedy=OTHERWISE,
        )
    if host.world == "non_secure":
        yield Fault(
            code="E103",
            message=f"'{soc.host}' runs in the non-secure world, and QEMU begins in the secure one,"
            " where somebody has to let it in",
            at=host.at,
            remedy="use --cpu iss, or start QEMU with a secure image of yours",
        )
    if host.instructions.vectors is Vectors.RVV and vector_length(host) > MOST_LENGTH:
        yield Fault(
            code="E103",
            message=f"QEMU has vector registers of at most {MOST_LENGTH} bits, and '{host.isa}' of"
            f" '{soc.host}' has longer ones",
            at=host.at,
            remedy="use --cpu native",
        )
    if host.cache and host.cache.maintenance:
        yield Fault(
            code="E103",
            message="no machine of QEMU has the registers that maintain the data cache of"
            f" '{soc.host}'",
            at=host.at,
            remedy="use --cpu iss",
        )
    if soc.qemu_machine:
        yield from _devices_beside(soc)
        return
    if machine_for(host) is None:
        yield Fault(
            code="E103",
            message=f"no machine of QEMU is known that runs the code of core '{host.spec.name}'"
            f" of '{soc.host}'",
            at=host.at,
            remedy="write 'qemu: {machine: NAME}' into the chip if there is one, or use --cpu iss",
        )
    if host.protected:
        yield Fault(
            code="E103",
            message=f"the start-up code of '{soc.host}' protects memory at the chip's own"
            f" addresses, and '{soc.name}' names no machine of QEMU",
            at=host.at,
            remedy=f"leave 'devices.{soc.host}.protection' out, or {OTHERWISE}",
        )


def _devices_beside(soc: ResolvedSoc) -> Iterator[Fault]:
    for device in soc.devices:
        if device.name != soc.host and not isinstance(device, Master):
            yield Fault(
                code="E103",
                message=f"no machine of QEMU has '{device.name}': it runs one core alone",
                at=device.at,
                remedy=f"{OTHERWISE}, or take a chip of one core",
            )
