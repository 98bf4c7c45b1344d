# SPDX-License-Identifier: Apache-2.0
"""Kernels that the author of a function unit lowers operators to."""

from atoll.diagnostics.errors import AtollError
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Lowered
from atoll.plugins.loading import foreign_code, load
from atoll.resolve.soc import Cpu


def unit_kernel(op: Operator, graph: Graph, core: Cpu) -> Lowered | None:
    """Return the loop program of an operator that the author of a core's unit has, if any.

    Raises:
        AtollError: E041, E111, E112; the author's function is not there, raises, or returns
            something else than a loop program or None.
    """
    unit = core.unit
    if unit is None or not unit.kernels:
        return None
    who, at = f"'{unit.kernels}' of function unit '{unit.name}'", unit.places.get("kernels")
    lower = load(unit.kernels, at=at)
    with foreign_code(f"{who} failed for operator '{op.name}'", at=at):
        found = lower(op, graph, {each.name: each for each in unit.instructions})
    if found is not None and not isinstance(found, Lowered):
        raise AtollError(
            "E112",
            f"{who} returned an object of type '{type(found).__name__}' for '{op.name}'",
            at=at,
            remedy="return what 'KernelBuilder.lowered' returns, or None for Atoll's own kernel",
        )
    return found
