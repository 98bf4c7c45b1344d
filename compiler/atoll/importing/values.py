"""Numbers and kinds of cores as vendors write them."""

import re
from functools import cache
from pathlib import Path

from atoll.description.cores import find_core, known_cores, load_core

_VERILOG = re.compile(r"(?:[0-9]{1,3})?'s?([hdob])([0-9a-fA-F]+)")
_BASE = {"h": 16, "d": 10, "o": 8, "b": 2}
_NUMBER = re.compile(r"\+?(0[xX][0-9a-fA-F]+|#[01]+|0[bB][01]+|[0-9]+)([kmgtKMGT]?)")
_FACTOR = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_NO_DMA = re.compile(r"mux|channels|dmactive")
_LONGEST_NUMBER = 40
_CORTEX = re.compile(r"(?:cm|ca|cortex[-_ ]?[ma])([0-9]{1,3})(plus|p|\+)?f?")
_EXTRA = re.compile(r"_?z(icsr|ifencei|icntr)$")


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


def is_dma(words: str) -> bool:
    """Tell whether a block of registers is a DMA controller by what a file calls it.

    A multiplexer of requests (DMAMUX) and the registers of its channels alone are none.
    """
    return "dma" in words.lower() and not _NO_DMA.search(words.lower())


def counted(others: int) -> str:
    """Return how many peripherals are left out, as a phrase."""
    return "1 other peripheral" if others == 1 else f"{others} other peripherals"


def core_named(word: str) -> str | None:
    """Return Atoll's name of the core that a file calls `word`, None if Atoll has none."""
    plain = word.strip().lower()
    if found := _CORTEX.fullmatch(plain):
        family = "a" if plain.startswith(("ca", "cortex-a", "cortex_a", "cortex a")) else "m"
        plain = f"cortex_{family}{found[1]}{'plus' if found[2] else ''}"
    return plain if plain in known_cores() else None


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


def riscv_isas(core: str, said: str) -> tuple[str, ...]:
    """Return the instruction set of a RISC-V core that a file calls `said`, if the core has it."""
    plain = re.sub(r"i[0-9]+p[0-9]+_?", "i", said.strip().lower())
    while (shorter := _EXTRA.sub("", plain)) != plain:
        plain = shorter
    return tuple(isa for isa in isas_of(core) if isa == plain) or isas_of(core)
