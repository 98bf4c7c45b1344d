# SPDX-License-Identifier: Apache-2.0
"""Hand a memory plan to others: a TFLite file that carries the plan of its tensors."""

from pathlib import Path

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.checks import place
from atoll.frontend.tflite.flow import FLOW
from atoll.frontend.tflite.load import load_tflite
from atoll.frontend.tflite.metadata import with_metadata
from atoll.frontend.tflite.reader import read_file
from atoll.interchange.tflm_arena import ARENA, METADATA, arena_problem, offline_allocation
from atoll.memory.problem import MemoryPlan
from atoll.memory.solve import plan_memory
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TflmFile:
    """A TFLite file for TensorFlow Lite for Microcontrollers.

    Attributes:
        data: the file.
        plan: where its tensors are in the arena.
    """

    data: bytes
    plan: MemoryPlan

    @property
    def summary(self) -> str:
        """What the arena comes to."""
        use = self.plan.use[ARENA]
        proof = "optimal" if use.gap == 0 else f"at least {use.bound:,} B are needed"
        return f"the tensors take {use.used:,} B of the arena, {proof}"


def tflm_file(model: Path) -> TflmFile:
    """Return a copy of a network with a plan for TFLM in its metadata.

    TFLM has one arena and its own kernels. So the plan is of the network alone: any chip, and no
    result over its operand.

    Raises:
        ModelError: the file is damaged or holds what Atoll does not support; E055, it runs other
            subgraphs, whose tensors such a plan does not have.
    """
    graph, file = load_tflite(model), read_file(model)
    if flow := next((op for op in file.operators if op.code in FLOW), None):
        message = f"{model}: {place(flow)}: runs other subgraphs, of which TFLM takes no plan"
        raise ModelError("E055", message, remedy="let TFLM plan the network, without this export")
    plan = plan_memory(arena_problem(graph))
    content = offline_allocation(graph, plan, len(file.tensors))
    return TflmFile(data=with_metadata(model.read_bytes(), METADATA, content), plan=plan)
