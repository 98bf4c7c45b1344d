# SPDX-License-Identifier: Apache-2.0
"""Numbers and kinds of cores as vendors write them."""

import re
from functools import cache
from pathlib import Path

from atoll.description.core_files import find_core, known_cores, load_core
from atoll.description.core_names import core_spelled

_VERILOG = re.compile(r"(?:[0-9]{1,3})?'s?([hdob])([0-9a-fA-F]+)")
_BASE = {"h": 16, "d": 10, "o": 8, "b": 2}
_NUMBER = re.compile(r"\+?(0[xX][0-9a-fA-F]+|#[01]+|0[bB][01]+|[0-9]+)([kmgtKMGT]?)")
_FACTOR = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_DMA = frozenset(
    (
        *("dma", "dmac", "gpdma", "hpdma", "lpdma", "bdma", "mdma", "edma", "ldma", "udma", "pdma"),
        *("sdma", "xdmac", "cdma", "adma", "hdma", "gdma", "edmac", "dma2d", "ahb_dma", "axi_dma"),
        *("dw_gdma", "lpc_gpdma", "lpc_dma", "dma_controller", "dmacontroller"),
    )
)
_INDEXED = re.compile(r"(dma2d|.*?)(?:_?[0-9]{1,2})?")
_LEVEL = re.compile(r"^SEC_|_(?:S|NS|SEC|NSEC)$")
_LONGEST_NUMBER = 40
_ARM = re.compile(r"(?:arm)?(?:cortex|c)([amr][0-9]{1,3})(?:plus|p|\+)?(?:ae|f)?")
_KIN = {
    **dict.fromkeys(("m0", "m1"), "cortex_m0plus"),
    "m35": "cortex_m33",
    **dict.fromkeys(("a34", "a35", "a55", "a57", "a65", "a72", "a73", "a75"), "cortex_a53"),
    **dict.fromkeys(("a76", "a77", "a78", "a510", "a520", "a710", "a715", "a720"), "cortex_a53"),
}
"""Atoll's core with the instruction sets of one that it has not, by Arm's name."""

_NAMED_SETS = {
    **dict.fromkeys(("a5", "a7", "a8", "a9", "a12", "a15", "a17"), "armv7-a"),
    **dict.fromkeys(("r4", "r5", "r7", "r8"), "armv7-r"),
    **dict.fromkeys(("r52", "r82"), "armv8-r"),
}
"""The instruction set of cores that have one which no core of Atoll has."""

_RISCV = re.compile(r"(rv32|rv64)([a-z0-9_]*)")
_VERSION = re.compile(r"([a-z])[0-9]+p[0-9]+")
_SHORT = {"g": {"i", "m", "a", "f", "d"}, "b": {"zba", "zbb", "zbs"}}
_IN_BASE = {"zicsr", "zifencei", "zicntr", "zihpm"}


def number_of(text: object) -> int | None:
    """Return the number that a file means, None if it is none.

    Integers of SVD, IP-XACT and Renode: decimal, ``0x``, ``#`` or ``0b``, and k, M, G, T; of
    SystemVerilog such as ``32'h4000_0000``.
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return text if text >= 0 else None
    if not isinstance(text, str) or len(text) > _LONGEST_NUMBER:
        return None
    plain = text.strip().replace("_", "")
    if verilog := _VERILOG.fullmatch(plain):
        return _digits(verilog[2], _BASE[verilog[1]])
    found = _NUMBER.fullmatch(plain)
    if found is None:
        return None
    digits, unit = found.groups()
    value = _digits(*((digits[1:], 2) if digits.startswith("#") else (digits, 10)))
    if value is None:
        value = int(digits, 0)
    return value * _FACTOR[unit.lower()]


def _digits(digits: str, base: int) -> int | None:
    try:
        return int(digits, base)
    except ValueError:
        return None


def is_dma(name: str) -> bool:
    """Tell whether a block of registers of this name is a DMA controller.

    A multiplexer of requests (DMAMUX), channels alone, and what only has a DMA are none.
    """
    found = _INDEXED.fullmatch(stem_of(name).lower())
    return found is not None and found[1] in _DMA


def stem_of(name: str) -> str:
    """Return the name without the words of a security level, which twins of a block differ in."""
    return _LEVEL.sub("", name)


def count_phrase(others: int) -> str:
    """Return how many peripherals are left out, as a phrase."""
    return "1 other peripheral" if others == 1 else f"{others} other peripherals"


def core_named(word: str) -> str | None:
    """Return Atoll's name of the core that a file calls `word`, None if Atoll has none."""
    return core_spelled(word, known_cores())


