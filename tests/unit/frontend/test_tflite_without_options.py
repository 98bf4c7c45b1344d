# SPDX-License-Identifier: Apache-2.0
"""Operators without their table of options: read as TFLM reads them, or refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests import tflite_builder
from tests.all_samples import fixed_samples
from tests.drawn.compare import on_tflm
from tests.operator_samples import SCALE, Tree

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.forms import forms_for
from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference

Shape = tuple[int, ...]
FORMS = {code: form for code, form in forms_for(()).by_code.items() if form.table}
MAY = sorted(code for code, form in FORMS.items() if form.may_lack_table)
MUST = sorted({*FORMS} - {*MAY})
UNKNOWN_TO_TFLM = ("GELU",)


def _binary(tree: Tree, code: str) -> None:
    scale = {"scales": (0.01,), "zero_points": (0,)} if code == "DIV" else SCALE
    operands = (tree.add((2, 8), **SCALE), tree.add((2, 8), **SCALE))
    tree.apply(code, operands, tree.add((2, 8), **scale))


def _unary(tree: Tree, code: str) -> None:
    unit = {"scales": (1 / 128,), "zero_points": (0,)} if code == "L2_NORMALIZATION" else SCALE
    tree.apply(code, (tree.add((2, 8), **SCALE),), tree.add((2, 8), **unit))


def _reduction(tree: Tree, code: str) -> None:
    kind = {"dtype": "bool"} if code in ("REDUCE_ALL", "REDUCE_ANY") else SCALE
    tree.apply(code, (tree.add((2, 8), **kind), tree.numbers(1)), tree.add((2,), **kind))


def _resize(tree: Tree, code: str) -> None:
    tree.apply(code, (tree.add((1, 4, 4, 2), **SCALE), tree.numbers(7, 5)), _made(tree, 1, 7, 5, 2))


def _cumsum(tree: Tree, code: str) -> None:
    tree.apply(code, (tree.add((2, 8), **SCALE), tree.numbers(1, shape=())), _made(tree, 2, 8))


def _matrices(tree: Tree, code: str) -> None:
    operands = (tree.add((1, 2, 8), **SCALE), tree.add((1, 8, 3), **SCALE))
    tree.apply(code, operands, _made(tree, 1, 2, 3))


def _join(tree: Tree, code: str) -> None:
    tree.apply(code, (tree.add((2, 8), **SCALE), tree.add((1, 8), **SCALE)), _made(tree, 3, 8))


def _gather(tree: Tree, code: str) -> None:
    tree.apply(code, (tree.add((4, 3), **SCALE), tree.numbers(2, 0)), _made(tree, 2, 3))


def _dense(tree: Tree, code: str) -> None:
    tree.apply(code, (tree.add((2, 8), **SCALE), tree.weights((3, 8))), _made(tree, 2, 3))


def _slice(tree: Tree, code: str) -> None:
    x = tree.add((4, 8), **SCALE)
    bounds = (tree.numbers(1, 0), tree.numbers(3, 8), tree.numbers(1, 2))
    tree.apply(code, (x, *bounds), _made(tree, 2, 4))


def _shape(tree: Tree, code: str) -> None:
    tree.apply(code, (tree.add((2, 8), **SCALE),), tree.add((2,), dtype="int32"))


def _made(tree: Tree, *shape: int) -> int:
    return tree.add(shape, **SCALE)


NETWORKS: dict[str, Callable[[Tree, str], None]] = {
    **dict.fromkeys(("ADD", "SUB", "MUL", "DIV"), _binary),
    **dict.fromkeys(("LEAKY_RELU", "L2_NORMALIZATION"), _unary),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"), _reduction),
    **dict.fromkeys(("REDUCE_ALL", "REDUCE_ANY"), _reduction),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), _resize),
    **{"CUMSUM": _cumsum, "BATCH_MATMUL": _matrices, "CONCATENATION": _join, "GATHER": _gather},
    **{"FULLY_CONNECTED": _dense, "STRIDED_SLICE": _slice, "SHAPE": _shape},
}


def _numbers(tensor: Any) -> NDArray[Any]:
    most = 2 if tensor.dtype == "bool" else 100
    drawn = np.random.default_rng(len(tensor.shape)).integers(most > 2, most, tensor.shape)
    return np.asarray(drawn, tensor.dtype)


def _on_tflm(model: Any) -> list[bytes] | str:
    pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro")
    inputs = [_numbers(model.tensors[number]) for number in model.inputs]
    return on_tflm(tflite_builder.write(model), inputs, len(model.outputs))


@pytest.mark.parametrize("code", MAY)
def test_options_are_zero_where_tflm_takes_them_for_that(code: str, tmp_path: Path) -> None:
    """Every byte is TFLM's."""
    tree = Tree(tflite_builder)
    NETWORKS[code](tree, code)
    given = {number for op in tree.operators for number in op.inputs}
    inputs = tuple(number for number in sorted(given) if tree.tensors[number].data is None)
    model = replace(tree.model(), inputs=inputs)
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(model))
    graph = load_tflite(path)
    sample = {
        name: _numbers(tensor)
        for name, tensor in zip(graph.inputs, (model.tensors[n] for n in inputs), strict=True)
    }
    made = reference.run(graph, sample)
    assert [made[name].tobytes() for name in graph.outputs] == _on_tflm(model)


