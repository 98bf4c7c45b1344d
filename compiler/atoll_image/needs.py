# SPDX-License-Identifier: Apache-2.0
"""What an image was compiled for, by its build attributes, that a core does not have.

Attributes say what compilers were permitted to use. One that is absent claims nothing, and neither
does one about which the core's description is silent. Sources: Addenda to the ABI for the Arm
Architecture, 3.3.5 and 3.3.6; RISC-V ELF psABI, "Attributes"; unprivileged RISC-V specification.
"""

import re
from collections.abc import Iterator, Mapping

from atoll.isa.instruction_set import Family
from atoll.resolve.soc import Cpu
from atoll_image.elf import ElfImage

_RVC, _UNALIGNED, _SINGLE_PRECISION = 0x1, 1, 1
_ARM_CODE = range(10)
"""Values of Tag_CPU_arch before v7: Thumb code of theirs runs; Arm code has its own attribute."""

_ARCHITECTURES = {
    "armv6-m": (11, 12),
    "armv7-m": (10, 11, 12),
    "armv7e-m": (10, 11, 12, 13),
    "armv8-m.base": (11, 12, 16),
    "armv8-m.main": (10, 11, 12, 13, 16, 17),
    "armv8.1-m.main": (10, 11, 12, 13, 16, 17, 21),
    "armv8-a": (10, 11, 12, 13, 14, 15),
}
"""Values of Tag_CPU_arch that a core of an architecture runs; the profile is an own attribute."""

_FLOATS = {
    1: "VFPv1",
    2: "VFPv2",
    3: "VFPv3",
    4: "VFPv3-D16",
    5: "VFPv4",
    6: "VFPv4-D16",
    7: "FP for Armv8",
    8: "FPv5-D16",
}
_FOUR_D16 = (1, 2, 4, 6)
_SINGLE = re.compile(r"rv(?:32|64)([a-z]+)")
_IMPLIED = frozenset("ig")
_ASSUMED = ("zicsr", "zifencei")
_PARTS = (
    ("m", ("zmmul",)),
    ("a", ("zaamo", "zalrsc")),
    ("c", ("zca", "zcf", "zcd")),
    ("b", ("zba", "zbb", "zbs")),
)
"""Extensions that newer tools name part by part."""

_BROUGHT = (
    ("v", ("zve64d", "zvl128b")),
    ("zve64d", ("zve64f",)),
    ("zve64f", ("zve64x", "zve32f")),
    ("zve64x", ("zve32x", "zvl64b")),
    ("zve32f", ("zve32x",)),
    ("zve32x", ("zvl32b",)),
    *((f"zvl{2 * bits}b", (f"zvl{bits}b",)) for bits in (2**n for n in range(15, 4, -1))),
)
"""What extensions of vectors bring besides themselves, those that bring more first."""


def lacking_features(image: ElfImage, core: Cpu) -> Iterator[str]:
    """Yield each attribute that asks for more than the core has: its value, and the core's."""
    if core.instructions.family is Family.RISCV:
        yield from _riscv(image, core)
    elif image.machine == "EM_ARM":
        yield from _arm(image.attributes, core)


def extensions(name: str) -> frozenset[str]:
    """Return the extensions that a RISC-V string names, without versions and without the base."""
    single, *longer = (re.sub(r"\d+p\d+$", "", each) for each in name.lower().split("_"))
    found = _SINGLE.match(re.sub(r"\d+p\d+", "", single))
    letters = set(found[1] if found else "")
    if "g" in letters:
        letters |= set("mafd")
    names = (letters | set(longer)) - {"e", *_IMPLIED, *_ASSUMED}
    brought = (parts for whole, parts in (*_PARTS, *_BROUGHT) if whole in names)
    return frozenset(names.difference(*brought))


