# SPDX-License-Identifier: Apache-2.0
"""How many cycles each class of instructions takes, in the order of `Class` in iss.cpp."""

from typing import get_args

from atoll.description.core import EXTRAS, CycleClass
from atoll.resolve.soc import Cpu


def costs_of(cpu: Cpu) -> tuple[int, ...]:
    """Return cycles by class for a core: of its description, else 1 each."""
    given = cpu.spec.cycles
    return tuple(given.get(name, 0 if name in EXTRAS else 1) for name in get_args(CycleClass))
