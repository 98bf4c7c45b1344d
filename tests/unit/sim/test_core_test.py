# SPDX-License-Identifier: Apache-2.0
"""The peer of a core's adapter sees what is wrong on the bus; the verdict sees what is left out."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from atoll_sim.core_test.expected import Access, probe_accesses, results
from atoll_sim.core_test.layout import CODE, DATA, MEMORY, PEER, PROBE, REGISTERS, Part
from atoll_sim.core_test.peer import PACES, Pace, Peer, Request
from atoll_sim.core_test.trial import PartRun, Promise, Task, faults_of

LINES = (2, 3, 4)
PROMISE = Promise(reset=CODE + 0x80, lines=LINES, traps=True)


def part_run(part: Part) -> PartRun:
    """Return how a right core does a part."""
    stands = part not in (Part.LOADS_AND_STORES, Part.INTERRUPTS)
    return PartRun(
        part=part,
        pace="none",
        again=False,
        faults=(),
        fetched=CODE + 0x80,
        accesses=tuple(probe_accesses()) if part is Part.LOADS_AND_STORES else (),
        results=() if stands else tuple(results(part, LINES)),
        waited=(50, 50, 50, 600, 600) if part is Part.INTERRUPTS else (),
        left=not stands,
        trapped=stands,
        cycles=5000,
    )


@pytest.mark.parametrize("part", Part)
def test_a_right_core(part: Part) -> None:
    assert tuple(faults_of(part_run(part), PROMISE)) == ()


@pytest.mark.parametrize(
    ("part", "changes", "said"),
    [
        (Part.INTERRUPTS, {"fetched": None}, "the core never asked for an instruction"),
        (Part.INTERRUPTS, {"fetched": CODE}, "its first instruction is at 0x80100000, not at"),
        (Part.INTERRUPTS, {"faults": ("cycle 3: x",)}, "cycle 3: x"),
        (Part.INTERRUPTS, {"trapped": True}, "the core stands still"),
        (Part.INTERRUPTS, {"left": False}, "the program did not end within 5000 cycles"),
        (Part.INTERRUPTS, {"results": (1, 1, 0, 0, 0)}, "result 2 is 0x0, not 0x1"),
        (Part.INTERRUPTS, {"results": (1, 1, 1, 0)}, "there are 4 of 5: result 4"),
        (Part.INTERRUPTS, {"waited": (50, 50, 50, 600, 499)}, "that does not rise took 499"),
        (Part.INTERRUPTS, {"waited": (50, 50, 50, 2001, 600)}, "that does not rise took 2001"),
        (Part.LOADS_AND_STORES, {"accesses": ()}, "there are 0 of 84: access 0"),
        (
            Part.LOADS_AND_STORES,
            {"accesses": (Access(PROBE, 4), *tuple(probe_accesses())[1:])},
            "access 0 is load, 4 B at 0xc0001000, not store of 0x81, 1 B at 0xc0001000",
        ),
        (Part.FAILED_LOAD, {"trapped": False, "left": True}, "the core goes on"),
        (Part.FAILED_STORE, {"trapped": False}, "trap_o does not rise"),
        (Part.ILLEGAL_INSTRUCTION, {"results": (0,)}, "after the one that fails had effects"),
    ],
)
def test_what_is_wrong_is_named(part: Part, changes: dict[str, object], said: str) -> None:
    (fault,) = faults_of(replace(part_run(part), **changes), PROMISE)  # type: ignore[arg-type]
    assert said in fault


def test_a_core_that_does_not_trap_goes_on_with_zero() -> None:
    patient = replace(PROMISE, traps=False)
    on = replace(part_run(Part.FAILED_LOAD), trapped=False, left=True, results=(0,))
    assert tuple(faults_of(on, patient)) == ()
    assert [*faults_of(replace(on, results=(7,)), patient)] == ["result 0 is 0x7, not 0x0"]
    assert [*faults_of(part_run(Part.FAILED_LOAD), patient)] == [
        "the core stands still",
        "there are 0 of 1: result 0",
    ]


def test_runs_and_task_survive_their_files(tmp_path: Path) -> None:
    assert PartRun.read_all(tmp_path) == ()
    made = tuple(map(part_run, Part))
    PartRun.write_all(tmp_path, made)
    assert PartRun.read_all(tmp_path) == made
    task = Task(beat=8, memories={CODE: b"abc"}, seed=4, most_cycles=9)
    task.write(tmp_path)
    assert Task.read(tmp_path) == task


def peer(pace: Pace = PACES["none"]) -> Peer:
    """Return a peer with empty memories."""
    memories = {CODE: bytearray(MEMORY), DATA: bytearray(MEMORY)}
    return Peer(part=1, beat=8, memories=memories, pace=pace, chance=random.Random(1))


def ask(peer: Peer, request: Request | None) -> tuple[int, bool] | None:
    """Let a cycle pass; return the answer that it had."""
    ready, answer = peer.begin()
    peer.end(request, ready)
    return answer


def read(address: int, enabled: int, *, fetch: bool = False) -> Request:
    return Request(write=False, address=address, enabled=enabled, data=0, fetch=fetch)


def write(address: int, enabled: int, data: int) -> Request:
    return Request(write=True, address=address, enabled=enabled, data=data, fetch=False)


def test_accesses_are_answered_in_order_a_cycle_later() -> None:
    one = peer()
    assert ask(one, write(DATA + 8, 0xF0, 0x1122_3344_0000_0000)) is None
    (stored, loaded) = (ask(one, read(DATA + 8, 0x30)), ask(one, None))
    assert stored is not None
    assert loaded is not None
    assert (stored[1], loaded[0] >> 32 & 0xFFFF, loaded[1]) == (False, 0x3344, False)
    assert ask(one, None) is None
    assert one.faults == []


def test_the_probe_and_the_first_fetch_are_written_down() -> None:
    one = peer()
    for request in (
        read(CODE + 0x80, 0x0F, fetch=True),
        read(CODE + 0x88, 0x0F, fetch=True),
        write(PROBE + 8, 0x0C, 0xBEEF_0000),
        read(PROBE + 8, 0x08),
    ):
        ask(one, request)
    assert one.fetched == CODE + 0x80
    assert one.accesses == [Access(PROBE + 10, 2, 0xBEEF), Access(PROBE + 11, 1)]


def test_a_line_rises_and_falls_with_the_result() -> None:
    one = peer()
    ask(one, write(PEER + 8, 0x0F, 5))
    waited = 0
    while not one.lines and waited < 100:
        ask(one, None)
        waited += 1
    assert (one.lines, waited) == (1 << 5, 40)
    ask(one, write(PEER, 0xF0, 7 << 32))
    assert (one.lines, one.results, one.waited) == (0, [7], [41])
    ask(one, write(PEER + 8, 0xF0, 0))
    assert one.left
    assert REGISTERS["LEAVE"] == 12


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        ([read(DATA + 4, 1)], "names no bytes of a beat"),
        ([read(DATA, 0)], "names no bytes of a beat"),
        ([read(DATA, 0b101)], "names bytes with gaps"),
        ([read(DATA, 0xFF)], "names bytes with gaps"),
        ([read(0x7000_0000, 1)], "where nothing is"),
        ([read(DATA, 1), read(DATA, 2)], "was not taken yet, but became"),
        ([read(DATA, 1), None], "was not taken yet, but became none"),
    ],
)
def test_faults_on_the_bus(requests: list[Request | None], said: str) -> None:
    never = Pace(0.0, (1, 1)) if len(requests) > 1 else PACES["none"]
    one = peer(never)
    for request in requests:
        ask(one, request)
    (fault,) = one.faults
    assert said in fault


def test_what_is_broken_fails() -> None:
    one = peer()
    ask(one, read(0xC000_2000, 0xF))
    assert ask(one, None) == (0, True)
    assert one.faults == []