def kin_of(word: str) -> str | None:
    """Return Atoll's core, or one with the instruction sets of that which a file calls `word`."""
    found = _ARM.fullmatch(_plain(word))
    return core_named(word) or (_KIN.get(found[1]) if found else None)


def own_set(word: str) -> tuple[str, ...]:
    """Return the instruction set of a core that has one which no core of Atoll has."""
    found = _ARM.fullmatch(_plain(word))
    return tuple(filter(None, [_NAMED_SETS.get(found[1])])) if found else ()


def any_core_of(word: str) -> str | None:
    """Return Atoll's core for all of the family that a file calls `word`, None if it has none."""
    plain = _plain(word)
    if plain.startswith(("rv32", "rv64", "riscv", "cpu.riscv")):
        return "riscv"
    return "x86_64" if plain in ("x8664", "cpu.x8664") else None


def _plain(word: str) -> str:
    return re.sub(r"[-_ ]", "", word.strip().lower())


@cache
def isas_of(core: str) -> tuple[str, ...]:
    """Return the instruction sets that an installed core can have."""
    return load_core(find_core(core, "", Path(), None), None).model.isas


def arm_isas(
    core: str, *, floats: int | None, dsp: bool | None = None, vectors: int | None = None
) -> tuple[str, ...]:
    """Return the instruction sets of a Cortex-M that fit what a file says.

    Args:
        core: Atoll's name of it.
        floats: 0 without floating point, 1 in single, 2 in double precision; None is not said.
        dsp: whether it has the DSP extension; None is not said.
        vectors: 0 without MVE, 1 of integers, 2 of floats too; None is not said.
    """
    return tuple(isa for isa in isas_of(core) if _fits(isa, floats, dsp, vectors, isas_of(core)))


def _fits(
    isa: str, floats: int | None, dsp: bool | None, vectors: int | None, all_of: tuple[str, ...]
) -> bool:
    extensions = isa.split("+")[1:]
    has_floats = 2 if "fp.dp" in extensions else int("fp" in extensions)
    has_vectors = 2 if "mve.fp" in extensions else int("mve" in extensions)
    most = max(2 if "+fp.dp" in each else int("+fp" in each) for each in all_of)
    if floats is not None and has_floats != min(floats, most):
        return False
    if vectors is not None and has_vectors != vectors:
        return False
    optional = any("+dsp" in each for each in all_of)
    has_dsp = "dsp" in extensions or has_vectors > 0
    return dsp is None or not optional or has_dsp == dsp


def isas_by_name(core: str, word: str) -> tuple[str, ...]:
    """Return the instruction sets of a core that Arm's name of it allows: an F has floats.

    A name of RISC-V decides none.
    """
    isas = tuple(isa for isa in isas_of(core) if not extensions_of(isa))
    return tuple(isa for isa in isas if "+fp" in isa) if word.endswith("f") else isas


def riscv_isas(core: str, said: str) -> tuple[str, ...]:
    """Return the instruction sets of a RISC-V core that fit what a file says.

    It is the one with all that the file names and Atoll knows of the core; without such a one
    all that the file's hardware runs, what is most first. None fits if the file says nothing, since
    such cores are built with and without most extensions.
    """
    own = {isa: extensions_of(isa) for isa in isas_of(core)}
    has = extensions_of(said)
    same = tuple(
        isa for isa, parts in own.items() if parts == has & frozenset().union(*own.values())
    )
    runs = [isa for isa, parts in own.items() if parts <= has]
    return same or tuple(sorted(runs, key=lambda isa: -len(own[isa])))


def not_covered(said: str, isa: str) -> tuple[str, ...]:
    """Return the extensions that a file names and an instruction set of Atoll's has not."""
    return tuple(sorted(extensions_of(said) - extensions_of(isa)))


def extra_in(isa: str, said: str) -> tuple[str, ...]:
    """Return the extensions of an instruction set that a file, which says some, does not name."""
    has = extensions_of(said)
    return tuple(sorted(extensions_of(isa) - has)) if has else ()


def extensions_of(isa: str) -> frozenset[str]:
    """Return width and extensions that an ISA string of RISC-V names, whatever their order.

    ``rv64gc`` and ``rv64imafdc_zicsr_zifencei`` are one. Counters, CSRs and FENCE.I, which older
    strings have in their base, are left out.
    """
    found = _RISCV.fullmatch(_VERSION.sub(r"\1", isa.strip().lower()))
    if found is None:
        return frozenset()
    parts: set[str] = set()
    for word in found[2].split("_"):
        letters = re.match(r"[^zsx]*", word)
        parts |= {*(letters[0] if letters else ""), word[letters.end() if letters else 0 :]}
    for short, whole in _SHORT.items():
        if short in parts:
            parts = parts - {short} | whole
    return frozenset({found[1], *parts} - _IN_BASE - {""})
