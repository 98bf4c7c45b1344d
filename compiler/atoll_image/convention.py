# SPDX-License-Identifier: Apache-2.0
"""Whether an image was compiled for the core: machine, width, instruction set, floats."""

from collections.abc import Iterator

from atoll.bsp.calling_convention import MACHINES, VFP_ARGS, riscv_abi
from atoll.diagnostics.errors import Fault
from atoll.isa.instruction_set import Family
from atoll.resolve.soc import Cpu
from atoll_image.elf import ElfImage
from atoll_image.needs import lacking_features

_HARD_FLOAT = 0x400
"""EF_ARM_ABI_FLOAT_HARD of `e_flags`."""

_MACHINES = {**MACHINES, Family.HEXAGON: "EM_QDSP6", Family.X86: "EM_X86_64"}


def convention_faults(image: ElfImage, core: Cpu) -> Iterator[Fault]:
    """Yield what keeps the core from running the image at all."""
    wanted = core.instructions
    if (image.machine, image.bits) != (_MACHINES[wanted.family], wanted.bits):
        found = f"{image.machine}, {image.bits} bits"
        yield _fault(f"the image is machine code of {found}; the core has {wanted.name}", core)
        return
    abi = _abi(image)
    if abi is not None and abi not in wanted.abis:
        yield _fault(f"the image has the calling convention {abi}; the core has {wanted.abi}", core)
    if more := tuple(lacking_features(image, core)):
        yield _fault(f"the image was compiled for what the core lacks: {'; '.join(more)}", core)


def _abi(image: ElfImage) -> str | None:
    """Return the calling convention that an image has; None if it does not say."""
    if image.machine == "EM_RISCV":
        return riscv_abi(image.flags, image.bits)
    if image.machine != "EM_ARM":
        return None
    floats = image.attributes.get("TAG_ABI_VFP_ARGS")
    if isinstance(floats, int):
        return VFP_ARGS.get(floats)
    return VFP_ARGS[1] if image.flags & _HARD_FLOAT else None


def _fault(message: str, core: Cpu) -> Fault:
    remedy = f"compile for '{core.name}', or correct its 'isa' and 'abi'"
    return Fault(code="E140", message=message, at=core.at, remedy=remedy)
