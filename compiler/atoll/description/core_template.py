# SPDX-License-Identifier: Apache-2.0
"""The description that ``atoll core new NAME`` starts a core with.

Each value says where it is from; what neither the instruction set nor Atoll's start-up code decides
is called a guess.
"""

from collections.abc import Sequence
from textwrap import wrap

from atoll.isa.find import instruction_set
from atoll.isa.instruction_set import Family, InstructionSet

_HEAD = """\
# yaml-language-server: $schema=./core.schema.json
# {what}.
# Behind each value stands where it is from. Check what is called a guess against the core's
# manual. docs/extending.md explains all keys.
core: {name}
version: 1
isas: [{isa}]  # {source}
"""
_WITHOUT_STARTUP = """
# Atoll has no start-up code for a core of its kind that it does not know, so that objects are made
# for this one, and no firmware. docs/extending.md says what 'startup' has to have.
"""
_RISCV = """
interrupts:
  first: 3  # a guess: the first line for devices
  last: 16  # a guess: the last one
  bus_error: 2  # a guess: tells of accesses that firewalls refuse, if the chip has any
  controller: fast  # a guess: line n is bit n + 14 of mip and mie
reset: {{offset: 0x80, alignment: 256}}  # of the start-up code; that the core has it is a guess
local: 0x0200_0000  # a guess: the timer, as in a core-local interruptor
bus_errors: traps  # a guess: a failed access is an exception
{misaligned}
startup: riscv_fast.S  # a guess, as 'controller' and 'local'
asleep: [0x1050_0073, 0xFFDF_F06F]  # of the instruction set: wfi; j .-4
# protection: {{unit: pmp, regions: 16, granule: 4}}  # whether it has this is not known
# cache: zicbom  # nor this
"""
_THUMB = """
interrupts:
  first: 3  # a guess: the first line for devices
  last: {last}  # a guess: each chip has its own number
  bus_error: 2  # a guess: tells of accesses that firewalls refuse, if the chip has any
  controller: nvic  # of the architecture
reset: {{offset: 0xC0, alignment: 256}}  # of the start-up code, behind its vectors
local: 0xE000_0000  # of the architecture
bus_errors: traps  # of the architecture
misaligned: {misaligned}  # of the architecture
startup: cortex_m.S  # of the architecture{vectors}
asleep: [0xE7FD_BF30]  # of the instruction set: wfi; b .-2
# protection: {{unit: {unit}, regions: 8, granule: {granule}}}  # whether it has this is not known
"""
_CACHE = "# cache: scb  # nor this\n"
_TIMING = """\
# timing:  # what its instructions take is not known: estimates count it as PicoRV32, and say so
"""

_COLUMNS = 100

_BASELINE = ("armv6-m", "armv8-m.base")
"""Architectures that trap on misaligned accesses."""


def starting_core(
    name: str,
    isa: str,
    *,
    processor: str = "",
    others: Sequence[str] = (),
    misaligned: bool | None = None,
) -> str:
    """Return a commented description of a core called `name`.

    Args:
        name: of the core.
        isa: one that a back end generates code for.
        processor: whose instruction set it is, by LLVM's name; "" if the user chose it.
        others: extensions of the processor that no kernel uses.
        misaligned: whether a processor of RISC-V loads and stores at any address; None is not
            known. The architecture of others decides it.
    """
    found = instruction_set(isa)
    what = f"A core with the instruction set {isa}"
    source = "as you chose it"
    if processor:
        what = f"A core like LLVM's {processor}"
        options = " with all options; a chip may lack some" if "+" in isa else ""
        source = f"of LLVM's {processor}{options}"
    text = _HEAD.format(name=name, isa=isa, what=what, source=source)
    if others:
        told = f"LLVM's model also has what no kernel uses: {', '.join(others)}"
        text += "".join(f"# {line}\n" for line in wrap(told, _COLUMNS - 2))
    if found.family is Family.RISCV:
        return text + _RISCV.format(misaligned=_alignment_line(misaligned, processor)) + _TIMING
    if found.family is Family.THUMB:
        return text + _thumb(found) + _TIMING
    return text + _WITHOUT_STARTUP


def _alignment_line(works: bool | None, processor: str) -> str:
    if works:
        return f"misaligned: works  # of LLVM's {processor}"
    return (
        "# misaligned: works  # not known: works or traps; simulated cores do, and reports say so"
    )


def _thumb(found: InstructionSet) -> str:
    architecture = found.name.partition("+")[0]
    is_old = architecture == "armv6-m"
    is_v8 = architecture.startswith("armv8")
    text = _THUMB.format(
        last=31 if is_old else 239,
        misaligned="traps" if architecture in _BASELINE else "works",
        vectors="; that there is VTOR is a guess" if architecture in _BASELINE else "",
        unit="mpu_v8" if is_v8 else "mpu_v7",
        granule=256 if is_old else 32,
    )
    return text if architecture in _BASELINE else text + _CACHE
