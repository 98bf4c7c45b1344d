# SPDX-License-Identifier: Apache-2.0
"""Draw operators within the limits of an accelerator, edges of the limits first."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from atoll.diagnostics.errors import ModelError
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.formulas import limit_values
from atoll.ops.fused import ACCELERATOR, STEPS, outside
from atoll.ops.registry import kind_of
from atoll.ops.rounding import as_onnx, rounding_feature
from atoll.place.capabilities import limit_obstacles, obstacles
from atoll.records import dataclass
from atoll.resolve.soc import Dma, Engine, OperatorSupport, ResolvedSoc
from atoll_sim.accelerator_test.makers import MAKERS, MOST_BYTES, Shapes, UnfitError

TRIES = 400  # operators that are drawn until one is within the limits


@dataclass(frozen=True, slots=True)
class Drawn:
    """An operator and its features."""

    graph: Graph
    features: Mapping[str, int]


def draw(
    support: OperatorSupport, engine: Engine, soc: ResolvedSoc, random: Random, edge: str = ""
) -> Drawn | None:
    """Return an operator that `engine` runs, None if none of those that are drawn is.

    Args:
        support: the kind of operator.
        engine: the accelerator.
        soc: its chip.
        random: decides all.
        edge: a feature, such as ``kernel_h``, that shall be as great as its limit lets it.
    """
    kinds = [step.kind.lower() for step in support.pattern] or [support.kind]
    if any(kind not in MAKERS for kind in kinds):
        return None
    for _ in range(TRIES):
        try:
            network = _rounding(_network(support, random, edge), support, random, edge)
            for op in network.operators:
                kind_of(op).check(op, network)
        except (ModelError, UnfitError):
            continue
        if any(tensor.size > MOST_BYTES for tensor in network.tensors):
            continue
        graph = _as_one(network, support, engine) if support.pattern else network
        op = graph.operators[0]
        limited = isinstance(engine, Dma) and any(limit_obstacles(op, graph, engine))
        if not limited and not any(obstacles(op, graph, engine, soc)):
            return Drawn(graph, limit_values(op, graph, engine))
    return None


def _network(support: OperatorSupport, random: Random, edge: str) -> Graph:
    """Return an operator, or those of a pattern, as a network has them."""
    if not support.pattern:
        return MAKERS[support.kind](support.kind, Shapes(support, random, edge))
    tensors, operators = dict[str, Tensor](), dict[str, Operator]()
    for step in support.pattern:
        made = [tensors[operators[name].outputs[0]] if name else None for name in step.operands]
        given = next(iter(made), None)
        shapes = Shapes(support, random, edge, step=step.name, given=given)
        kind = step.kind.lower()
        alone = MAKERS[kind](kind, shapes)
        (op,) = alone.operators
        names = {name: f"{step.name}_{name}" for name in alone.by_name}
        places = zip(op.inputs, made, strict=False)
        names |= {name: tensor.name for name, tensor in places if tensor}
        for tensor in alone.tensors:
            tensors.setdefault(names[tensor.name], replace(tensor, name=names[tensor.name]))
        operators[step.name] = replace(
            op.rename_operands(names), name=step.name, outputs=(names[op.outputs[0]],)
        )
    several = tuple(operators.values())
    read = {name for each in several for name in (*each.inputs, *each.outputs)}
    kept = tuple(each for name, each in tensors.items() if name in read)
    inputs = tuple(name for name in dict.fromkeys(outside(several)) if not tensors[name].data)
    return Graph("drawn", kept, several, inputs, several[-1].outputs)


def _rounding(network: Graph, support: OperatorSupport, random: Random, edge: str) -> Graph:
    """Return a network some of whose operators round as ONNX says, where the limits speak of it."""
    made = []
    for op in network.operators:
        prefix = f"{op.name}_" if support.pattern else ""
        names = [f"{prefix}{name}" for name in rounding_feature(op)]
        most = max(
            (support.limits[each][1] or 0 for each in names if each in support.limits), default=0
        )
        asked = most and (edge in names or random.random() < 0.5)
        made.append(replace(op, attributes={**op.attributes, **as_onnx(op.kind)}) if asked else op)
    return network.with_operators(made)


def _as_one(network: Graph, support: OperatorSupport, engine: Engine) -> Graph:
    """Return a graph with one operator in the place of all."""
    words = {STEPS: " ".join(step.name for step in support.pattern), ACCELERATOR: engine.spec.name}
    operands = outside(network.operators)
    one = Operator(
        name="drawn",
        kind=support.kind,
        inputs=operands,
        outputs=network.outputs,
        attributes=words,
        body=network,
    )
    used = {*operands, *network.outputs}
    kept = tuple(each for each in network.tensors if each.name in used)
    return replace(network, tensors=kept, operators=(one,))
