# SPDX-License-Identifier: Apache-2.0
"""Every operator of ONNX against onnxruntime: at most one step apart, on random operands."""

import re
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


def operand(b: Builder, dtype: str) -> str:
    """Add 150 values: of int8, of int16, or "" for a sum that nothing quantises."""
    if dtype:
        return b.x((3, 50), b.grid(dtype, 2e-4 if dtype == "int16" else 0.0))
    return b.node("Add", [b.x((3, 50)), b.x((3, 50))])


@pytest.mark.parametrize("op", ["Ceil", "Floor", "Round", "Sign"])
@pytest.mark.parametrize("dtype", ["int16", ""])
def test_each_remedy_for_a_function_that_jumps(op: str, dtype: str, tmp_path: Path) -> None:
    def steps(result: Grid | None = None, *, narrow: bool = False) -> int:
        b = Builder(1)
        x = operand(b, dtype)
        real = b.node(op, [b.again(x) if narrow else x])
        made = b.quantized(real, result or b.suited(real))
        return int(steps_between(b, [made], tmp_path / "built.onnx").max())

    with pytest.raises(ModelError, match="is computed with 16 bits and may be") as caught:
        steps()
    said = str(caught.value)
    assert "to int8 or uint8" in said
    assert "nodes_to_exclude" not in said
    assert steps(narrow=True) == 0
    (scale,) = re.findall(r"choose a scale of (\S+) or more", said)
    assert steps(Grid("int8", float(scale), 0)) <= 1


NUMBERS: dict[str, tuple[str, float | None, float | None]] = {
    "x^0": ("Pow", None, 0.0),
    "x^3": ("Pow", None, 3.0),
    "x^.5": ("Pow", None, 0.5),
    "x^-1": ("Pow", None, -1.0),
    "2^x": ("Pow", 2.0, None),
    "-2^x": ("Pow", -2.0, None),
    "x^x": ("Pow", None, None),
    "x/0": ("Div", None, 0.0),
    "0/x": ("Div", 0.0, None),
    "1/x": ("Div", 1.0, None),
    "x/x": ("Div", None, None),
}


FINITE = ("Abs", "integer", "x^0", "x^3")


def of_a_number(b: Builder, how: str, x: str) -> str:
    op, *numbers = NUMBERS[how]
    return b.node(op, [x if each is None else b.plain(each, "float32") for each in numbers])


@pytest.mark.parametrize("how", NUMBERS)
@pytest.mark.parametrize("result", ["int8", "int16"])
def test_powers_and_quotients_of_8_bits(how: str, result: str, tmp_path: Path) -> None:
    """0 / 0 and powers without a value become the least value, as by onnxruntime."""
    for seed in range(ROUNDS):
        b = Builder(seed)
        made = b.quantized(of_a_number(b, how, operand(b, "int8")), b.grid(result))
        assert steps_between(b, [made], tmp_path / "built.onnx").max() == 0


@pytest.mark.parametrize("how", [*(each for each in NUMBERS if each != "2^x"), "Abs", "integer"])
@pytest.mark.parametrize("dtype", ["int16", ""])
def test_powers_and_quotients_of_16_bits(how: str, dtype: str, tmp_path: Path) -> None:
    """What has a value for each operand is within a step; of others, the message says what is.

    2^x is either, as steep as it is.
    """
    for seed in range(ROUNDS):
        b = Builder(seed)
        x = operand(b, dtype)
        if how == "Abs":
            real = b.node(how, [x])
        elif how == "integer":
            real = b.node("Pow", [x, b.plain(2)])
        else:
            real = of_a_number(b, how, x)
        made = b.quantized(real, b.suited(real) if how in FINITE else b.grid())
        if how in FINITE:
            assert steps_between(b, [made], tmp_path / "built.onnx").max() <= 1
            continue
        with pytest.raises(ModelError, match="to int8 or uint8"):
            steps_between(b, [made], tmp_path / "built.onnx")


@pytest.mark.parametrize(
    ("op", "constant", "said"),
    [
        ("Div", False, "divides by what is computed"),
        ("Div", True, "divides by numbers that differ from element to element"),
        ("Pow", False, "has an exponent that is computed"),
        ("Pow", True, "has exponents that differ from element to element"),
    ],
)
def test_what_no_table_has_is_refused(op: str, constant: bool, said: str, tmp_path: Path) -> None:
    b = Builder(1)
    x = operand(b, "int8")
    right = b.plain(b.rng.uniform(0.5, 2, 50), "float32") if constant else operand(b, "int8")
    made = b.quantized(b.node(op, [x, right]), b.grid())
    with pytest.raises(ModelError, match=said):
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
