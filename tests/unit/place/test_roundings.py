# SPDX-License-Identifier: Apache-2.0
"""Operators round as ONNX says on cores, and on accelerators whose description speaks of that."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.place.test_patterns import MUL_ADD, NOTHING, chip_with, network

from atoll.ir.graph import Graph, Operator
from atoll.ops import reference
from atoll.ops.rounding import as_onnx, rounds_once
from atoll.place.patterns import with_patterns
from atoll.place.plan_devices import plan_devices

MUL = "  MUL: {cost: 1, limits: {rounds_once: {max: %s}}}\n"


LARGE = 32, 64
"""A tensor that an accelerator is quicker with than a core, its driver included."""


def as_from_onnx(*lines: str, outputs: str) -> Graph:
    graph = network(*lines, outputs=outputs, shape=LARGE)
    return graph.with_operators(
        replace(op, attributes={**op.attributes, **as_onnx(op.kind)}) for op in graph.operators
    )


def products(graph: Graph) -> Iterator[tuple[str, Operator]]:
    """Yield the MULs, those of patterns too, and their devices."""
    for op in graph.operators:
        for each in op.body.operators if op.body else (op,):
            if each.kind == "mul":
                yield op.device, each


@pytest.mark.parametrize(
    ("operators", "device", "once"),
    [
        ("  MUL: {cost: 1}\n", "npu", False),
        (MUL % 1, "npu", True),
        (MUL % 0, "cpu", True),
        (MUL_ADD, "npu", False),
        (
            MUL_ADD.replace("cost: 1", "cost: 1, limits: {product_rounds_once: {max: 1}}"),
            "npu",
            True,
        ),
        ("  ADD: {cost: 1}\n", "cpu", True),
    ],
    ids=["nothing said", "either", "twice only", "pattern", "pattern of either", "another kind"],
)
def test_devices(tmp_path: Path, operators: str, device: str, once: bool) -> None:
    soc = chip_with(tmp_path, operators)
    graph = as_from_onnx("c = mul(a b)", "e = add(c d)", outputs="e")
    fused = with_patterns(graph, soc, NOTHING)
    placed = plan_devices(fused, soc).graph
    assert [(where, rounds_once(op)) for where, op in products(placed)] == [(device, once)]
    assert plan_devices(placed, soc).graph == placed
    given = {
        name: np.random.default_rng(0).integers(-128, 128, LARGE).astype(np.int8)
        for name in graph.inputs
    }
    made, expected = (reference.run(each, given)["e"] for each in (placed, graph))
    assert np.abs(np.subtract(made, expected, dtype=np.int64)).max() <= 1


def test_a_network_from_tflite_stays_as_it_is(tmp_path: Path) -> None:
    soc = chip_with(tmp_path, MUL % 1)
    placed = plan_devices(network("c = mul(a b)", outputs="c"), soc).graph
    assert [(where, rounds_once(op)) for where, op in products(placed)] == [("npu", False)]
