# SPDX-License-Identifier: Apache-2.0
"""The measured cycles of kernels: every kind has some, and all that they are for is counted."""

from collections import defaultdict

import pytest
from tests import tflite_builder
from tests.differential.case import case_of

from atoll.cost import core_costs
from atoll.cost.core_costs import kernel_cycles
from atoll.cost.data.picorv32 import RATES, USUAL_RATES
from atoll.diagnostics.errors import AtollError
from atoll.frontend.registry import load_network
from atoll.ir.graph import Graph, Operator
from atoll.ir.read_graph import parse_graph
from atoll.ops.kind import OperatorKind
from atoll.ops.registry import OPERATORS, kind_of
from atoll.utils.scratch import temporary_folder

SEEDS = range(120)
TABLES = """graph m(x, z) -> (y)
  %x: int8[4096] scale (0.077) zero (3)
  %z: int8[4096] scale (0.00242) zero (-5)
  %y: int8[4096] scale (0.00888) zero (7)

  %y = sub(%x, %z) {activation=none}  # sub_0
"""
"""A difference that no weights give, and that is large enough for tables."""


def kind(name: str) -> OperatorKind:
    return kind_of(Operator(name=name, kind=name, inputs=(), outputs=(), attributes={}))


def test_each_kind_that_cores_run_has_rates() -> None:
    on_cores = {name for name in OPERATORS if kind(name).on_cores}
    assert RATES.keys() <= on_cores
    cut = {name for name in on_cores if type(kind(name)).parts is not OperatorKind.parts}
    assert on_cores - RATES.keys() <= cut, "what is not always cut into parts needs rates"


@pytest.fixture(scope="module")
def networks() -> list[Graph]:
    """Random networks of all kinds, and one of what they lack."""
    found = [parse_graph(TABLES, None)]
    with temporary_folder() as folder:
        for seed in SEEDS:
            path = folder / "network.tflite"
            path.write_bytes(tflite_builder.write(case_of(seed).model))
            try:
                found.append(load_network(path))
            except AtollError:  # some are refused on purpose
                continue
    return found


def test_every_rate_is_of_something_that_is_counted(networks: list[Graph]) -> None:
    counted = defaultdict[str, set[str]](set)
    for graph in networks:
        for op in graph.operators:
            counted[op.kind] |= kind_of(op).work(op, graph).keys()
    seen = set().union(*counted.values())
    assert len(counted) > 50
    for name in counted.keys() & RATES.keys():
        assert RATES[name].keys() <= seen, name
        assert counted[name] & RATES[name].keys(), name


def test_a_kind_without_rates_counts_products_and_results(
    networks: list[Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = next(each for each in networks if each.operators[0].kind == "conv_2d")
    op = graph.operators[0]
    work = kind_of(op).work(op, graph)
    monkeypatch.setattr(core_costs, "RATES", {})
    usual = sum(each * work.get(name, 0) for name, each in USUAL_RATES.items())
    assert kernel_cycles(op, graph) == usual
