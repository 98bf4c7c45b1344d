# SPDX-License-Identifier: Apache-2.0
"""The plan that a TFLite file already has for the arena of TFLM, held against the network."""

from collections.abc import Iterator
from dataclasses import replace
from struct import unpack

from tflite.Model import Model

from atoll.diagnostics.errors import ModelError
from atoll.frontend.registry import Source
from atoll.frontend.tflite.load import load_tflite
from atoll.frontend.tflite.metadata import metadata_of
from atoll.frontend.tflite.schema import IDENTIFIER
from atoll.interchange.tflm_arena import ALIGNMENT, ARENA, METADATA, VERSION, arena_problem
from atoll.memory.checker_clashes import Span, clashes
from atoll.records import dataclass

_HEADER = 3
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPlan:
    """A plan in the metadata of a network.

    Attributes:
        used: bytes of the arena from its begin to the end of the last tensor that is placed; None
            if the plan cannot be read.
        left: activations that TFLM places itself.
        faults: what is wrong with the plan, which TFLM does not check.
    """

    used: int | None = None
    left: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def __str__(self) -> str:
        what = "the file has a plan for TFLM"
        if self.used is not None:
            what += f", {self.used:,} B of its arena"
        if self.left:
            what += (
                f" and {len(self.left)} tensor{'s' * (len(self.left) > 1)} that TFLM places itself"
            )
        if not self.faults:
            return f"{what}; no two tensors overlap that are needed at once"
        more = f"; and {len(self.faults) - _SHOWN} more" * (len(self.faults) > _SHOWN)
        return f"{what}, which is wrong: {'; '.join(self.faults[:_SHOWN])}{more}"


def given_plan(source: Source) -> GivenPlan | None:
    """Return the plan that the file of a network, which could be read, has for TFLM, if any."""
    if source.data[4:8] != IDENTIFIER:
        return None
    try:
        content = metadata_of(source.data, METADATA)
    except ModelError as damaged:
        return GivenPlan(faults=(f"its metadata cannot be read: {damaged.faults[0].message}",))
    return None if content is None else _hold(source, content)


def _hold(source: Source, content: bytes) -> GivenPlan:
    words = unpack(f"<{len(content) // 4}i", content[: len(content) // 4 * 4])
    tensors = Model.GetRootAs(source.data, 0).Subgraphs(0).TensorsLength()
    if len(content) % 4 or len(words) < _HEADER or words[0] != VERSION:
        return GivenPlan(faults=(f"'{METADATA}' does not begin with version {VERSION}",))
    if words[2] != tensors or len(words) - _HEADER < tensors:
        what = f"it has {min(words[2], len(words) - _HEADER)} offsets for {tensors} tensors"
        return GivenPlan(faults=(what,))
    graph = load_tflite(source.path)
    offsets = words[_HEADER:]
    problem = arena_problem(graph)
    at = {each.name: offsets[graph.tensor(each.name).index] for each in problem.buffers}
    placed = [
        replace(each, size=graph.tensor(each.name).size)
        for each in problem.buffers
        if at[each.name] >= 0
    ]
    spans = {b.name: Span(at[b.name], at[b.name] + b.size, b.name, ARENA) for b in placed}
    problem = replace(problem, buffers=tuple(placed))
    return GivenPlan(
        used=max((span.end for span in spans.values()), default=0),
        left=tuple(name for name, offset in at.items() if offset == -1),
        faults=(*_find_misplaced(at), *(fault.message for fault in clashes(problem, spans))),
    )


def _find_misplaced(at: dict[str, int]) -> Iterator[str]:
    for name, offset in at.items():
        if offset < -1 or (offset >= 0 and offset % ALIGNMENT):
            yield f"'{name}' is at {offset}, and may be at 0 or a multiple of {ALIGNMENT}"
