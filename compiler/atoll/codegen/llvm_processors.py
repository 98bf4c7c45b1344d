# SPDX-License-Identifier: Apache-2.0
"""What LLVM knows of a processor: its instruction set, and whether it loads from any address.

LLVM ends the process that asks it for a processor of another width, so that another one asks.
Attributes of assembly are those of the RISC-V ELF psABI, "Attributes", and of the Addenda to the
ABI for the Arm Architecture, 3.3.5.
"""

import os
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches

from atoll.description.faults import nearest_part
from atoll.description.remedies import FEW
from atoll.diagnostics.errors import ToolchainError, UsageError
from atoll.isa.find import NAMES
from atoll.records import dataclass
from atoll.utils.children import Done, run

_ASK = """import sys
from llvmlite import binding
binding.initialize_all_targets()
binding.initialize_all_asmprinters()
triple, processor, program = sys.argv[1:]
machine = binding.Target.from_triple(triple).create_target_machine(cpu=processor)
print(machine.emit_assembly(binding.parse_assembly(program)))
"""
_PROGRAM = "define i32 @f(ptr %p) {\n  %v = load i32, ptr %p, align 1\n  ret i32 %v\n}"
_TRIPLES = ("thumb-unknown-none-eabi", "riscv32-unknown-none-elf", "riscv64-unknown-none-elf")
_UNKNOWN = "is not a recognized processor"
_REFUSED = "LLVM ERROR"
"""What it says of a processor of another width."""
_HELP = "help"
"""What LLVM lists its processors for, on standard error."""
_LISTED = re.compile(r"^  (\S+) +- Select the \S+ processor\.$", re.MULTILINE)

_RISCV = re.compile(r'\.attribute\s+5, "rv(32|64)([^"]+)"')
_VERSION = re.compile(r"[0-9]+p[0-9]+$")
_LETTERS, _BITS = "imafdcv", ("zba", "zbb", "zbs")
_VECTOR, _WHOLE = "zve32x", {*("zve32x", "zve32f", "zve64x", "zve64f", "zve64d")}
"""Integers of up to 32 bits, which kernels use, and all that ``v`` consists of."""
_LENGTH = re.compile(r"zvl([0-9]+)b$")
_PARTS = {"zicsr", "zifencei", "zmmul", "zaamo", "zalrsc", "zca", "zcf", "zcd", "b"}
"""What start-up code needs anyway, and names of what other extensions have."""

