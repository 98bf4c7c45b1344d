# SPDX-License-Identifier: Apache-2.0
"""Which cores that ship can be simulated, and how."""

from pathlib import Path

from atoll.description.core import Core
from atoll.description.core_files import find_core, known_cores, load_core


def described(name: str) -> Core:
    """Return the description of an installed core."""
    return load_core(find_core(name, "", Path(), None), None).model


ADAPTERS = [name for name in known_cores() if described(name).rtl]
WITH_RTL = [name for name in ADAPTERS if described(name).uncached is None]
"""Those that the chips that ship can have: all but one that wants data in the upper half."""

CORTEX_M = {name: described(name).isas for name in known_cores() if name.startswith("cortex_m")}
ON_ISS = {
    **{name: ("rv32im" if name == "vexriscv" else "rv32imc") for name in WITH_RTL},
    "riscv": "rv32imac",
    **{name: isas[0] for name, isas in CORTEX_M.items() if not isas[0].startswith("armv8.1-m")},
}
"""Instruction set by name; Unicorn has no Armv8.1-M."""
