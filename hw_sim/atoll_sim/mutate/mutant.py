# SPDX-License-Identifier: Apache-2.0
"""A planted fault, and the right build that it is planted in. Plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from atoll.artifacts.samples import Sample
from atoll.driver.pipeline import Compiled, with_plan
from atoll.ir.tir import Step
from atoll.memory.build_problem import with_parts
from atoll.memory.problem import MemoryPlan, Placement
from atoll.records import dataclass
from atoll_sim.chip.memory_map import Windows
from atoll_sim.protocol.records import AccessKind
from atoll_sim.simulate.firmware import Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """A build without a fault, and what its run did.

    Attributes:
        executable: the model of its chip.
        segments: all that the image loads.
        touched: addresses of memory by device and kind of access, each in order.
        in_runs: those of them that are touched between a run's begin and its end.
        copied: spans of the image that the start-up code copies, and where to.
        data: bytes of its data region that the image of each core takes.
        code: what the code regions of cores must hold that start-up code fills.
        stack: bytes of the host's stack that the run used.
        cycles: that the run took.
    """

    compiled: Compiled
    executable: Path
    segments: tuple[Segment, ...]
    sample: Sample
    touched: Mapping[tuple[str, AccessKind], Sequence[range]]
    in_runs: Mapping[tuple[str, AccessKind], Sequence[range]]
    copied: tuple[tuple[range, int], ...]
    data: Mapping[str, int]
    stack: int
    cycles: int
    code: Mapping[str, bytes] = field(default_factory=dict)

    def mutant(self, subject: str, sentence: str) -> "Mutant":
        """Return a mutant of this build in which nothing is wrong yet."""
        built = self.compiled
        return Mutant(subject=subject, sentence=sentence, built=built, judged=built)

    def with_steps(self, subject: str, sentence: str, steps: Sequence[Step]) -> "Mutant":
        """Return a mutant with other steps on the same plan, judged by the right contract."""
        module = self.compiled.module
        wrong = replace(module, entry=replace(module.entry, steps=tuple(steps)))
        return replace(self.mutant(subject, sentence), built=replace(self.compiled, module=wrong))

    def with_step(self, index: int, step: Step, subject: str, sentence: str) -> "Mutant":
        """Return a mutant with another step in the place of one."""
        steps = self.compiled.module.entry.steps
        return self.with_steps(subject, sentence, (*steps[:index], step, *steps[index + 1 :]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One planted fault.

    Attributes:
        subject: the buffer, operator, command list, section or device that is wrong.
        sentence: what was done to it.
        built: the program that is compiled and linked.
        judged: whose contract, inputs and results hold.
        script: texts of the host's linker script, and what replaces each.
        sources: names of files of the BSP, texts of each, and what replaces them.
        image: what is loaded instead of a build of `built`.
        windows: of the firewalls, that are wrong.
        swapped: numbers of two neighbouring steps of the right program that changed places.
    """

    kind: str = ""
    subject: str
    sentence: str
    built: Compiled
    judged: Compiled
    script: tuple[tuple[str, str], ...] = ()
    sources: tuple[tuple[str, str, str], ...] = ()
    image: tuple[Segment, ...] | None = None
    windows: Windows = field(default_factory=dict)
    swapped: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.sentence}"

    def edit(self, script: str) -> str:
        """Return the host's linker script with the fault in it."""
        for right, wrong in self.script:
            assert right in script, right
            script = script.replace(right, wrong)
        return script

    def edit_source(self, name: str, text: str) -> str:
        """Return a file of the BSP with the fault in it."""
        for right, wrong in ((right, wrong) for file, right, wrong in self.sources if file == name):
            assert right in text, right
            text = text.replace(right, wrong)
        return text


def move_buffers(compiled: Compiled, placements: Sequence[Placement]) -> Compiled:
    """Return the program with some buffers elsewhere; commands and contract follow the plan.

    Parts move with their buffers unless they are among what is elsewhere.
    """
    moved = with_parts(replace_placements(compiled.plan, placements), compiled.module.entry)
    return with_plan(compiled, replace_placements(moved, placements))


def replace_placements(plan: MemoryPlan, placements: Sequence[Placement]) -> MemoryPlan:
    """Return `plan` with other places and the bytes used that follow from them, unchecked."""
    places = {**plan.placements, **{each.buffer: each for each in placements}}
    ends = dict.fromkeys(plan.use, 0)
    for buffer in plan.problem.buffers:
        place = places[buffer.name]
        ends[place.pool] = max(ends[place.pool], place.offset + buffer.size)
    use = {pool: replace(each, used=ends[pool]) for pool, each in plan.use.items()}
    return replace(plan, placements=places, use=use)
