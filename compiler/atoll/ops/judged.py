# SPDX-License-Identifier: Apache-2.0
"""Kinds of other packages: their answers are judged before anything trusts them."""

from collections.abc import Mapping, Sequence
from typing import Any

from atoll.diagnostics.errors import AtollError
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Lowered
from atoll.isa.instruction_set import Arithmetic
from atoll.ops.kind import Array, Distances, OperatorKind
from atoll.plugins.loading import CORRECT_MEMBER


class Judged:
    """Stands for the kind `inner`; an answer that cannot be one is E112."""

    def __init__(self, inner: OperatorKind) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        """Hand on what needs no judgement."""
        return getattr(self._inner, name)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Require whole numbers."""
        found: object = self._inner.features(op, graph)
        if isinstance(found, Mapping) and "macs" in found and all(map(_count, found.values())):
            return found
        raise _wrong(op, "features", found, "whole numbers by name, 'macs' among them")

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Require an array for each result, of its type and shape."""
        found: object = self._inner.reference(op, graph, inputs)
        wanted = [(each.dtype, each.shape) for each in graph.results(op)]
        made = found if isinstance(found, tuple) else ()
        kinds = [(str(getattr(a, "dtype", "")), getattr(a, "shape", None)) for a in made]
        if isinstance(found, tuple) and kinds == wanted:
            return found
        raise _wrong(op, "reference", found, f"arrays of {wanted}")

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Require a loop program with a tensor for each of its buffers."""
        found: object = self._inner.lower(op, graph)
        if isinstance(found, Lowered):
            made = {tensor.name for tensor in found.constants}
            known = made | graph.by_name.keys() >= {*found.arguments}
            if known and len(found.arguments) == len(found.function.buffers):
                return found
        raise _wrong(op, "lower", found, "what 'KernelBuilder.lowered' makes")

    def lower_for(self, op: Operator, graph: Graph, arithmetic: Arithmetic) -> Lowered:
        """Take what `lower` makes: kinds of other packages have one program for all cores."""
        return self.lower(op, graph)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Require a distance for each input."""
        found: object = self._inner.overlap(op, graph)
        each = found if isinstance(found, tuple) else ()
        fits = len(each) == len(op.inputs) and all(d is None or _count(d) for d in each)
        if isinstance(found, tuple) and fits:
            return found
        raise _wrong(op, "overlap", found, "a distance of 0 or more, or None, for each input")

    def cycles(self, op: Operator, graph: Graph) -> int | None:
        """Require a whole number, or none."""
        found: object = self._inner.cycles(op, graph)
        if found is None or (isinstance(found, int) and found >= 0):
            return found
        raise _wrong(op, "cycles", found, "a whole number of 0 or more")


def _count(value: object) -> bool:
    return isinstance(value, int) and value >= 0


def _wrong(op: Operator, method: str, found: object, wanted: str) -> AtollError:
    message = f"operator '{op.kind}': '{method}' for '{op.name}' returned {found!r:.80}"
    return AtollError("E112", f"{message}, not {wanted}", remedy=CORRECT_MEMBER)