def _alone(code: str) -> Any:
    """Return a sample's operator, with the options that it has there, as a network."""
    model, op = next(
        (model, op)
        for sample in fixed_samples(tflite_builder)
        for model in (sample, *sample.others)
        for op in model.operators
        if op.code == code
    )
    given = [
        number
        for number in dict.fromkeys(op.inputs)
        if number >= 0 and model.tensors[number].data is None and not model.tensors[number].variable
    ]
    fields = {"tensors": model.tensors, "operators": (op,)}
    return tflite_builder.Model(**fields, inputs=tuple(given), outputs=op.outputs)


@pytest.mark.parametrize("code", MUST)
def test_others_have_no_meaning_without_options(code: str, tmp_path: Path) -> None:
    """TFLM refuses them, breaks off, or does not compute what the options say."""
    model = _alone(code)
    bare = replace(model, operators=(replace(model.operators[0], table="", options={}),))
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(bare))
    with pytest.raises(ModelError, match=f"has no {FORMS[code].table}"):
        load_tflite(path)
    without, whole = _on_tflm(bare), _on_tflm(model)
    assert isinstance(whole, list) or code in UNKNOWN_TO_TFLM
    assert isinstance(without, str) or without != whole


def test_a_table_of_another_kind_is_no_table_left_out(tmp_path: Path) -> None:
    """What it says would be lost."""
    tree = Tree(tflite_builder)
    operands = (tree.add((2, 8), **SCALE),) * 2
    tree.apply("ADD", operands, _made(tree, 2, 8), "MulOptions", FusedActivationFunction=1)
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(tree.model()))
    with pytest.raises(ModelError, match="has no AddOptions"):
        load_tflite(path)


def test_a_bias_of_scale_0_has_none(tmp_path: Path) -> None:
    """TFLM adds it as it is, as one without a scale."""
    tree = Tree(tflite_builder)
    x, weights = tree.add((2, 8), **SCALE), tree.weights((3, 8))
    data = np.array([-300, 200, 70], np.int32)
    bias = tree.add((3,), dtype="int32", data=data, scales=(0.0,), zero_points=(0,))
    tree.apply("FULLY_CONNECTED", (x, weights, bias), _made(tree, 2, 3))
    model = tree.model()
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(model))
    graph = load_tflite(path)
    made = reference.run(graph, {graph.inputs[0]: _numbers(model.tensors[x])})
    assert [made[name].tobytes() for name in graph.outputs] == _on_tflm(model)
