# SPDX-License-Identifier: Apache-2.0
"""Every operator of ONNX against onnxruntime: at most one step apart, on random operands."""

from pathlib import Path

import numpy as np
import pytest
from tests.effort import cases
from tests.onnx_builder import Builder, Grid, steps_between
from tests.onnx_cases import CASES, COMPARISONS, pick

from atoll.diagnostics.errors import ModelError
from atoll.frontend.onnx.graph import HANDLERS

ROUNDS = cases(20, 3)
PRESCRIBED = {
    "Sigmoid": Grid("int8", 1 / 256, -128),
    "Tanh": Grid("int8", 1 / 128, 0),
    "Softmax": Grid("int8", 1 / 256, -128),
    "LogSoftmax": Grid("int8", 1 / 16, 127),
}


APART = frozenset(
    {
        *("AveragePool", "Flatten and Gemm", "Gemm", "GlobalAveragePool", "HardSigmoid"),
        *("HardSwish", "InstanceNormalization", "LayerNormalization"),
        *("LayerNormalization of channels", "MatMul", "MatMul of results", "PRelu of reals"),
        *("Pow of any exponent", "ReduceMean", "ReduceMean of squares", "ReduceSum"),
        *("Resize align_corners", "Resize asymmetric", "Resize half_pixel", "Softsign"),
        *("Resize asymmetric of int16", "Resize half_pixel int16"),
        *("Add of convolutions", "Gemm with beta", "MatMul of vectors", "Mean", "Sum of several"),
        *(
            "asymmetric weights",
            *(name for name in CASES if name.startswith("Conv")),
            *(
                "ReduceL2",
                "ReduceProd",
                "ReduceSumSquare",
                "Swish",
                "Where by int16",
                "functions of 16 bits",
            ),
        ),
    }
)
"""Where an element may be a step off: sums of float32, two roundings, or a grid of 16 bits."""


@pytest.mark.parametrize("name", CASES)
def test_one_step_from_onnxruntime(name: str, tmp_path: Path) -> None:
    found = np.zeros(0, np.int64)
    for seed in range(ROUNDS):
        builder = Builder(seed)
        real = CASES[name](builder)
        dtype = "int16" if name.endswith("int16") else ("int8", "uint8")[seed % 2]
        grid = PRESCRIBED.get(name) or builder.suited(real, dtype)
        made = builder.quantized(real, grid)
        steps = steps_between(builder, [made], tmp_path / "built.onnx")
        assert steps.max() <= int(name in APART), f"seed {seed}: {np.bincount(steps)}"
        found = np.concatenate((found, steps))
    print(f"{name}: {found.sum()} of {len(found)}")


@pytest.mark.parametrize("counted", [0, 1])
def test_averages_on_the_grid_of_their_operand(counted: int, tmp_path: Path) -> None:
    builder = Builder()
    grid = builder.grid()
    x, pads = builder.x((1, 3, 5, 6), grid), [1, 0, 1, 1]
    real = builder.node(
        "AveragePool", [x], kernel_shape=[3, 2], pads=pads, count_include_pad=counted
    )
    made = builder.quantized(real, grid)
    assert steps_between(builder, [made], tmp_path / "built.onnx").max() <= 1


@pytest.mark.parametrize("ops", [("Sqrt",), ("Log",), ("Log", "Sin", "Neg"), ("Sqrt", "Log")])
def test_operands_for_which_a_function_has_no_value(ops: tuple[str, ...], tmp_path: Path) -> None:
    b = Builder(1)
    real = b.x((2, 130), Grid("int8", 0.04, 3))
    for op in ops:
        real = b.node(op, [real])
    made = b.quantized(real, Grid("int8", 0.03, -3))
    assert steps_between(b, [made], tmp_path / "built.onnx").max() == 0


@pytest.mark.parametrize(("scale", "fits"), [(1.0, True), (0.03, False)])
def test_a_root_of_what_nothing_quantised_is_near_or_refused(
    scale: float, fits: bool, tmp_path: Path
) -> None:
    """A result that holds only small roots would show the error of the sum of squares."""
    b = Builder(1)
    x = b.x((2, 130), Grid("int8", 0.04, 3))
    made = b.quantized(b.node("ReduceL2", [b.node("Add", [x, x])]), Grid("int8", scale, -3))
    if fits:
        assert steps_between(b, [made], tmp_path / "built.onnx").max() <= 1
        return
    with pytest.raises(ModelError, match="has an operand of 16 bits that may make"):
        steps_between(b, [made], tmp_path / "built.onnx")


@pytest.mark.parametrize("op", ["LogSoftmax", "Sigmoid", "Softmax", "Tanh"])
def test_a_finer_grid_than_tflite_prescribes(op: str, tmp_path: Path) -> None:
    """Sigmoid and tanh are tables there, the others go through 16 bits."""
    scales = (1 / 32, 1 / 64, 1 / 200) if op == "LogSoftmax" else (1 / 300, 1 / 520, 1 / 1024)
    for seed in range(ROUNDS):
        b = Builder(seed)
        x = Grid("int8", float(b.rng.choice([0.002, 0.02, 0.1])), 0)
        real = b.node(op, [b.x((3, pick(b, 2, 40)), x)])
        grid = Grid("int8", float(b.rng.choice(scales)), 127 if op == "LogSoftmax" else -100)
        made = b.quantized(real, grid)
        assert steps_between(b, [made], tmp_path / "built.onnx").max() <= 1


@pytest.mark.parametrize(
    ("operand", "result"),
    [
        (Grid("int8", 0.02, 0), Grid("int16", 1 / 32768, 0)),
        (Grid("int16", 0.0005, 0), Grid("int8", 1 / 256, -128)),
        (Grid("int16", 0.0005, 0), Grid("int8", 1 / 300, -128)),
    ],
)
def test_softmax_of_16_bits(operand: Grid, result: Grid, tmp_path: Path) -> None:
    for seed in range(ROUNDS):
        b = Builder(seed)
        made = b.quantized(b.node("Softmax", [b.x((3, 40), operand)]), result)
        assert steps_between(b, [made], tmp_path / "built.onnx").max() <= 1


def test_no_operator_is_forgotten() -> None:
    tried = {word for name in CASES for word in name.replace(",", "").split()}
    moved = {"Gather", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"}
    moved |= {*COMPARISONS}
    others = {"ArgMax", "ArgMin", "Cast", "Dropout", "Identity"}  # in test_onnx.py
    edges = {"DequantizeLinear", "QuantizeLinear"}
    assert {*HANDLERS} == tried & {*HANDLERS} | moved | others | edges
