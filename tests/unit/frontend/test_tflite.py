# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph

GOLDEN = Path(__file__).with_name("every_operator.txt")
Load = Callable[[Any], Graph]


@pytest.fixture
def load(tmp_path: Path, tflite_builder: ModuleType) -> Load:
    def run(model: Any) -> Graph:
        path = tmp_path / "My model-2.tflite"
        path.write_bytes(tflite_builder.write(model))
        return load_tflite(path)

    return run


def test_every_operator(
    every_operator: Any, load: Load, golden: Callable[[Path, str], None]
) -> None:
    """Names, attributes, stripped edges, dropped constants: all in the graph's text."""
    golden(GOLDEN, load(every_operator).brief())


def test_indices_are_those_of_the_file(every_operator: Any, load: Load) -> None:
    graph = load(every_operator)
    assert graph.tensor("pad_1_paddings").index == 3
    assert [op.index for op in graph.operators] == list(range(1, 14))
    assert all(op.name == f"{op.kind}_{op.index}" for op in graph.operators)


def test_constants_keep_their_bytes(every_operator: Any, load: Load) -> None:
    graph = load(every_operator)
    assert graph.tensor("conv_2d_2_bias").array.tolist() == list(range(8))
    assert graph.tensor("pad_1_paddings").array.tolist() == [[0, 0], [1, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_edges_of_real_numbers_are_left_out(
    dtype: str, tflite_builder: ModuleType, load: Load
) -> None:
    tensor = tflite_builder.Tensor
    side: dict[str, Any] = {"scales": (0.01,), "zero_points": (0,), "dtype": dtype}
    codes = ("QUANTIZE", "RELU", "DEQUANTIZE")
    operators = tuple(
        tflite_builder.Operator(code=code, inputs=(at,), outputs=(at + 1,))
        for at, code in enumerate(codes)
    )
    sides: tuple[dict[str, Any], ...] = (
        {"dtype": "float32"},
        *(side, side),
        {"dtype": "float32"},
    )
    tensors = tuple(tensor(shape=(3,), name=f"t{at}", **each) for at, each in enumerate(sides))
    graph = load(
        tflite_builder.Model(tensors=tensors, operators=operators, inputs=(0,), outputs=(3,))
    )
    assert [op.kind for op in graph.operators] == ["relu"]
    assert [(graph.tensor(n).dtype, n) for n in graph.inputs] == [(dtype, "t0")]
    assert [graph.tensor(n).dtype for n in graph.outputs] == [dtype]


def test_a_bias_may_have_an_axis_out_of_range(every_operator: Any, load: Load) -> None:
    tensors = list(every_operator.tensors)
    tensors[6] = replace(tensors[6], axis=3, scales=(5e-4,) * 8, zero_points=(0,) * 8)
    graph = load(replace(every_operator, tensors=tuple(tensors)))
    bias = graph.tensor("conv_2d_2_bias").quantization
    assert bias is not None
    assert bias.axis == 0


def renamed(model: Any, name: str) -> Any:
    tensors = list(model.tensors)
    tensors[1] = replace(tensors[1], dtype="int8", scales=(0.05,), zero_points=(-3,), name=name)
    return replace(model, tensors=tuple(tensors))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("serving_default_input_1:0", "input_1"),
        ("a/b:c;d", "a_b"),
        ("", "input"),
        ("3d", "input_3d"),
        ("class", "input_class"),
        ("конв", "input"),
        ("add_4_out", "input_add_4_out"),
        ("x" * 100, "x" * 40),
    ],
)
def test_input_names(name: str, expected: str, every_operator: Any, load: Load) -> None:
    assert load(renamed(every_operator, name)).inputs == (expected,)


def test_a_float_input_with_two_readers_stays_and_is_refused(
    every_operator: Any, load: Load
) -> None:
    operators = list(every_operator.operators)
    operators[4] = replace(operators[4], inputs=(1, 9))
    with pytest.raises(ModelError) as caught:
        load(replace(every_operator, operators=tuple(operators)))
    assert {fault.code for fault in caught.value.faults} == {"E054"}


def test_all_faults_are_reported_together(every_operator: Any, load: Load) -> None:
    operators = list(every_operator.operators)
    for index, code in ((4, "SKIP_GRAM"), (13, "LSH_PROJECTION")):
        operators[index] = replace(operators[index], code=code)
    with pytest.raises(ModelError) as caught:
        load(replace(every_operator, operators=tuple(operators)))
    first, second = (fault.message for fault in caught.value.faults)
    assert "operator 4 (SKIP_GRAM), tensor 10 (" in first
    assert "operator 13 (LSH_PROJECTION), tensor 23 (" in second


def test_a_file_above_the_limit_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.tflite"
    path.write_bytes(b"12345")
    monkeypatch.setattr("atoll.frontend.file_bytes.GREATEST_FILE", 4)
    with pytest.raises(ModelError, match="has 5 bytes, the greatest size is 4"):
        load_tflite(path)
