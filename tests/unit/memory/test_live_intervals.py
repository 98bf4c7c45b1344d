# SPDX-License-Identifier: Apache-2.0
"""Buffers live from their first touch to their last; the caller's live at the edges too."""

from collections.abc import Mapping

import pytest

from atoll.ir.tir import AcceleratorRun, Constant, Entry, KernelCall, Step
from atoll.memory.build_problem import live_intervals


def entry(steps: str, inputs: str, outputs: str, constants: str = "") -> Entry:
    """Make an entry from steps such as ``a b > c; npu: c list > d``."""
    made = tuple(step(number, text.strip()) for number, text in enumerate(steps.split(";")) if text)
    return Entry(
        inputs=tuple(inputs.split()),
        outputs=tuple(outputs.split()),
        allocations=(),
        constants=tuple(
            Constant(name=name, size=4, align=4, pools=()) for name in constants.split()
        ),
        steps=made,
    )


def step(number: int, text: str) -> Step:
    device, _, body = text.rpartition(":")
    reads, writes = (tuple(part.split()) for part in body.split(">"))
    run = AcceleratorRun(device, "list", 1)
    return Step(
        operator=f"op_{number}",
        number=number,
        device=device or "cpu",
        reads=reads,
        writes=writes,
        action=run if device else KernelCall(f"op_{number}", ()),
    )


@pytest.mark.parametrize(
    ("steps", "inputs", "outputs", "expected"),
    [
        ("x > a; a > b; b > y", "x", "y", {"x": (0, 1), "a": (0, 2), "b": (1, 3), "y": (2, 4)}),
        # Used late, an input stays; produced early, an output stays.
        ("x > y; y > a; a x > z", "x", "y z", {"x": (0, 3), "y": (0, 4), "a": (1, 3), "z": (2, 4)}),
        # Both a skip connection and the chain beside it are live.
        ("x > a; a > b; a b > y", "x", "y", {"x": (0, 1), "a": (0, 3), "b": (1, 3), "y": (2, 4)}),
        # Scratch and a result that nobody reads live in one step.
        (
            "x s > y s d; y > z",
            "x",
            "z",
            {"x": (0, 1), "s": (0, 1), "d": (0, 1), "y": (0, 2), "z": (1, 3)},
        ),
        # An input that nothing reads is there before step 0; one that is an output never ends.
        (
            "x > y; y > z",
            "x u v",
            "z v",
            {"x": (0, 1), "u": (0, 1), "v": (0, 3), "y": (0, 2), "z": (1, 3)},
        ),
        # An output that the last operator reads outlives it: the caller reads it later.
        ("x > y; y > z", "x", "y z", {"x": (0, 1), "y": (0, 3), "z": (1, 3)}),
        ("x > y; y > z", "x", "z y y", {"x": (0, 1), "y": (0, 3), "z": (1, 3)}),
        # A model without operators hands its input back.
        ("", "x", "x", {"x": (0, 1)}),
    ],
)
def test_m2_intervals(
    steps: str, inputs: str, outputs: str, expected: Mapping[str, tuple[int, int]]
) -> None:
    assert live_intervals(entry(steps, inputs, outputs)) == expected


def test_m2_constants_live_in_all_steps() -> None:
    live = live_intervals(entry("x w > a; npu: a list > y", "x", "y", "w list unused"))
    assert (live["w"], live["list"], live["unused"]) == ((0, 3),) * 3


def test_m7_inputs_that_stay_mapped_are_there_when_the_run_has_ended() -> None:
    program = entry("x > a; a > y", "x u", "y")
    assert live_intervals(program, mapped_inputs=True) == {
        **{"x": (0, 3), "u": (0, 3)},
        **{"a": (0, 2), "y": (1, 3)},
    }
