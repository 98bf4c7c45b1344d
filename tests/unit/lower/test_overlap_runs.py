# SPDX-License-Identifier: Apache-2.0
"""Starts as early as producers allow, waits as late as users allow; and what the verifier says."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from atoll.ir.faults import ProgramError
from atoll.ir.read_module import parse_module
from atoll.ir.tir import IRModule
from atoll.ir.verify import verify
from atoll.lower.overlap_runs import OverlapRuns
from atoll.memory.build_problem import live_intervals

BUFFERS = ("x", "a", "b", "c", "d", "e")
UNIT = {f"s{number}": 100 for number in range(9)}
LISTS = ("l0", "l1", "l2", "l3", "l4", "l5")


def program(*steps: str) -> IRModule:
    """Return an entry of runs; each step is ``DEVICE READS>WRITES``, such as ``dma x>a``."""
    lines = ["module m", "entry [x] -> [d] {"]
    lines += [f"  allocate {name}: i8[16] align 16 in global.workspace [p]" for name in BUFFERS]
    lines += [f"  constant {name}: 64 align 64 [w] = later" for name in LISTS]
    for number, step in enumerate(steps):
        device, _, flow = step.partition(" ")
        reads, writes = flow.split(">")
        touched = ", ".join([*reads, f"l{number}"])
        lines.append(
            f"  step {number} s{number} on {device}: run {device}(l{number}, 1) "
            f"reads [{touched}] writes [{', '.join(writes)}]"
        )
    module = parse_module("\n".join([*lines, "}"]))
    verify(module)
    return module


def order(module: IRModule) -> list[str]:
    """Return ``NUMBER ACTION`` of each step."""
    return [f"{s.number} {str(s.action).split()[0]}" for s in module.entry.steps]


def overlapped(
    *steps: str,
    devices: Iterable[str] = ("dma",),
    cycles: Mapping[str, int] = UNIT,
    host: tuple[int, int] = (0, 0),
) -> IRModule:
    overlap = OverlapRuns(devices=frozenset(devices), cycles={**UNIT, **cycles}, host=host)
    module = overlap.run(program(*steps))
    verify(module)
    assert parse_module(str(module)) == module
    assert overlap.run(module) == module
    return module


def test_p6_a_copy_runs_beside_what_does_not_need_it() -> None:
    module = overlapped("dma x>a", "npu x>b", "npu b>c", "npu ac>d")
    assert order(module) == ["1 run", "0 start", "2 run", "0 wait", "3 run"]


@pytest.mark.parametrize(("host", "gained"), [((40, 40), True), ((40, 60), False)])
def test_p6_what_the_host_takes_for_a_device_counts(host: tuple[int, int], gained: bool) -> None:
    """A copy of 100 cycles beside others is worth its start and its end, which are the host's."""
    steps = ("dma x>a", "npu x>b", "npu b>c", "npu ac>d")
    assert (overlapped(*steps, host=host) != program(*steps)) is gained


def test_p6_a_late_copy_starts_right_after_its_producer() -> None:
    module = overlapped("npu x>a", "npu x>b", "npu b>c", "dma a>d", "npu c>b", cycles={"s3": 300})
    assert order(module) == ["0 run", "3 start", "1 run", "2 run", "4 run", "3 wait"]


def test_p6_a_copy_that_is_needed_at_once_stays_one_run() -> None:
    assert order(overlapped("npu x>a", "dma a>b", "npu b>d")) == ["0 run", "1 run", "2 run"]


def test_p6_one_engine_runs_its_copies_one_after_the_other() -> None:
    module = overlapped("dma x>a", "dma x>b", "npu x>c", "npu abc>d")
    assert order(module) == ["0 run", "1 start", "2 run", "1 wait", "3 run"]


def test_p6_the_first_of_two_copies_runs_beside_work_too() -> None:
    """The engine is never waited for before the host has nothing else to do."""
    module = overlapped("dma x>a", "dma x>b", "npu x>c", "npu c>e", "npu abe>d")
    assert order(module) == [
        *("0 start", "2 run", "0 wait"),
        *("1 start", "3 run", "1 wait"),
        "4 run",
    ]


def test_p6_bytes_that_are_still_read_are_not_overwritten() -> None:
    module = overlapped("npu x>a", "npu a>b", "dma x>a", "npu b>c", "npu ac>d")
    assert order(module) == ["0 run", "1 run", "2 start", "3 run", "2 wait", "4 run"]


def test_p6_a_copy_of_a_pending_copy_waits_for_it() -> None:
    module = overlapped("dma x>a", "npu x>b", "dma a>c", "npu bc>d")
    assert order(module) == ["0 start", "1 run", "0 wait", "2 run", "3 run"]


