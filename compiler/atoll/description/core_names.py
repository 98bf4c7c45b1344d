# SPDX-License-Identifier: Apache-2.0
"""Which core a word means: one that is known, however it is spelled, or another one."""

import re
from collections.abc import Iterable

from atoll.description.faults import nearest_part

_ARM = re.compile(r"(?:arm)?(?:cortex|c)([amrx][0-9]{1,3})(plus|p|\+)?(?:ae|f)?")
_WITHOUT_MODEL = (
    "cv32e20 cve2 cv32e40s cv32e41p cva5 cva6 cv64a6 ariane ri5cy zeroriscy microriscy neorv32 "
    "femtorv32 darkriscv biriscv serv vexiiriscv naxriscv rocket boom hazard3 minerva mor1kx "
    "microwatt snitch spatz swerv veer veerel2 xtensa lx6 lx7 arc arcem microblaze microblazev "
    "nios2 niosv e21 e31 u54 u74 c906 c910"
)
_OTHERS = frozenset(_WITHOUT_MODEL.split())
"""Cores of which Atoll has no description, and whose names are like those of some that it has."""


def core_spelled(word: str, known: Iterable[str]) -> str | None:
    """Return the core of `known` that `word` names with other signs or capitals, such as CM4."""
    plain = _plain(word)
    return next((name for name in known if _plain(name) == plain), None)


def is_other_core(word: str, known: Iterable[str]) -> bool:
    """Tell whether `word` is the name of a core that is none of `known`."""
    plain = _plain(word)
    named = _ARM.fullmatch(plain) or plain in _OTHERS
    return bool(named) and core_spelled(word, known) is None


def core_remedy(word: str, known: Iterable[str]) -> str:
    """Return what helps where `word` is no core of `known`; another core is no help."""
    known = tuple(known)
    own = "give the path of your own core's YAML"
    if same := core_spelled(word, known):
        return f"did you mean '{same}'? If not, {own}"
    if is_other_core(word, known):
        file = re.sub(r"[^a-z0-9]+", "_", word.lower()).strip("_")
        how = "describe it in a file of your own, which 'atoll core new' begins"
        return f"Atoll has no model of it: {how}, and give its path, such as ./{file}.yaml"
    remedy = nearest_part(word, known, own)
    return remedy if remedy.startswith("did you mean") else own


def _plain(word: str) -> str:
    """Return a name without signs; Arm's as ``cortexm0plus``."""
    plain = re.sub(r"[-_ .]", "", word.strip().lower())
    if found := _ARM.fullmatch(plain):
        return f"cortex{found[1]}{'plus' if found[2] else ''}"
    return plain
