# SPDX-License-Identifier: Apache-2.0
"""What is known of a register where two paths meet."""

from itertools import permutations

import pytest

from atoll.stack.register_values import VECTORS, Value, either

NUMBERS = sorted({0, 4, *(at + by for at in VECTORS for by in (-0x800, -8, -4, 0, 4, 0x40))})


@pytest.mark.parametrize("slack", [0, 4095])
def test_a_register_of_two_numbers_has_neither_for_certain(slack: int) -> None:
    """Else a stack pointer that is made of it has a depth, which it has on one path only."""
    met = [
        either(Value(left, near=bool(slack), slack=slack), Value(right))
        for left, right in permutations(NUMBERS, 2)
    ]
    known = [value for value in met if value is not None]
    assert len(known) > 10
    assert not [value for value in known if value.constant]