def test_p6_buffers_live_from_start_to_wait() -> None:
    module = overlapped("npu x>a", "npu x>b", "npu b>c", "dma a>d", "npu c>b", cycles={"s3": 300})
    live = live_intervals(module.entry)
    assert live["a"] == (0, 6)
    assert live["d"] == (1, 7)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("wait dma", "wait npu", "waits for"),
        ("reads [x, l1] writes [b]", "reads [x, l1] writes [a]", "disturbs 's0'"),
        ("reads [b, l2] writes [c]", "reads [a, b, l2] writes [c]", "disturbs 's0'"),
        ("on npu: run npu(l1, 1)", "on dma: run dma(l1, 1)", "busy with 's0'"),
        (
            "  step 0 s0 on dma: wait dma reads [x, l0] writes [a]\n",
            "",
            "never waits for 'dma'",
        ),
        ("wait dma reads [x, l0]", "wait dma reads [l0]", "does not repeat"),
        ("step 0 s0 on dma: wait", "step 9 s0 on dma: wait", "was not started"),
    ],
)
def test_p6_the_verifier_refuses_what_disturbs_a_run(old: str, new: str, message: str) -> None:
    text = str(overlapped("dma x>a", "npu x>b", "npu b>c", "npu ac>d", cycles={"s0": 200}))
    assert old in text
    with pytest.raises(ProgramError, match=message):
        verify(parse_module(text.replace(old, new, 1)))


def streamed(*steps: str) -> IRModule:
    """Return a program whose copies by dma read nothing but their commands."""
    text = str(program(*steps))
    for number, step in enumerate(steps):
        if step.startswith("dma"):
            text = text.replace(f"reads [x, l{number}]", f"reads [l{number}]")
    module = parse_module(text)
    verify(module)
    return module


CONSTANTS_AHEAD = ("dma x>a", "npu ax>b", "dma x>c", "npu bc>d", "dma x>e", "npu de>b")


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [
        (1, "0 run, 1 run, 2 run, 3 run, 4 run, 5 run"),
        (2, "0 run, 1 start, 2 run, 1 wait, 4 start, 3 run, 4 wait, 5 run"),
        (0, "0 run, 1 start, 2 run, 4 run, 1 wait, 3 run, 5 run"),
    ],
)
def test_p6_constants_are_copied_so_far_ahead(ahead: int, expected: str) -> None:
    cycles = {**UNIT, "s1": 300, "s3": 50}
    devices, movers = frozenset({"dma", "npu"}), frozenset({"dma"})
    overlap = OverlapRuns(devices=devices, cycles=cycles, movers=movers, ahead=ahead)
    made = overlap.run(streamed(*CONSTANTS_AHEAD))
    verify(made)
    assert ", ".join(order(made)) == expected


def test_p6_what_ends_first_is_tried_first() -> None:
    steps = ("dma x>a", "npu ax>b", "dma x>c", "npu bc>d", "dma x>e", "npu de>b")
    overlap = OverlapRuns(
        devices=frozenset({"dma", "npu"}),
        cycles={**UNIT, "s1": 300, "s3": 300},
        movers=frozenset({"dma"}),
    )
    module = streamed(*steps)
    ways = overlap.ways(module)
    assert ways[0] == replace(overlap, ahead=2).run(module)
    assert [*ways].count(ways[0]) == 1
    assert len(overlap.ways(program("dma x>a", "npu x>b", "npu ab>d"))) == 2
    assert overlap.ways(program("dma x>a", "npu a>b", "npu b>d")) == ()


STRIPES = ("dma x>a", "npu a>b", "npu b>d", "dma x>c", "npu c>e", "npu e>d")
"""Two parts of a network, one after the other, each of which is copied and computed twice."""


def test_p6_parts_stay_one_after_the_other() -> None:
    """Longest first, the second part would be copied and begun before the first one."""
    overlap = OverlapRuns(
        devices=frozenset({"dma"}),
        cycles={**UNIT, "s4": 300},
        movers=frozenset({"dma"}),
        keeps_order=True,
    )
    made = overlap.run(program(*STRIPES))
    verify(made)
    assert order(made) == ["0 run", "3 start", *("1 run", "2 run"), "3 wait", "4 run", "5 run"]
    longest = replace(overlap, keeps_order=False).run(program(*STRIPES))
    assert order(longest) == ["3 run", "0 start", "4 run", "0 wait", "1 run", "2 run", "5 run"]


def test_p6_two_accelerators_work_at_once() -> None:
    module = overlapped("npu x>a", "npv x>b", "cpu x>c", "cpu abc>d", devices=("npu", "npv"))
    assert order(module) == ["0 start", "1 start", "2 run", "0 wait", "1 wait", "3 run"]


def test_p6_estimates_choose_what_comes_first() -> None:
    """The long chain of one accelerator begins before the short one of the other."""
    steps = ("npu x>a", "npv a>b", "npu x>c", "npv c>e", "cpu be>d")
    both = ("npu", "npv")
    assert order(overlapped(*steps, devices=both, cycles={"s1": 150}))[0] == "0 run"
    swapped = overlapped(*steps, devices=both, cycles={"s3": 150})
    assert order(swapped)[0] == "2 run"


def test_p6_what_is_surely_done_is_waited_for_before_more_work() -> None:
    """So that its buffers live no longer, although nothing needs it yet."""
    module = overlapped(
        "npu x>a", "cpu x>b", "cpu b>c", "cpu c>e", "cpu ae>d", devices=("npu",), cycles={"s0": 80}
    )
    assert order(module) == ["0 start", "1 run", "0 wait", "2 run", "3 run", "4 run"]


def test_p6_a_chain_gains_nothing_and_stays() -> None:
    steps = ("npu x>a", "npv a>b", "dma b>c", "npu c>d")
    assert overlapped(*steps, devices=("npu", "npv", "dma")) == program(*steps)
