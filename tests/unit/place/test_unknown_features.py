# SPDX-License-Identifier: Apache-2.0
"""Accelerators get no operator of a form that their description says nothing about."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.operator_samples import windows_and_reductions

from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph, Operator
from atoll.place.capabilities import obstacles
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc


@pytest.fixture(scope="module")
def lagoon() -> ResolvedSoc:
    return load_soc("lagoon")


def on_reef(graph: Graph, kind: str, soc: ResolvedSoc) -> list[str]:
    op = next(op for op in graph.operators if op.kind == kind)
    return [*obstacles(op, graph, soc.device("npu"), soc)]


def of_type(graph: Graph, op: Operator, dtype: str) -> Graph:
    named = {*op.inputs, *op.outputs}
    changed = (
        replace(each, dtype=dtype) if each.name in named and each.data is None else each
        for each in graph.tensors
    )
    return replace(graph, tensors=tuple(changed))


def test_groups_stay_on_the_core(
    lagoon: ResolvedSoc, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(windows_and_reductions(tflite_builder)))
    graph = load_tflite(path)
    wanted = "groups is 2, and its description does not limit 'groups'"
    assert on_reef(graph, "conv_2d", lagoon) == [wanted]
    assert on_reef(graph, "batch_matmul", lagoon) == ["does not run batch_matmul"]


@pytest.mark.parametrize("kind", ["add", "mul", "average_pool_2d", "conv_2d"])
def test_other_types_stay_on_the_core(
    kind: str, lagoon: ResolvedSoc, tmp_path: Path, tflite_builder: ModuleType, every_operator: Any
) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(every_operator))
    graph = load_tflite(path)
    op = next(op for op in graph.operators if op.kind == kind)
    wide = of_type(graph, op, "int16")
    said = [each for each in on_reef(wide, kind, lagoon) if "int" in each and "run" not in each]
    if kind == "conv_2d":
        assert said == ["int8 is 0, at least 1"]
    else:
        names = [*op.inputs, *op.outputs]
        expected = [n for n in names if wide.tensor(n).data is None]
        assert [each.split("'")[1] for each in said] == expected


@pytest.mark.parametrize(("limit", "runs"), [("{min: 4, max: 4}", True), ("{max: 1}", False)])
def test_a_limit_of_bytes_lets_wider_elements_in(
    limit: str, runs: bool, tmp_path: Path, tflite_builder: ModuleType, every_operator: Any
) -> None:
    (tmp_path / "wide.yaml").write_text(
        f"accelerator: wide\nversion: 1\noperators: {{ADD: {{limits: {{element_bytes: {limit}}}}}}}"
    )
    (tmp_path / "chip.yaml").write_text(
        "extends: lagoon\nsoc: own\ndevices: {npu: {accelerator: ./wide.yaml, params: null}}\n"
    )
    soc = load_soc(tmp_path / "chip.yaml")
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(every_operator))
    graph = load_tflite(path)
    op = next(op for op in graph.operators if op.kind == "add")
    said = on_reef(of_type(graph, op, "int32"), "add", soc)
    assert said == ([] if runs else ["element_bytes is 4, at most 1"])
    assert on_reef(graph, "add", soc) == (["element_bytes is 1, at least 4"] if runs else [])
