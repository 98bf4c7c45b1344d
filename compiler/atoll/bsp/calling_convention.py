# SPDX-License-Identifier: Apache-2.0
"""Hold the calling convention of a compiled object against the core's, before anything is linked.

Linkers find some of it late and in words of their own, and GNU ld lets objects pass that say
nothing. What is read: `e_machine`, `e_ident` and RISC-V's `e_flags` (RISC-V ELF psABI, "File
Header"), and of 32-bit Arm `Tag_ABI_VFP_args` (Addenda to the ABI for the Arm Architecture, 3.3.6).
"""

from io import BytesIO

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import ARMAttributesSection

from atoll.diagnostics.errors import ToolchainError
from atoll.isa.instruction_set import Family
from atoll.resolve.soc import Cpu

MACHINES = {
    Family.RISCV: "EM_RISCV",
    Family.THUMB: "EM_ARM",
    Family.ARM: "EM_ARM",
    Family.AARCH64: "EM_AARCH64",
}
_RVE, RISCV_FLOATS = 0x8, {0x0: "", 0x2: "f", 0x4: "d", 0x6: "q"}
VFP_ARGS = {0: "aapcs", 1: "aapcs-vfp"}


def check_convention(code: bytes, source: str, core: Cpu) -> None:
    """Refuse an object that the rest of the core's firmware cannot call.

    Args:
        code: the object, an ELF file.
        source: what it was compiled from.
        core: that shall run it.

    Raises:
        ToolchainError: E124.
    """
    wanted = core.instructions
    machine = MACHINES.get(wanted.family)
    if machine is None:
        return
    try:
        elf = ELFFile(BytesIO(code))
        found, bits = str(elf["e_machine"]), elf.elfclass
        abi = _abi(elf, spoken=not source.endswith(".S"))
    except ELFError as fault:
        raise _refusal(source, core, "is no ELF file") from fault
    if (found, bits) != (machine, wanted.bits):
        raise _refusal(source, core, f"is machine code of {found}, {bits} bits")
    if abi not in (None, wanted.abi):
        raise _refusal(source, core, f"has the calling convention {abi}")


def riscv_abi(flags: int, bits: int) -> str:
    """Return the calling convention that `e_flags` of a RISC-V file of so many bits have."""
    if flags & _RVE:
        return "ilp32e"
    return f"{'ilp32' if bits == 32 else 'lp64'}{RISCV_FLOATS[flags & 0x6]}"


def _abi(elf: ELFFile, *, spoken: bool) -> str | None:
    """Return the calling convention that an object has; None if it fits several.

    Args:
        elf: the object.
        spoken: an Arm object that says nothing has the basic one. Clang says nothing of assembly.
    """
    if elf["e_machine"] == "EM_RISCV":
        return riscv_abi(elf["e_flags"], elf.elfclass)
    if elf["e_machine"] != "EM_ARM":
        return None
    section = elf.get_section_by_name(".ARM.attributes")
    if not isinstance(section, ARMAttributesSection):
        return None
    for vendor in section.iter_subsections():
        for scope in vendor.iter_subsubsections():
            for attribute in scope.iter_attributes("TAG_ABI_VFP_ARGS"):
                return VFP_ARGS.get(attribute.value)
    return VFP_ARGS[0] if spoken else None


def _refusal(source: str, core: Cpu, what: str) -> ToolchainError:
    instructions = core.instructions
    return ToolchainError(
        "E124",
        f"the object of {source} {what}; core '{core.name}' has {instructions.name} with"
        f" {instructions.abi}",
        at=core.at,
        remedy="correct the machine options in 'commands', or the core's 'isa' and 'abi'",
    )
