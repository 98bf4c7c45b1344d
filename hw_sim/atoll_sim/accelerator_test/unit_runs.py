# SPDX-License-Identifier: Apache-2.0
"""What goes to the bench of a function unit and what comes back, as files in its folder."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from atoll.records import dataclass

TASK, RUNS = "task.json", "runs.json"
PACES = {"none": (1.0, 1.0), "some": (0.6, 0.6), "many": (0.15, 0.1)}
"""How likely the core asks in a cycle, and takes an answer."""


@dataclass(frozen=True, slots=True)
class Call:
    """An instruction with operands.

    Attributes:
        name: of the instruction.
        function: its number at the port.
        a, b: the operands.
        right: the result by the model.
    """

    name: str
    function: int
    a: int
    b: int
    right: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """What is done from one reset to the next.

    Attributes:
        name: of the one instruction that is called; "" if several are.
        pace: see `PACES`.
        calls: in their order.
        cut: calls after which the unit is reset once, before all are made anew; 0 if it is not.
        seed: of the waits.
    """

    name: str
    pace: str
    calls: tuple[Call, ...]
    cut: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a segment.

    Attributes:
        results: of the calls.
        cycles: from each request to its answer.
        faults: what the port did wrong.
    """

    results: tuple[int, ...]
    cycles: tuple[int, ...]
    faults: tuple[str, ...]


def write_task(folder: Path, segments: Sequence[Segment]) -> None:
    """Write what the bench does."""
    (folder / TASK).write_text(json.dumps([asdict(each) for each in segments]))


def read_task(folder: Path) -> tuple[Segment, ...]:
    """Read what `write_task` wrote."""
    given = json.loads((folder / TASK).read_text())
    return tuple(
        Segment(**{**each, "calls": tuple(Call(**call) for call in each["calls"])})
        for each in given
    )


def write_runs(folder: Path, answers: Sequence[Answer]) -> None:
    """Write what the bench found."""
    (folder / RUNS).write_text(json.dumps([asdict(each) for each in answers]))


def read_runs(folder: Path) -> tuple[Answer, ...]:
    """Read what `write_runs` wrote, nothing if the bench wrote nothing."""
    try:
        given = json.loads((folder / RUNS).read_text())
    except FileNotFoundError:
        return ()
    return tuple(Answer(**{name: tuple(value) for name, value in each.items()}) for each in given)
