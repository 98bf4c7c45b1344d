# SPDX-License-Identifier: Apache-2.0
"""A plan is right if every value is still there when somebody reads it, the caller included."""

from collections.abc import Mapping

import pytest

from atoll.contract.program_check import program_faults
from atoll.ir.tir import (
    AcceleratorStart,
    AcceleratorWait,
    Action,
    Allocate,
    Constant,
    Entry,
    IRModule,
    KernelCall,
    SafeOverlap,
    Step,
    Type,
)
from atoll.memory.problem import MemoryPlan, Placement, PoolSpace, Problem

POOL = PoolSpace(name="sram", origin=0x2000_0000, size=4096, alignment=1)


def step(number: int, text: str, *over: SafeOverlap) -> Step:
    """Make a step from ``a b > c``, ``start: a > b`` or ``wait: a > b``."""
    kind, _, body = text.rpartition(":")
    reads, writes = (tuple(part.split()) for part in body.split(">"))
    actions: dict[str, Action] = {
        "": KernelCall("k", (*reads, *writes)),
        "start": AcceleratorStart("npu", "w", 1),
        "wait": AcceleratorWait("npu"),
    }
    return Step(
        operator=f"op_{number}",
        number=number,
        device="npu" if kind else "cpu",
        reads=reads,
        writes=writes,
        action=actions[kind],
        overlaps=over,
    )


def faults(
    steps: tuple[Step, ...],
    offsets: Mapping[str, int],
    inputs: str = "x",
    outputs: str = "y",
    *,
    mapped_inputs: bool = False,
) -> list[str]:
    """Check a plan of 16-byte buffers; ``w`` is a constant."""
    names = [name for name in offsets if name != "w"]
    entry = Entry(
        inputs=tuple(inputs.split()),
        outputs=tuple(outputs.split()),
        allocations=tuple(
            Allocate(
                buffer=name,
                type=Type.I8,
                elements=16,
                align=1,
                scope="global.workspace",
                pools=("sram",),
            )
            for name in names
        ),
        constants=(Constant(name="w", size=16, align=1, pools=("sram",), data=bytes(16)),)
        if "w" in offsets
        else (),
        steps=steps,
    )
    plan = MemoryPlan(
        problem=Problem(pools=(POOL,), buffers=()),
        placements={
            name: Placement(buffer=name, pool="sram", offset=offset)
            for name, offset in offsets.items()
        },
        use={},
    )
    found = program_faults(IRModule("m", (), entry), plan, mapped_inputs=mapped_inputs)
    return [fault.message for fault in found]


CHAIN = (step(0, "x > a"), step(1, "a > y"))


def test_m3_a_chain_takes_two_places() -> None:
    assert faults(CHAIN, {"x": 0, "a": 16, "y": 0}) == []


def test_m3_a_result_over_its_operand_needs_leave_and_distance() -> None:
    over = SafeOverlap("y", "a", 4)
    steps = (step(0, "x > a"), step(1, "a > y", over))
    assert faults(steps, {"x": 0, "a": 20, "y": 16}) == []
    late = ["'op_1' writes 'y' over 'a' before it is done with it"]
    assert faults(steps, {"x": 0, "a": 19, "y": 16}) == late
    assert faults(CHAIN, {"x": 0, "a": 20, "y": 16}) == late


@pytest.mark.parametrize("outputs", ["a y", "y a", "a y a"])
def test_m3_an_output_that_the_last_operator_reads_is_still_the_callers(outputs: str) -> None:
    steps = (step(0, "x > a"), step(1, "a > y", SafeOverlap("y", "a", 0)))
    lost = ["buffer 'a' is read when the run has ended, but 'y' is in its place"]
    assert faults(steps, {"x": 0, "a": 16, "y": 16}, outputs=outputs) == lost
    assert faults(steps, {"x": 0, "a": 16, "y": 0}, outputs=outputs) == []


def test_m3_an_input_that_is_an_output_stays() -> None:
    assert faults(CHAIN, {"x": 0, "a": 16, "y": 0}, outputs="y x") == [
        "buffer 'x' is read when the run has ended, but 'y' is in its place"
    ]


def test_m7_inputs_that_stay_mapped_are_read_at_the_end() -> None:
    places = {"x": 0, "a": 16, "y": 0}
    assert faults(CHAIN, places, mapped_inputs=True) == [
        "buffer 'x' is read when the run has ended, but 'y' is in its place"
    ]
    assert faults(CHAIN, {**places, "y": 32}, mapped_inputs=True) == []


def test_m3_an_input_that_nobody_reads_may_be_overwritten_but_not_lie_over_another() -> None:
    assert faults(CHAIN, {"x": 0, "u": 16, "a": 16, "y": 0}, inputs="x u") == []
    assert faults(CHAIN, {"x": 0, "u": 8, "a": 32, "y": 0}, inputs="x u") == [
        "buffer 'x' is read before the run, but 'u' is in its place",
        "buffer 'x' is read by 'op_0', but 'u' is in its place",
    ]


def test_m3_a_single_byte_counts() -> None:
    steps = (step(0, "x > a"), step(1, "x > b"), step(2, "a b > y"))
    assert faults(steps, {"x": 48, "a": 0, "b": 16, "y": 32}) == []
    assert faults(steps, {"x": 48, "a": 0, "b": 15, "y": 32}) == [
        "buffer 'a' is read by 'op_2', but 'b' is in its place"
    ]


def test_m2_what_nobody_has_written() -> None:
    assert faults((step(0, "x a > y"),), {"x": 0, "a": 16, "y": 32}) == [
        "buffer 'a' is read by 'op_0', but it was never written"
    ]


def test_m6_constants_are_never_overwritten() -> None:
    steps = (step(0, "x w > a"), step(1, "a > y"))
    assert faults(steps, {"w": 32, "x": 0, "a": 16, "y": 32}) == [
        "buffer 'w' is read when the run has ended, but 'y' is in its place"
    ]


def test_p6_what_runs_at_the_same_time_shares_no_bytes() -> None:
    begun, ended = step(0, "start: x w > a"), step(0, "wait: x w > a")
    steps = (begun, step(1, "x > b"), ended, step(2, "a b > y"))
    assert faults(steps, {"w": 64, "x": 0, "a": 16, "b": 32, "y": 0}) == []
    assert faults(steps, {"w": 64, "x": 0, "a": 16, "b": 31, "y": 0}) == [
        "'op_1' and 'op_0' run at the same time, and 'b' shares bytes with 'a'",
        "buffer 'a' is read by 'op_2', but 'b' is in its place",
    ]
    early = (begun, step(1, "x > b"), step(2, "b > y"), ended)
    assert faults(early, {"w": 64, "x": 0, "a": 16, "b": 32, "y": 0}) == [
        "'op_2' and 'op_0' run at the same time, and 'y' shares bytes with 'x'"
    ]


def test_scratch_is_written_before_it_is_read() -> None:
    assert faults((step(0, "x s > s y"),), {"x": 0, "s": 16, "y": 32}) == []
    assert faults((step(0, "x s > s y"),), {"x": 0, "s": 8, "y": 32}) == [
        "'op_0' writes 's' over 'x' before it is done with it"
    ]
