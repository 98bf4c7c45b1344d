# SPDX-License-Identifier: Apache-2.0
"""Computes the points of a sweep, keeps each, and tells how far it is."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path

import pyarrow as pa

from atoll.description.sweep import PLAN, Sweep
from atoll.diagnostics.progress import tell
from atoll.records import dataclass
from atoll_sweep.answers import Answers
from atoll_sweep.asker import Row
from atoll_sweep.crew import Askers, Crew
from atoll_sweep.question import Function, Question, question_of
from atoll_sweep.results import FIRST, Results, hold, require_folder
from atoll_sweep.search import GENERATION, propose
from atoll_sweep.space import draw
from atoll_sweep.table import schema_of, schema_of_stage, with_stages

SECONDS_OF_A_PART = 5.0
"""Rows are written at least so often."""

_SHARE_TO_TELL = 0.05
"""Of the points, before which nobody knows how long the others take."""


@dataclass
class Keeper:
    """Takes rows, writes them now and then, and tells how many a second there are."""

    results: Results
    question: Question
    total: int
    done: int
    _rows: list[Row] = field(default_factory=list)
    _asked: int = 0
    _begin: float = field(default_factory=time.monotonic)
    _written: float = field(default_factory=time.monotonic)

    def take(self, rows: Sequence[Row]) -> None:
        """Keep rows, and tell of them."""
        self._rows += rows
        self.done += len(rows)
        self._asked += len(rows)
        now = time.monotonic()
        if now - self._written > SECONDS_OF_A_PART:
            self.write()
        rate = self._asked / max(now - self._begin, 1e-3)
        speed = f"{rate:,.0f} a second" if rate >= 1 else f"{1 / rate:,.0f} s a point"
        known = self._asked >= _SHARE_TO_TELL * self.total
        left = max(0, self.total - self.done) / rate + 1 if known else None
        tell(f"{self.done:,} of {self.total:,} points, {speed}", left=left)

    def write(self) -> None:
        """Write what is not written yet."""
        if self._rows:
            self.results.add(self._rows, self.question)
            self._rows = []
        self._written = time.monotonic()


def run(
    sweep: Sweep,
    folder: Path,
    functions: Mapping[str, Function],
    crew: Crew,
    *,
    resume: bool,
) -> pa.Table:
    """Compute all points that are asked for and not there yet, and return the table of all.

    Args:
        sweep: the sweep file.
        folder: of the results.
        functions: objectives beside those of the file, by name.
        crew: who asks the points.
        resume: whether the folder may have results of the same sweep.

    Raises:
        AtollError: the sweep cannot begin, or is interrupted; what it found so far is kept.
    """
    question = question_of(sweep, functions)
    names = [*functions, *(each for each in sweep.model.objectives if ":" in each)]
    results = Results(folder, FIRST, schema_of(sweep, question.document, names))
    require_folder(folder, question, resume=resume)
    objectives = (*sweep.model.objectives, *functions)
    with crew.ready(question) as askers, hold(folder, question):
        with _keeper(results, question, sweep.points) as keeper:
            if sweep.model.search.method in GENERATION:
                _search(sweep, objectives, askers, keeper)
            else:
                _compute(sweep, askers, keeper)
        tables = {FIRST: results.finish()}
        for stage in sweep.stages[1:]:
            count = sweep.model.stages[stage]
            best = Answers(sweep, with_stages(tables, FIRST), objectives).best(
                sweep.points if count == "all" else int(count)
            )
            schema = results.schema if stage == PLAN else schema_of_stage(stage, question.document)
            runs = Results(folder, stage, schema)
            with _keeper(runs, question, len(best)) as keeper:
                for rows in askers.ask([each for each in best if each not in runs.known], stage):
                    keeper.take(rows)
            tables[stage] = runs.finish()
    return with_stages(tables, FIRST)


@contextmanager
def _keeper(results: Results, question: Question, total: int) -> Iterator[Keeper]:
    """Yield what takes rows; whatever ends the block, it writes those that it has."""
    keeper = Keeper(results, question, total, len(results.known))
    try:
        yield keeper
    finally:
        keeper.write()


def _compute(sweep: Sweep, askers: Askers, keeper: Keeper) -> None:
    """Compute all points of a grid, or those that are drawn beforehand."""
    search = sweep.model.search
    points = draw(search.method, sweep.points, sweep.lengths, search.seed)
    known = keeper.results.known
    keeper.total = len(points)
    for rows in askers.ask([point for point in points if point not in known], FIRST):
        keeper.take(rows)


def _search(sweep: Sweep, objectives: Sequence[str], askers: Askers, keeper: Keeper) -> None:
    """Compute what Optuna proposes; points that were asked before are not asked again."""
    known = keeper.results.known
    table = keeper.results.table().to_pylist()
    rows = {row["point"]: row for row in table if row["point"] in known}
    proposals = propose(sweep, objectives)
    points, trials = next(proposals), 0
    with suppress(StopIteration):
        while True:
            for found in askers.ask(sorted(set(points) - set(rows)), FIRST):
                keeper.take(found)
                rows |= {row["point"]: row for row in found}
            trials += len(points)
            keeper.total = keeper.done + max(0, sweep.points - trials)
            points = proposals.send([rows[point] for point in points])
