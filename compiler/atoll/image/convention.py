"""Whether an image was compiled for the core: machine, width, instruction set, floats."""

import re
from collections.abc import Iterator

from atoll.bsp.calling_convention import MACHINES, VFP_ARGS, riscv_abi
from atoll.errors import Fault
from atoll.image.elf import ElfImage
from atoll.isa.instruction_set import Family
from atoll.resolve.soc import Cpu

_RVC = 0x1
_ARCHITECTURES = {
    "armv6-m": (11, 12),
    "armv7-m": (10, 11, 12),
    "armv7e-m": (10, 11, 12, 13),
    "armv8-m.base": (11, 12, 16),
    "armv8-m.main": (10, 11, 12, 13, 16, 17),
    "armv8.1-m.main": (10, 11, 12, 13, 16, 17, 21),
}
"""Values of Tag_CPU_arch that a core of an architecture runs (Arm's ABI addenda, 3.3.5.2)."""

_SINGLE = re.compile(r"rv(?:32|64)([a-z]+)")
_IMPLIED = frozenset("ig")
_NO_INSTRUCTIONS = ("zicsr", "zifencei", "zmmul", "zaamo", "zalrsc", "zca", "zcf", "zcd")
"""Parts of other extensions that newer tools name apart."""


def convention_faults(image: ElfImage, core: Cpu) -> Iterator[Fault]:
    """Yield what keeps the core from running the image at all."""
    wanted = core.instructions
    machine = MACHINES.get(wanted.family)
    if (image.machine, image.bits) != (machine, wanted.bits):
        found = f"{image.machine}, {image.bits} bits"
        yield _fault(f"the image is machine code of {found}; the core has {wanted.name}", core)
    elif wanted.family is Family.RISCV:
        yield from _riscv(image, core)
    elif wanted.bits == 32:  # A64 has one convention, and no attributes
        yield from _arm(image, core)


def _riscv(image: ElfImage, core: Cpu) -> Iterator[Fault]:
    wanted, flags = core.instructions, image.flags
    abi = riscv_abi(flags, image.bits)
    if abi not in wanted.abis:
        yield _fault(f"the image has the calling convention {abi}; the core has {wanted.abi}", core)
    have = extensions(wanted.name)
    if flags & _RVC and "c" not in have:
        message = f"the image has compressed instructions; the core has {wanted.name}"
        yield _fault(message, core)
    written = image.attributes.get("TAG_ARCH")
    if isinstance(written, str) and (more := sorted(extensions(written) - have)):
        named = ", ".join(more)
        yield _fault(f"the image has extensions {named}; the core has {wanted.name}", core)


def extensions(name: str) -> frozenset[str]:
    """Return the extensions that a RISC-V string names, without versions and without the base."""
    single, *longer = (re.sub(r"\d+p\d+$", "", each) for each in name.lower().split("_"))
    found = _SINGLE.match(re.sub(r"\d+p\d+", "", single))
    letters = set(found[1] if found else "")
    if "g" in letters:
        letters |= set("mafd")
    names = {re.sub(r"\d+p\d+$", "", each) for each in longer}
    return frozenset((letters | names) - _IMPLIED - {"e", *_NO_INSTRUCTIONS})


def _arm(image: ElfImage, core: Cpu) -> Iterator[Fault]:
    wanted, attributes = core.instructions, image.attributes
    architecture = attributes.get("TAG_CPU_ARCH")
    known = _ARCHITECTURES.get(wanted.name.split("+")[0], ())
    if isinstance(architecture, int) and known and architecture not in known:
        message = f"the image is for architecture {architecture} (Tag_CPU_arch)"
        yield _fault(f"{message}; the core has {wanted.name}", core)
    floats = attributes.get("TAG_ABI_VFP_ARGS", 0)
    found = VFP_ARGS.get(floats, wanted.abi) if isinstance(floats, int) else wanted.abi
    if attributes.get("TAG_FP_ARCH") and VFP_ARGS[1] not in wanted.abis:
        yield _fault(f"the image has instructions for floats; the core has {wanted.name}", core)
    elif found not in wanted.abis:
        message = f"the image has the calling convention {found}; the core has {wanted.abi}"
        yield _fault(message, core)


def _fault(message: str, core: Cpu) -> Fault:
    remedy = f"compile for '{core.name}', or correct its 'isa' and 'abi'"
    return Fault(code="E140", message=message, at=core.at, remedy=remedy)
