# SPDX-License-Identifier: Apache-2.0
"""Random networks that a core runs while it is measured."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from random import Random

from atoll.diagnostics.errors import ModelError
from atoll.ir.graph import Graph
from atoll.ops.registry import kind_of
from atoll.resolve.soc import OperatorSupport
from atoll_sim.accelerator_test.draw import Drawn
from atoll_sim.accelerator_test.joined import join
from atoll_sim.accelerator_test.makers import MAKERS, MOST_BYTES, Shapes, UnfitError
from atoll_sim.core_calibration.random_layers import random_network

WINDOWS = ("conv_2d", "conv_2d", "depthwise_conv_2d", "average_pool_2d", "fully_connected")
"""Kinds of which each network to fit to has an operator."""

OTHERS = tuple(kind for kind in MAKERS if kind not in (*WINDOWS, "reshape"))
"""Of these kinds it has one; a reshape is a view."""

LEAST_WORK, MOST_WORK = 100, 5_000
"""Products of such an operator, or elements of its result: it lasts, and ends soon."""

MOST_MACS = 100_000
"""Products of a network of layers."""

SEEDS = 1_000_000
"""Networks of one seed, so that those of another one are others."""


def drawn_networks(seed: int, number: int) -> tuple[Graph, ...]:
    """Return networks of operators of all kinds side by side, to which something is fitted."""
    return tuple(_drawn_network(seed * SEEDS + each) for each in range(number))


def layered_networks(seed: int, number: int) -> tuple[Graph, ...]:
    """Return networks of layers as users have them, against which what was fitted is held."""
    graphs = (random_network(seed * SEEDS + each) for each in count())
    return tuple(islice((graph for graph in graphs if _macs(graph) <= MOST_MACS), number))


def _drawn_network(seed: int) -> Graph:
    random = Random(seed)
    kinds = (*WINDOWS, random.choice(OTHERS))
    graph = join([Drawn(next(_operators(kind, random)), {}) for kind in kinds])
    return replace(graph, name=f"drawn_{seed}")


def _operators(kind: str, random: Random) -> Iterator[Graph]:
    """Yield operators of a kind that have some work to do, but not much."""
    support = OperatorSupport(kind=kind, limits={})
    while True:
        try:
            graph = MAKERS[kind](kind, Shapes(support, random, ""))
            kind_of(graph.operators[0]).check(graph.operators[0], graph)
        except (ModelError, UnfitError):
            continue
        work = _macs(graph) or graph.results(graph.operators[0])[0].elements
        small = all(tensor.size <= MOST_BYTES for tensor in graph.tensors)
        if small and LEAST_WORK <= work <= MOST_WORK:
            yield graph


def _macs(graph: Graph) -> int:
    return sum(kind_of(op).features(op, graph)["macs"] for op in graph.operators)
