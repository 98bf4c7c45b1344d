# SPDX-License-Identifier: Apache-2.0
"""ETHOS_U: a subgraph that Vela compiled, which an Ethos-U runs as one."""

from collections.abc import Mapping, Sequence

import numpy as np

from atoll.diagnostics.errors import ModelError
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Lowered
from atoll.ops import reference
from atoll.ops.kind import Array, OperatorKind
from atoll.ops.registry import kind_of

STREAM, WEIGHTS, FIRST_INPUT = 0, 1, 2
"""Places among the inputs: Vela's payload, its constants, the activations from there on."""

SCRATCH_FILL = 0x5A
"""What every byte of the scratch counts as afterwards: nobody may expect anything of it."""


class EthosU(OperatorKind):
    """The operators of `Operator.body`, with Vela's commands and constants.

    Inputs are the payload, the constants, then the activations; outputs are the activations, then
    the scratch. The activations are those of the body in their order, under names of their own.
    `atoll.vela` makes it, no model file holds it, and no core runs it.
    """

    on_cores = False
    unproven = "cycles are Vela's estimate; bytes are checked up to the NPU's border only"

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an operator with a body."""
        if op.body is None:
            raise ModelError("E054", f"{op.name}: has no body", remedy="let Vela make it")

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Run the body on its operators' references; the scratch is filled."""
        assert op.body is not None, f"{op.name} has no body"
        pairs = zip(op.body.inputs, inputs[FIRST_INPUT:], strict=True)
        values = reference.run(op.body, {name: x for name, x in pairs if x is not None})
        scratch = graph.tensor(op.outputs[-1])
        filled = np.full(scratch.shape, SCRATCH_FILL, dtype=scratch.dtype)
        return (*(values[name] for name in op.body.outputs), filled)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """No core runs it."""
        raise AssertionError(f"{op.name}: no core runs what Vela compiled")

    def why_off_cores(self, op: Operator) -> str:
        """Name the operators that Vela made one of."""
        assert op.body is not None, f"{op.name} has no body"
        first, last = op.body.operators[0].name, op.body.operators[-1].name
        made = f"Vela {op.attributes['vela']} made it of {first}"
        return f"{made} to {last}" if first != last else made

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the multiply-accumulates of the body, and how many operators it has."""
        assert op.body is not None, f"{op.name} has no body"
        body = op.body
        macs = sum(kind_of(each).features(each, body)["macs"] for each in body.operators)
        return {"macs": macs, "operators": len(body.operators)}


ETHOS_U = EthosU()