_TAG = re.compile(r"\.eabi_attribute\s+([0-9]+), ([0-9]+)$", re.MULTILINE)
_ARCHITECTURE, _PROFILE, _DSP, _MVE = 6, 7, 46, 48
_MICROCONTROLLER = ord("M")
_ARCHITECTURES = {
    10: "armv7-m",
    11: "armv6-m",
    12: "armv6-m",
    13: "armv7e-m",
    16: "armv8-m.base",
    17: "armv8-m.main",
    21: "armv8.1-m.main",
}
_VECTORS = {1: "+mve", 2: "+mve.fp"}
_UNIT = re.compile(r"\.fpu\s+(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Processor:
    """A processor as LLVM models it.

    Attributes:
        name: LLVM's.
        isa: the instruction set that Atoll's kernels are compiled for.
        others: its extensions that no kernel uses.
        misaligned: whether single loads and stores work at any address; None if LLVM does not
            rely on it, so that it is not known.
    """

    name: str
    isa: str
    others: tuple[str, ...] = ()
    misaligned: bool | None = None


def find_processor(name: str) -> Processor:
    """Return what LLVM knows of a processor with RISC-V or of a Cortex-M.

    Raises:
        UsageError: E040, no back end generates code for it; E042, LLVM does not know it.
        ToolchainError: E070, LLVM does not start.
    """
    known = False
    for triple in _TRIPLES if name not in ("", _HELP) else ():
        answer = _ask(triple, name)
        if _UNKNOWN in answer.stderr:
            continue
        known = True
        found = None if answer.returncode else _read(name, answer.stdout)
        if found and NAMES.fullmatch(found.isa):
            return found
    if known:
        raise UsageError(
            "E040",
            f"LLVM's processor '{name}' is neither a Cortex-M nor one of RISC-V that has code",
            remedy="give its instruction set by --isa: docs/cores.md lists all",
        )
    raise UsageError(
        "E042",
        f"LLVM knows no processor '{name}' of RISC-V or Arm",
        remedy=_remedy(name),
    )


def _remedy(name: str) -> str:
    """Return what helps where LLVM knows no such processor; one with other digits is another."""
    own = "give its instruction set by --isa"
    listed = (_LISTED.findall(_ask(triple, _HELP).stderr) for triple in _TRIPLES[:2])
    known = sorted({each for names in listed for each in names})
    remedy = nearest_part(name, known, own)
    if remedy.startswith("did you mean"):
        return remedy
    alike = get_close_matches(name, known, n=FEW)
    return f"LLVM knows {', '.join(alike)}; of another one, {own}" if alike else own


def _ask(triple: str, processor: str) -> Done:
    command = (sys.executable, "-P", "-c", _ASK, triple, processor, _PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        answer = run(command, environment=environment)
    except OSError as fault:
        message = f"cannot run '{sys.executable}': {fault.strerror or fault}"
        raise ToolchainError("E070", message, remedy="run `atoll doctor`") from fault
    if answer.returncode and _REFUSED not in answer.stderr:
        message = f"LLVM cannot be asked about a processor: {answer.stderr.strip()[-200:]}"
        raise ToolchainError("E070", message, remedy="run `atoll doctor`")
    return answer


def _read(name: str, assembly: str) -> Processor | None:
    return _riscv(name, assembly) or _thumb(name, assembly)


def _riscv(name: str, assembly: str) -> Processor | None:
    found = _RISCV.search(assembly)
    if found is None:
        return None
    named = [_VERSION.sub("", each) for each in found[2].split("_")]
    letters = "".join(each for each in _LETTERS if each in named)
    base = "e" if "e" in named else ""
    short = f"{base}{letters}".replace("imafd", "g")
    bits = [f"_{each}" for each in (*_BITS, *_vectors(named)) if each in named]
    used = {*_LETTERS, *_BITS, *_PARTS, "e", _VECTOR, *(_WHOLE if "v" in named else ())}
    others = (each for each in named if each not in used and not _LENGTH.match(each))
    return Processor(
        name=name,
        isa="".join((f"rv{found[1]}{short}", *bits)),
        others=tuple(others),
        misaligned=True if re.search(r"\tlw\t", assembly) else None,
    )


def _vectors(named: Sequence[str]) -> tuple[str, ...]:
    """Return what an instruction set says of vectors behind ``v``, if there is that."""
    lengths = [int(found[1]) for each in named if (found := _LENGTH.match(each))]
    longest = max(lengths, default=0)
    least = 128 if "v" in named else 32
    kind = () if "v" in named else (_VECTOR,)
    return (*kind, *((f"zvl{longest}b",) if longest > least else ()))


def _thumb(name: str, assembly: str) -> Processor | None:
    tags = {int(tag): int(value) for tag, value in _TAG.findall(assembly)}
    architecture = _ARCHITECTURES.get(tags.get(_ARCHITECTURE, 0))
    if tags.get(_PROFILE) != _MICROCONTROLLER or architecture is None:
        return None
    vectors = _VECTORS.get(tags.get(_MVE, 0), "")
    dsp = "+dsp" if tags.get(_DSP) and not vectors else ""
    unit = _UNIT.search(assembly)
    floats = "" if unit is None else "+fp" if "-sp-" in unit[1] else "+fp.dp"
    return Processor(name=name, isa=f"{architecture}{dsp}{vectors}{floats}")
