"""What the operators of a compiled network should take, by all that is known of it."""

from collections.abc import Mapping
from dataclasses import replace

from atoll.codegen.commands import command_counts
from atoll.ir.graph import Tensor
from atoll.pipeline import Compiled
from atoll.place.costs import Spent, spent_by


def expected(compiled: Compiled) -> Mapping[str, Spent]:
    """Return what each operator should take on its device, by name.

    That is what placement weighs, with what only a plan says: how many commands there are, and in
    which memories the tensors are.
    """
    graph, places = compiled.graph, compiled.plan.placements

    def placed(tensor: Tensor) -> Tensor:
        place = places.get(graph.storage(tensor.name))
        return replace(tensor, pool=place.pool) if place else tensor

    planned = replace(graph, tensors=tuple(map(placed, graph.tensors)))
    return spent_by(planned, compiled.soc, command_counts(compiled.module), compiled.homes)
