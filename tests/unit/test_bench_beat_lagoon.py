# SPDX-License-Identifier: Apache-2.0
"""What `benchmarks.beat_lagoon` may change of lagoon, and which chip it takes."""

from itertools import chain

from benchmarks.beat_lagoon import AXES, OBJECTIVES, better

NPU = "devices.npu.params"


def test_axes_change_neither_macs_nor_flash_core_and_clocks() -> None:
    settings = [axis["settings"] for axis in AXES.values() if isinstance(axis, dict)]
    changes = [*chain.from_iterable(each.values() for each in settings)]
    keys = {key for key in AXES if "." in key} | {key for each in changes for key in each}
    assert all(
        key.startswith((NPU, "memories.sram.", "memories.dtcm", "pools.", "devices.cpu.stack."))
        and "clock" not in key
        for key in keys
    )
    for key in (f"{NPU}.input_lanes", f"{NPU}.output_lanes"):
        assert key not in AXES
    lanes = [each for each in changes if f"{NPU}.input_lanes" in each]
    assert lanes
    assert {each[f"{NPU}.input_lanes"] * each[f"{NPU}.output_lanes"] for each in lanes} == {64}


def test_a_better_chip_is_below_in_all_and_known() -> None:
    base = dict.fromkeys(OBJECTIVES, 100)
    less = dict.fromkeys(OBJECTIVES, 90)
    assert better(less, base)
    for name in OBJECTIVES:
        assert not better({**less, name: 100}, base), "as much is not less"
        assert not better({**less, name: None}, base)
