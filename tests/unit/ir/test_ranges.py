# SPDX-License-Identifier: Apache-2.0
"""What is known of a value before anything is known of its operands."""

import pytest

from atoll.ir.ranges import Range, range_of_type
from atoll.ir.scalars import Type


@pytest.mark.parametrize(("type", "low", "high"), [(Type.I1, 0, 1), (Type.I8, -128, 127)])
def test_a_type_holds_its_least_and_its_greatest_value(type: Type, low: int, high: int) -> None:
    assert range_of_type(type) == Range(low, high)
