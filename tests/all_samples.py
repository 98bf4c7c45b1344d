# SPDX-License-Identifier: Apache-2.0
"""Networks for tests that together have every kind, type and option that a TFLite file may have."""

from random import Random
from types import ModuleType
from typing import Any

from tests.differential.generator import random_model
from tests.element_samples import elements
from tests.flow_samples import branched, looped
from tests.operator_samples import computed, moves, picks, sixteen_bits, windows_and_reductions
from tests.recurrent_samples import recurrent
from tests.tflite_samples import every_operator

RANDOM = 1000


def fixed_samples(builder: ModuleType) -> tuple[Any, ...]:
    """Make the networks that have each kind; those of the generator have the rest."""
    made = (
        *(every_operator, windows_and_reductions, sixteen_bits, moves, picks, computed),
        *(elements, recurrent, looped, branched),
    )
    return tuple(make(builder) for make in made)


def any_sample(chance: Random, fixed: tuple[Any, ...]) -> Any:
    """Choose one of these networks, or one that the generator draws."""
    return chance.choice(fixed) if chance.random() < 0.5 else random_model(chance.randrange(RANDOM))