def _riscv(image: ElfImage, core: Cpu) -> Iterator[str]:
    wanted = core.isa
    have = set(extensions(wanted))
    for whole, parts in _PARTS:
        if whole in have:
            have |= set(parts)
        elif have.issuperset(parts):
            have.add(whole)
    for bringer, brought in _BROUGHT:
        have |= set(brought if bringer in have else ())
    written = image.attributes.get("TAG_ARCH")
    names = extensions(written) if isinstance(written, str) else frozenset()
    if more := sorted(names - have):
        what = "extension" if len(more) == 1 else "extensions"
        yield f"Tag_RISCV_arch is '{written}', with {what} {', '.join(more)}; the core has {wanted}"
    if isinstance(written, str) and re.match(r"rv(32|64)i", written) and wanted[4] == "e":
        yield f"Tag_RISCV_arch is '{written}', with 32 registers; the core has {wanted}"
    if image.flags & _RVC and "c" not in have and "c" not in names:
        yield f"the ELF flags say RVC, compressed instructions; the core has {wanted}"
    unaligned = image.attributes.get("TAG_UNALIGNED_ACCESS") == _UNALIGNED
    if unaligned and core.spec.misaligned == "traps":
        yield f"Tag_RISCV_unaligned_access is 1; '{core.spec.name}' traps on such accesses"


def _arm(attributes: Mapping[str, object], core: Cpu) -> Iterator[str]:
    architecture, *features = core.isa.split("+")
    thumb = core.instructions.family is Family.THUMB
    known = _ARCHITECTURES.get(architecture)
    if known is None:
        return
    has = f"the core has {core.isa}"
    vectors = next((2 if each == "mve.fp" else 1 for each in features if "mve" in each), 0)
    signals = architecture == "armv7e-m" or "dsp" in features or vectors or not thumb
    short = architecture in ("armv6-m", "armv8-m.base")

    def value(tag: str) -> int:
        found = attributes.get(f"TAG_{tag.upper()}", 0)
        return found if isinstance(found, int) else 0

    cpu = value("CPU_arch")
    if cpu not in _ARM_CODE and cpu not in known:
        yield f"Tag_CPU_arch is {cpu}, another architecture; {has}"
    profile, own = chr(value("CPU_arch_profile") & 0x7F), "M" if thumb else "A"
    if profile in ("ARS" if thumb else "M"):
        yield f"Tag_CPU_arch_profile is {profile}; the core's is {own}"
    if thumb and value("ARM_ISA_use"):
        yield f"Tag_ARM_ISA_use is {value('ARM_ISA_use')}; the core has Thumb alone"
    if short and value("THUMB_ISA_use") == 2:
        yield f"Tag_THUMB_ISA_use is 2, instructions of 32 bits; {has}"
    yield from _floats(value("FP_arch"), value("ABI_HardFP_use"), core, features)
    for tag, most, what in (
        ("WMMX_arch", 0, "no WMMX"),
        ("Advanced_SIMD_arch", 0 if thumb else 3, "no NEON" if thumb else "that of Armv8.0"),
        ("FP_HP_extension", 2 if architecture == "armv8.1-m.main" else 1, "no FP16 arithmetic"),
        ("DSP_extension", 1 if signals else 0, "no DSP instructions"),
        ("MVE_arch", vectors, "MVE of integers alone" if vectors else "no MVE"),
        ("T2EE_use", 0, "no ThumbEE"),
        ("DIV_use", 1 if architecture == "armv6-m" else 2, "no division"),
    ):
        if value(tag) > most:
            yield f"Tag_{tag} is {value(tag)}; {has}, {what}"
    traps = short or core.spec.misaligned == "traps"
    if value("CPU_unaligned_access") == _UNALIGNED and traps:
        yield f"Tag_CPU_unaligned_access is 1; {has}, which traps on such accesses"


def _floats(found: int, use: int, core: Cpu, features: list[str]) -> Iterator[str]:
    """Yield what the registers and the precision of floats ask for.

    Tag_ABI_HardFP_use is 1 where only single precision is used, else what Tag_FP_arch has is.
    """
    if not found or core.isa == "armv8-a":
        return
    double, single = "fp.dp" in features, bool({"fp", "mve.fp"} & set(features))
    five = any(isa.split("+")[0] != "armv7e-m" or "fp.dp" in isa for isa in core.spec.isas)
    units = (*_FOUR_D16, *((8,) if five else ()))
    if not (single or double):
        unit = "no floating-point unit"
    elif found in units and (double or use == _SINGLE_PRECISION):
        return
    else:
        unit = (
            f"{'FPv5-D16' if five else 'VFPv4-D16'}, {'double' if double else 'single'} precision"
        )
    precision = "single" if use == _SINGLE_PRECISION else "double"
    what = f"{found}, {_FLOATS.get(found, 'not known')}, {precision} precision"
    yield f"Tag_FP_arch is {what}; the core has {core.isa}, {unit}"
