# SPDX-License-Identifier: Apache-2.0
"""What tells two runs of the kit apart that began with other register values."""

from dataclasses import replace

from tests.unit.report.test_result import GOOD

from atoll_sim.accelerator_test.accelerator_kit import first_difference


def test_a13_what_takes_other_cycles_where_registers_begin_otherwise_is_named() -> None:
    (layer,) = GOOD.by_layer
    other = replace(GOOD, by_layer=(replace(layer, cycles=301),), start_seed=2)
    (said,) = first_difference(GOOD, other)
    assert said == (
        "conv_2d_0 on device npu takes 300 cycles, and 301 where registers begin otherwise"
        " (seed 2): something is not reset (A13)"
    )
    assert not [*first_difference(GOOD, replace(GOOD, start_seed=2))]
