# SPDX-License-Identifier: Apache-2.0
"""P6: whatever order of steps is chosen, every step reads what it reads in the graph's order."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import cases

from atoll.ir.tir import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    Allocate,
    Constant,
    Entry,
    IRModule,
    Step,
    Type,
)
from atoll.ir.verify import verify
from atoll.lower.overlap_runs import OverlapRuns
from atoll.lower.step_schedule import is_chain

BUFFERS = tuple("abcdef")
DEVICES = ("npu0", "npu1", "dma", "slow")
ASYNCHRONOUS = frozenset(DEVICES) - {"slow"}
UNDEFINED = "undefined"

Value = tuple[object, ...]
Rows = list[tuple[str, set[str], set[str], int]]


def program(rows: Rows) -> tuple[IRModule, dict[str, int]]:
    """Return a program of runs, and the cycles of its operators."""
    steps = tuple(
        Step(
            operator=f"s{number}",
            number=number,
            device=device,
            reads=(*sorted(reads), "list"),
            writes=tuple(sorted(writes)),
            action=AcceleratorRun(device, "list", 1),
        )
        for number, (device, reads, writes, _) in enumerate(rows)
    )
    allocations = tuple(
        Allocate(
            buffer=name,
            type=Type.I8,
            elements=4,
            align=1,
            scope="global.workspace",
            pools=("p",),
        )
        for name in BUFFERS
    )
    commands = Constant(name="list", size=64, align=64, pools=("p",))
    entry = Entry(BUFFERS, BUFFERS, allocations, (commands,), steps)
    return IRModule("m", (), entry), {f"s{at}": row[3] for at, row in enumerate(rows)}


def values(steps: Sequence[Step]) -> tuple[dict[int, Value], dict[str, object]]:
    """Run steps on symbols: what each step reads, and what the buffers hold in the end.

    From start to wait the bytes that a device reads must not change, and those that it writes are
    undefined.
    """
    held: dict[str, object] = {name: ("input", name) for name in (*BUFFERS, "list")}
    seen: dict[int, Value] = {}
    for step in steps:
        if isinstance(step.action, AcceleratorWait):
            kept = zip(step.reads, seen[step.number], strict=True)
            assert all(held[name] == value for name, value in kept if name not in step.writes)
        else:
            seen[step.number] = tuple(held[name] for name in step.reads)
        started = isinstance(step.action, AcceleratorStart)
        result = UNDEFINED if started else hash(seen[step.number])
        for name in step.writes:
            held[name] = (step.number, name, result)
    return seen, held


ROWS = st.lists(
    st.tuples(
        st.sampled_from(DEVICES),
        st.sets(st.sampled_from(BUFFERS), max_size=3),
        st.sets(st.sampled_from(BUFFERS), min_size=1, max_size=2),
        st.integers(1, 1000),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=cases(400), deadline=None)
@given(ROWS)
def test_p6_every_order_passes_the_same_bytes_on(rows: Rows) -> None:
    module, cycles = program(rows)
    overlapped = OverlapRuns(devices=ASYNCHRONOUS, cycles=cycles).run(module)
    verify(overlapped)
    numbers = [
        s.number for s in overlapped.entry.steps if not isinstance(s.action, AcceleratorWait)
    ]
    assert sorted(numbers) == list(range(len(rows)))
    assert values(overlapped.entry.steps) == values(module.entry.steps)


@settings(max_examples=cases(400), deadline=None)
@given(ROWS, st.booleans())
def test_p6_a_chain_has_one_order(rows: Rows, chained: bool) -> None:
    """Then nothing is scheduled, and what asks for less time is not missed."""
    if chained:
        rows = [rows[0], *((d, r | w, v, c) for (_, _, w, _), (d, r, v, c) in pairwise(rows))]
    module, cycles = program(rows)
    overlaps = OverlapRuns(devices=ASYNCHRONOUS, cycles=cycles, host=(4, 3))
    assert is_chain(module.entry) or not chained
    if is_chain(module.entry):
        assert overlaps.ways(module) == ()
