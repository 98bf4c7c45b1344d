# SPDX-License-Identifier: Apache-2.0
"""QOperator models: nodes that quantise themselves, against onnxruntime."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.effort import cases
from tests.onnx_builder import Builder, Grid, loaded, steps_between

from atoll.diagnostics.errors import ModelError

MICROSOFT = "com.microsoft"
ROUNDS = cases(20, 3)


def operand(b: Builder, shape: tuple[int, ...], dtype: str) -> tuple[list[str], str]:
    """Return an input with its parameters, and the same dequantised."""
    grid = b.grid(dtype)
    name = b.input(shape, grid)
    return [name, *b.parameters(grid)], b.real(name)


def filters(
    b: Builder, shape: tuple[int, ...], axis: int | None, dtype: str = "int8"
) -> tuple[list[str], str]:
    real = b.weights(shape, axis, dtype, 128 if dtype == "uint8" else 0)
    (made,) = (node for node in b.nodes if real in node.output)
    return list(made.input), real


def finished(
    b: Builder, op: str, inputs: list[str], real: str, dtype: str, domain: str, **attributes: Any
) -> str:
    """Add a node with the parameters of a result behind its operands."""
    grid = b.suited(real, dtype)
    made = b.node(op, [*inputs, *b.parameters(grid)], domain, **attributes)
    b.grids[made] = grid
    return made


def conv(b: Builder, dtype: str) -> str:
    x, real = operand(b, (1, 3, 6, 7), dtype)
    unsigned = dtype == "uint8" and b.rng.integers(2) > 0
    each = 0 if b.rng.integers(2) else None
    weights, taps = filters(b, (4, 3, 3, 2), each, "uint8" if unsigned else "int8")
    grid = b.suited(b.node("Conv", [real, taps], pads=[1, 0, 1, 1]), dtype)
    bias = b.plain(b.rng.integers(-500, 500, 4), "int32")
    inputs = [*x, *weights, *b.parameters(grid), bias]
    made = b.node("QLinearConv", inputs, pads=[1, 0, 1, 1])
    b.grids[made] = grid
    return made


def matmul(b: Builder, dtype: str) -> str:
    x, real = operand(b, (5, 12), dtype)
    weights, taps = filters(b, (12, 7), None)
    return finished(b, "QLinearMatMul", [*x, *weights], b.node("MatMul", [real, taps]), dtype, "")


def gemm(b: Builder, dtype: str) -> str:
    x, real = operand(b, (3, 12), dtype)
    weights, taps = filters(b, (7, 12), 0)
    grid = b.suited(b.node("Gemm", [real, taps], transB=1), dtype)
    bias = b.plain(b.rng.integers(-500, 500, 7), "int32")
    inputs = [*x, *weights, bias, *b.parameters(grid)]
    made = b.node("QGemm", inputs, MICROSOFT, transB=1)
    b.grids[made] = grid
    return made


def binary(op: str) -> Callable[[Builder, str], str]:
    def made(b: Builder, dtype: str) -> str:
        (x, left), (y, right) = (operand(b, shape, dtype) for shape in ((1, 3, 4, 5), (3, 1, 1)))
        real = b.node(op, [left, right])
        return finished(b, f"QLinear{op}", [*x, *y], real, dtype, MICROSOFT)

    return made


def unary(op: str, **attributes: Any) -> Callable[[Builder, str], str]:
    def made(b: Builder, dtype: str) -> str:
        x, left = operand(b, (1, 3, 4, 5), dtype)
        real = b.node(op, [left], **attributes)
        return finished(b, f"QLinear{op}", x, real, dtype, MICROSOFT, **attributes)

    return made


def softmax(b: Builder, dtype: str) -> str:
    grid = Grid(dtype, 1 / 256, 0 if dtype == "uint8" else -128)
    x, _ = operand(b, (3, 10), dtype)
    inputs = [*x, *b.parameters(grid)]
    made = b.node("QLinearSoftmax", inputs, MICROSOFT, axis=-1, opset=13)
    b.grids[made] = grid
    return made


def joined(b: Builder, dtype: str) -> str:
    (x, left), (y, right) = (operand(b, (1, count, 4, 5), dtype) for count in (3, 2))
    grid = b.suited(b.node("Concat", [left, right], axis=1), dtype)
    made = b.node("QLinearConcat", [*b.parameters(grid), *x, *y], MICROSOFT, axis=1)
    b.grids[made] = grid
    return made


CASES: dict[str, Callable[[Builder, str], str]] = {
    "QGemm": gemm,
    "QLinearAdd": binary("Add"),
    "QLinearAveragePool": unary("AveragePool", kernel_shape=[2, 2]),
    "QLinearConcat": joined,
    "QLinearConv": conv,
    "QLinearGlobalAveragePool": unary("GlobalAveragePool"),
    "QLinearLeakyRelu": unary("LeakyRelu", alpha=0.2),
    "QLinearMatMul": matmul,
    "QLinearMul": binary("Mul"),
    "QLinearSigmoid": unary("Sigmoid"),
    "QLinearSoftmax": softmax,
}


@pytest.mark.parametrize("name", CASES)
def test_one_step_from_onnxruntime(name: str, tmp_path: Path) -> None:
    found = np.zeros(0, np.int64)
    for seed in range(ROUNDS):
        builder = Builder(seed)
        made = CASES[name](builder, ("int8", "uint8")[seed % 2])
        steps = steps_between(builder, [made], tmp_path / "built.onnx")
        assert steps.max() <= 1, f"seed {seed}: {np.bincount(steps)}"
        found = np.concatenate((found, steps))
    print(f"{name}: {found.sum()} of {len(found)}")


def test_an_old_softmax_is_refused() -> None:
    """Up to opset 12 it flattens the axes from its own on."""
    b = Builder()
    x, _ = operand(b, (1, 3, 4), "int8")
    grid = Grid("int8", 1 / 256, -128)
    made = b.node("QLinearSoftmax", [*x, *b.parameters(grid)], MICROSOFT, axis=1, opset=12)
    b.grids[made] = grid
    with pytest.raises(ModelError, match="QLinearSoftmax"):
        loaded(b.model([made]))


def test_operators_of_microsoft_quantise_to_16_bits_before_onnx_does(tmp_path: Path) -> None:
    b = Builder(2, opset=17)
    grid = Grid("int16", 0.001, 0)
    name = b.input((1, 3, 5, 5), grid)
    x = b.node("DequantizeLinear", [name, *b.parameters(grid)], MICROSOFT)
    real = b.node("Conv", [x, b.weights((2, 3, 3, 3), 0)])
    out = Grid("int16", 0.002, 0)
    made = b.node("QuantizeLinear", [real, *b.parameters(out)], MICROSOFT)
    b.grids[made] = out
    assert steps_between(b, [made], tmp_path / "built.onnx").max() <= 1


def test_moves_between_them_take_integers(tmp_path: Path) -> None:
    """What moves integers needs no parameters; the input's are those of its first reader."""
    b = Builder(1)
    grid = b.grid("uint8")
    name = b.input((1, 6, 6, 3), grid)
    turned = b.node("Transpose", [name], perm=[0, 3, 1, 2])
    pooled = b.node("MaxPool", [turned], kernel_shape=[2, 2], strides=[2, 2])
    weights, taps = filters(b, (4, 3, 1, 1), 0)
    out = b.suited(b.node("Conv", [b.real(pooled, grid), taps]), "uint8")
    inputs = [pooled, *b.parameters(grid), *weights, *b.parameters(out)]
    made = b.node("QLinearConv", inputs)
    b.grids[made] = out
    flat = b.node("Reshape", [made, b.plain([1, -1])])
    b.grids[flat] = out
    path = tmp_path / "built.onnx"
    assert steps_between(b, [flat], path).max() <= 1
    kinds = [op.kind for op in loaded(path.read_bytes()).operators]
    assert kinds == ["max_pool_2d", "conv_2d", "transpose", "reshape"]
