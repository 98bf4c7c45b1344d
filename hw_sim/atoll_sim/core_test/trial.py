# SPDX-License-Identifier: Apache-2.0
"""What goes to the bench and what comes back, as files in its folder; and the verdict."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from atoll.records import dataclass
from atoll_sim.core_test.expected import Access, probe_accesses, results
from atoll_sim.core_test.layout import SHORT_WAIT, Part

TASK, RUNS = "task.json", "runs.json"
SLACK = 1500
"""Cycles that a core may take beyond a wait, for instructions around it on a slow bus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What the bench runs.

    Attributes:
        beat: bytes of a beat.
        memories: contents by origin.
        seed: of all that is random.
        most_cycles: a part takes no longer.
    """

    beat: int
    memories: Mapping[int, bytes]
    seed: int
    most_cycles: int

    def write(self, folder: Path) -> None:
        """Write it for the bench."""
        memories = {str(origin): content.hex() for origin, content in self.memories.items()}
        text = json.dumps({**asdict(self), "memories": memories})
        (folder / TASK).write_text(text, encoding="utf-8")

    @staticmethod
    def read(folder: Path) -> "Task":
        """Read what `write` wrote."""
        given = json.loads((folder / TASK).read_text(encoding="utf-8"))
        memories = {int(key): bytes.fromhex(value) for key, value in given["memories"].items()}
        return Task(**{**given, "memories": memories})


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRun:
    """How one part went; see `Peer`.

    Attributes:
        again: the core was reset in the midst of the part.
        trapped: the core stood still at the end.
    """

    part: Part
    pace: str
    again: bool
    faults: tuple[str, ...]
    fetched: int | None
    accesses: tuple[Access, ...]
    results: tuple[int, ...]
    waited: tuple[int, ...]
    left: bool
    trapped: bool
    cycles: int

    @property
    def name(self) -> str:
        """Name the part in words."""
        words = self.part.name.lower().replace("_", " ")
        return f"{words}, reset in between" if self.again else words

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "part": int(self.part)}

    @staticmethod
    def of(given: Mapping[str, Any]) -> "PartRun":
        """Return what `as_json` made plain."""
        accesses = tuple(Access(**access) for access in given["accesses"])
        lists = {name: tuple(given[name]) for name in ("faults", "results", "waited")}
        return PartRun(**{**given, **lists, "part": Part(given["part"]), "accesses": accesses})

    @staticmethod
    def write_all(folder: Path, runs: Sequence["PartRun"]) -> None:
        """Write what the bench found."""
        text = json.dumps([run.as_json() for run in runs])
        (folder / RUNS).write_text(text, encoding="utf-8")

    @staticmethod
    def read_all(folder: Path) -> tuple["PartRun", ...]:
        """Read what `write_all` wrote, nothing if the bench wrote nothing."""
        try:
            given = json.loads((folder / RUNS).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return ()
        return tuple(map(PartRun.of, given))


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What the description of a core promises.

    Attributes:
        reset: address of the first instruction.
        lines: those that a program may wait for.
        traps: a failed load or store is an exception.
    """

    reset: int
    lines: Sequence[int]
    traps: bool


def faults_of(run: PartRun, promise: Promise) -> Iterator[str]:
    """Yield what is wrong with a run; nothing if the core does as it must."""
    yield from run.faults[:3]
    if run.fetched is None:
        yield "the core never asked for an instruction"
        return
    if not run.fetched <= promise.reset < run.fetched + 4:
        yield f"its first instruction is at {run.fetched:#010x}, not at {promise.reset:#010x}"
    failing = run.part in (Part.FAILED_LOAD, Part.FAILED_STORE)
    standing = run.part in (Part.FAILED_FETCH, Part.ILLEGAL_INSTRUCTION)
    if standing or (failing and promise.traps):
        if not run.trapped:
            yield "the core goes on" if run.left or run.results else "trap_o does not rise"
        if run.results:
            yield "instructions after the one that fails had effects"
        return
    if run.trapped:
        yield "the core stands still"
    elif not run.left:
        yield f"the program did not end within {run.cycles} cycles"
    wanted = tuple(results(run.part, promise.lines))
    yield from _compare("result", tuple(map(hex, run.results)), tuple(map(hex, wanted)))
    if run.part is Part.LOADS_AND_STORES:
        yield from _compare(
            "access", tuple(map(str, run.accesses)), tuple(map(str, probe_accesses()))
        )
    if run.part is Part.INTERRUPTS and len(run.waited) == len(wanted):
        for cycles in run.waited[-2:]:
            if not SHORT_WAIT <= cycles <= SHORT_WAIT + SLACK:
                yield f"a wait of {SHORT_WAIT} cycles for a line that does not rise took {cycles}"


def _compare(what: str, got: Sequence[str], wanted: Sequence[str]) -> Iterator[str]:
    for number, (one, other) in enumerate(zip(got, wanted, strict=False)):
        if one != other:
            yield f"{what} {number} is {one}, not {other}"
            return
    if len(got) != len(wanted):
        yield f"there are {len(got)} of {len(wanted)}: {what} {min(len(got), len(wanted))}"
