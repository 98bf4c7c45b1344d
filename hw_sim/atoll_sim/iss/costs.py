"""How many cycles each class of instructions takes, in the order of `Class` in iss.cpp."""

from atoll.description.core import CYCLE_CLASSES
from atoll.resolve.soc import Cpu


def costs_of(cpu: Cpu) -> tuple[int, ...]:
    """Return cycles by class for a core: of its description, else 1 each."""
    given = cpu.spec.cycles
    return tuple(given.get(name, 0 if name == "taken" else 1) for name in CYCLE_CLASSES)
