# SPDX-License-Identifier: Apache-2.0
"""Let faults befall a chip that runs a network, and judge how each of them ends."""

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import TypeAlias

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import Sample
from atoll.diagnostics.errors import SimulationError
from atoll.diagnostics.progress import Progress, silent
from atoll.driver.pipeline import Compiled
from atoll.ops import reference
from atoll.records import dataclass
from atoll.utils.children import start, too_long
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.model import build_model
from atoll_sim.campaign import trials
from atoll_sim.chip.memory_map import write_map
from atoll_sim.chip.sources import read_folders
from atoll_sim.faults.draw import Draw
from atoll_sim.faults.kinds import Fault
from atoll_sim.faults.task import IMAGE, TASK, Answer, End, read_answer, write_task
from atoll_sim.model.process import LOG, MAX_SECONDS, reading_from, unfinished_error
from atoll_sim.simulate.firmware import write_image

FIRST_LIMIT = 10**10
"""Cycles that the run without a fault may take."""
DRAWS = 8
"""Of one kind, before the next kind takes its turn."""
LIMIT = 16
"""Cycles of a run at most, in lengths of the run without a fault."""
DEVICE_PATIENCE, WATCHDOG_PATIENCE, SLACK = 2, 5, 4096
"""Time-outs of the firmware, in lengths of the longest operator without a fault; cycles more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What came of a fault.

    Attributes:
        right: the run returned 0 and the outputs are those of the reference.
        recovered: so did a run after it.
    """

    answer: Answer
    right: bool
    recovered: bool

    @property
    def silent(self) -> bool:
        """The run returned 0 with wrong outputs."""
        return self.answer.end is End.RETURNED and self.answer.status == 0 and not self.right


Trial: TypeAlias = trials.Trial[Fault, Ending]
Campaign: TypeAlias = trials.Campaign[Fault, Ending, Answer]
"""Its baseline is the run without a fault."""


def to_trial(fault: Fault, ending: Ending) -> Trial:
    """Hold it against the chip if it hangs, or stays so, or is silently wrong and could know."""
    answer = ending.answer
    end = f"{answer.end}, status {answer.status}"
    wrong = (
        answer.end is End.HUNG or not ending.recovered or (ending.silent and fault.kind.detectable)
    )
    return Trial(
        kind=fault.kind,
        subject=fault,
        result=ending,
        end=f"{end}, {'right' if ending.right else 'wrong'}",
        wrong=(f"{fault}: {end}",) if wrong else (),
    )


def run_campaign(
    compiled: Compiled,
    sample: Sample,
    count: int,
    seed: int,
    *,
    progress: Progress = silent,
    toolchain: str | None = None,
    first: int = 0,
) -> Campaign:
    """Run `count` faults drawn from `seed`, the kinds in turn.

    Raises:
        SimulationError: the network does not run right without a fault, or the model broke off.
        ToolchainError: a tool is missing or failed.
    """
    model = build_model(compiled.soc, faults=True, progress=progress)
    expected = reference.run(compiled.graph, sample, compiled.soc)
    right = b"".join(expected[name].tobytes() for name in compiled.graph.outputs)
    bench = _Bench(compiled, sample, model, right, toolchain)
    progress("running without a fault")
    clean = bench.measure()
    makers = Draw(compiled, clean.cycles, Random(seed)).makers(first)
    return Campaign(
        soc=compiled.soc.name,
        model=compiled.graph.name,
        seed=seed,
        baseline=clean,
        trials=trials.follow(
            take_effective(makers, count, lambda drawn: bench.run(drawn, clean)),
            count,
            lambda ended: f"fault {len(ended)} of {count}: {ended[-1].kind}",
            progress,
        ),
    )


def take_effective(
    makers: Iterator[Callable[[], Fault]],
    count: int,
    run: Callable[[Sequence[Fault]], Iterator[Trial]],
) -> Iterator[Trial]:
    """Yield the first `count` trials whose faults met an access.

    A fault that met none is drawn anew: a few times of its kind, so that each kind which the
    network can meet has its share, then of the kind whose turn it is.
    """
    wanted = [(make, DRAWS) for make in islice(makers, count)]
    while wanted:
        missed = []
        for (make, draws), trial in zip(wanted, run([make() for make, _ in wanted]), strict=True):
            if trial.result.answer.befell:
                yield trial
            else:
                missed.append((make, draws - 1) if draws > 1 else (next(makers), DRAWS))
        wanted = missed


@dataclass(frozen=True, slots=True)
class _Bench:
    """Runs tasks on one model.

    Attributes:
        right: bytes of the outputs.
    """

    compiled: Compiled
    sample: Sample
    model: Path
    right: bytes
    toolchain: str | None

    def measure(self) -> Answer:
        """Run without a fault."""
        (answer,) = self._answers((), FIRST_LIMIT, ())
        if self._good(answer.end, answer.status, answer.outputs):
            return answer
        raise SimulationError(
            "E088",
            f"'{self.compiled.graph.name}' does not run right on '{self.compiled.soc.name}' even"
            f" without a fault: it {answer.end} with status {answer.status}",
            remedy="look at the report of `atoll run` first",
        )

    def run(self, faults: Sequence[Fault], clean: Answer) -> Iterator[Trial]:
        """Yield what comes of each of `faults`, with time-outs that fit the run without any."""
        device = DEVICE_PATIENCE * clean.longest + SLACK
        definitions = (
            f"ATOLL_NPU_TIMEOUT=UINT32_C({device})",
            f"ATOLL_CORE_TIMEOUT=UINT32_C({device})",
            f"ATOLL_WATCHDOG_CYCLES=UINT32_C({WATCHDOG_PATIENCE * clean.longest + SLACK})",
        )
        answers = self._answers(faults, LIMIT * clean.cycles + SLACK, definitions)
        for fault, answer in zip(faults, answers, strict=True):
            ending = Ending(
                answer=answer,
                right=self._good(answer.end, answer.status, answer.outputs),
                recovered=self._good(answer.again, answer.again_status, answer.again_outputs),
            )
            yield to_trial(fault, ending)

    def _good(self, end: End, status: int, outputs: bytes) -> bool:
        return end is End.RETURNED and status == 0 and outputs == self.right

    def _answers(
        self, faults: Sequence[Fault], limit: int, definitions: tuple[str, ...]
    ) -> Iterator[Answer]:
        compiled = self.compiled
        with temporary_folder() as folder:
            out = folder / "build"
            tree = build((compiled,), out, toolchain=self.toolchain, definitions=definitions)
            write_image(tree.firmware.elves, compiled.soc, folder / IMAGE)
            write_task(folder, compiled, self.sample, faults, limit)
            command = (str(self.model), TASK, *write_map(compiled.soc, folder))
            with (
                (folder / LOG).open("w") as log,
                start(
                    command,
                    folder=folder,
                    environment={**os.environ, **reading_from(read_folders(compiled.soc))},
                    stderr=log,
                    seconds=MAX_SECONDS,
                ) as child,
            ):
                for line in child.stdout:
                    if answer := read_answer(line):
                        yield answer
                    else:
                        log.write(line)
                status = child.wait()
            if child.over:
                raise too_long(command, MAX_SECONDS, folder)
            if status:
                raise unfinished_error(folder, status, compiled.soc)
