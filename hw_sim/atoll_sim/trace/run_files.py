# SPDX-License-Identifier: Apache-2.0
"""The folder through which a simulation and the test bench inside its process talk.

``request.json`` and ``samples.bin`` go in; ``result.json``, ``captures.bin``, and the records of
``access.*.bin`` come out. The bytes of buffers lie one after another in the binary files.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from atoll.records import dataclass
from atoll_sim.model.monitors import Event
from atoll_sim.protocol.records import EventKind
from atoll_sim.trace.simulation import Buffer, Stop, Turn
from atoll_sim.trace.so_far import SoFar

IMAGE = "image.bin"
WAVES, RECORDED = "waves.txt", "recorded.txt"
REQUEST, SAMPLES = "request.json", "samples.bin"
SHADOW = "shadow.bin"
PACE = "pace.txt"
RESULT, CAPTURES = "result.json", "captures.bin"
RECORDED_KINDS = ("counts", "spans", "lines", "occasions", "heat", "findings")
RECORDS = {name: f"access.{name}.bin" for name in RECORDED_KINDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What the bench has to do; see `SimRequest`.

    Attributes:
        turns: sample k is for turn k modulo their number.
        samples: for each sample the bytes of the inputs, one after another.
        stacks: read at the end, by name; and what a trap leaves behind.
        cycle_time: picoseconds of a clock cycle.
    """

    turns: tuple[Turn, ...]
    stacks: tuple[Buffer, ...]
    samples: tuple[bytes, ...]
    max_cycles: int
    stall_cycles: int
    cycle_time: int

    def turn(self, sample: int) -> Turn:
        """Return whose turn it is."""
        return self.turns[sample % len(self.turns)]


@dataclass(frozen=True, slots=True)
class Capture:
    """Bytes that the bench read.

    Attributes:
        run: number of the run; -1 at the end of the simulation.
        operator: whose end it was, or -1: the end of the run.
    """

    run: int
    operator: int
    name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What the bench saw; see `monitors` for counts to heat, `Shadow` for findings.

    `lines` is None where nobody sees interrupt lines.
    """

    stop: Stop
    events: Sequence[Event]
    captures: Sequence[Capture]
    counts: bytes
    spans: bytes
    lines: bytes | None
    heat: bytes
    findings: bytes
    occasions: bytes = b""
    findings_total: int
    text: str
    cycles: int
    wall_seconds: float


def write_work(folder: Path, work: Work) -> None:
    """Write the bench's task."""
    plain = asdict(work)
    samples = plain.pop("samples")
    sizes = [len(sample) for sample in samples]
    (folder / REQUEST).write_text(json.dumps(plain | {"samples": sizes}, indent=1))
    (folder / SAMPLES).write_bytes(b"".join(samples))


def read_work(folder: Path) -> Work:
    """Read what `write_work` wrote."""
    plain = json.loads((folder / REQUEST).read_text())
    ends = tuple(accumulate(plain.pop("samples"), initial=0))
    data = (folder / SAMPLES).read_bytes()
    return Work(
        turns=tuple(map(_turn, plain.pop("turns"))),
        stacks=_buffers(plain.pop("stacks")),
        samples=tuple(data[begin:end] for begin, end in pairwise(ends)),
        **plain,
    )


def _turn(plain: Mapping[str, Any]) -> Turn:
    return Turn(
        inputs=_buffers(plain["inputs"]),
        outputs=_buffers(plain["outputs"]),
        snapshots={int(key): _buffers(rows) for key, rows in plain["snapshots"].items()},
        states=_buffers(plain["states"]),
    )


def _buffers(rows: Sequence[Mapping[str, Any]]) -> tuple[Buffer, ...]:
    return tuple(Buffer(**row) for row in rows)


def write_pace(folder: Path, so_far: SoFar) -> None:
    """Say how far a run is."""
    (folder / "pace.new").write_text(json.dumps(so_far.as_json()))
    (folder / "pace.new").replace(folder / PACE)


def read_pace(folder: Path) -> SoFar | None:
    """Read what `write_pace` wrote last, if it did."""
    try:
        return SoFar.of_json(json.loads((folder / PACE).read_text()))
    except (OSError, ValueError):
        return None


def looking(folder: Path, watch: Callable[[SoFar], None]) -> Callable[[], None]:
    """Return what tells, whenever it is called, how far the run in `folder` is."""

    def look() -> None:
        if so_far := read_pace(folder):
            watch(so_far)

    return look


def write_record(folder: Path, record: Record) -> None:
    """Write what the bench saw."""
    plain = {
        "stop": record.stop,
        "events": [[event.cycle, event.kind, event.value] for event in record.events],
        "captures": [[c.run, c.operator, c.name, len(c.data)] for c in record.captures],
        "findings_total": record.findings_total,
        "text": record.text,
        "cycles": record.cycles,
        "wall_seconds": record.wall_seconds,
    }
    (folder / CAPTURES).write_bytes(b"".join(capture.data for capture in record.captures))
    for name, file in RECORDS.items():
        (folder / file).write_bytes(getattr(record, name) or b"")
    (folder / RESULT).write_text(json.dumps(plain, indent=1))


def read_record(folder: Path) -> Record:
    """Read what `write_record` wrote."""
    plain = json.loads((folder / RESULT).read_text())
    plain |= {name: (folder / file).read_bytes() for name, file in RECORDS.items()}
    data, at = (folder / CAPTURES).read_bytes(), 0
    captures = []
    for run, operator, name, size in plain.pop("captures"):
        captures.append(Capture(run, operator, name, data[at : at + size]))
        at += size
    events = [Event(cycle, EventKind(kind), value) for cycle, kind, value in plain.pop("events")]
    return Record(stop=Stop(plain.pop("stop")), events=events, captures=captures, **plain)
