# SPDX-License-Identifier: Apache-2.0
"""What the bench records becomes a result in the chip's terms."""

from dataclasses import replace
from pathlib import Path

from atoll_sim.chip.chip_parts import Interrupt
from atoll_sim.model.monitors import Event
from atoll_sim.protocol.records import COUNT, HEAT, LINE, SPAN, EventKind
from atoll_sim.shadow.records import FINDING
from atoll_sim.trace.run_files import (
    Capture,
    Record,
    Work,
    read_record,
    read_work,
    write_record,
    write_work,
)
from atoll_sim.trace.simulation import Buffer, Stop, Turn
from atoll_sim.trace.timeline import make_result

A, B = Buffer("a", 0x100, 2), Buffer("b", 0x200, 3)


def trace(cycle: int, what: int, operator: int = 0, device: int = 0) -> Event:
    return Event(cycle, EventKind.TRACE, what << 24 | device << 16 | operator)


RECORD = Record(
    stop=Stop.EXIT,
    events=[
        trace(10, 3),
        trace(20, 4),
        trace(30, 1, operator=7, device=1),
        trace(40, 2, operator=7, device=1),
        Event(45, EventKind.RESULT, 5),
        trace(50, 5),
        Event(60, EventKind.EXIT, 3),
    ],
    captures=[Capture(0, 7, "b", b"xyz"), Capture(0, -1, "a", b"ok"), Capture(-1, -1, "cpu", b"s")],
    counts=COUNT.pack([(3, 1, 0, 0, 4, 32, 38), (3, 0, 2, 0, 9, 36, 39)]),
    spans=SPAN.pack([(3, 1, 0, 0x220, 0x228), (3, 1, 0, 0x200, 0x208)]),
    lines=LINE.pack([(21, 1, 1), (25, 1, 0), (38, 0, 1), (47, 1, 1)]),
    heat=HEAT.pack([(0x200, 1, 8, 0), (0x240, 1, 0, 9)]),
    findings=FINDING.pack([(35, 2, 3, 1, 1, 0x400, 8, 6, 0, 8, 1, 0, 0, 0)]),
    findings_total=2,
    text="hi",
    cycles=61,
    wall_seconds=0.5,
)


def test_an_operator_that_broke_off_is_not_in_the_next_run() -> None:
    """A watchdog restarts the chip while operator 7 runs."""
    events = [trace(20, 4), trace(30, 1, operator=7), trace(40, 3), trace(50, 4), trace(60, 5)]
    result = make_result(replace(RECORD, events=events, counts=b"", spans=b""), ("cpu", "npu"))
    assert [each.operators for each in result.phases] == [(), (), (7,), (7,), (), ()]


def test_work_survives_its_files(tmp_path: Path) -> None:
    work = Work(
        turns=(
            Turn(inputs=(A, B), outputs=(A,), snapshots={3: (B,), 4: ()}),
            Turn(inputs=(B,), outputs=(), snapshots={}, states=(A,)),
        ),
        stacks=(A,),
        samples=(b"12345", b"678", b"90123", b""),
        max_cycles=9,
        stall_cycles=8,
        cycle_time=10_000,
    )
    write_work(tmp_path, work)
    assert read_work(tmp_path) == work
    assert [work.turn(sample) for sample in range(3)] == [*work.turns, work.turns[0]]


def test_a_record_survives_its_files(tmp_path: Path) -> None:
    write_record(tmp_path, RECORD)
    read = read_record(tmp_path)
    assert make_result(read, ("cpu", "npu")) == make_result(RECORD, ("cpu", "npu"))


def test_lines_and_heat_have_their_places() -> None:
    wires = (("guard", 2), ("npu", 5), ("dma", 6))
    told = [Interrupt(source=name, core="cpu", line=n, signal="") for name, n in wires]
    result = make_result(RECORD, ("cpu", "npu"), (), told)
    assert [(each.source, each.core, each.number) for each in result.lines or ()] == [
        (name, "cpu", number) for name, number in wires
    ]
    assert [each.pulses for each in result.lines or ()] == [
        ((38, None),),
        ((21, 25), (47, None)),
        (),
    ]
    assert result.heat == ({}, {0x200: (8, 0), 0x240: (0, 9)})
    assert make_result(replace(RECORD, lines=None), ("cpu", "npu"), (), told).lines is None


def test_result_names_phases_masters_and_buffers() -> None:
    result = make_result(RECORD, ("cpu", "npu"))
    assert [(p.sample, p.operators, p.begin, p.end) for p in result.phases] == [
        (None, (), 0, 10),
        (None, (), 10, 20),
        (0, (), 20, 30),
        (0, (7,), 30, 40),
        (0, (), 40, 50),
        (None, (), 50, 61),
    ]
    read, fetched = result.phases[3].touched
    assert (read.master, read.kind, read.accesses, read.transferred) == ("npu", "read", 4, 32)
    assert (read.last, fetched.last) == (38, 39)
    assert read.spans == (range(0x200, 0x208), range(0x220, 0x228))
    assert (fetched.master, fetched.kind, fetched.spans) == ("cpu", "fetch", ())
    assert result.layers == ({7: {"b": b"xyz"}},)
    assert result.outputs == ({"a": b"ok"},)
    assert (result.results, result.exit_status, result.stacks) == ((5,), 3, {"cpu": b"s"})
    assert result.findings_total == 2
    assert result.cycles_per_second == 122
