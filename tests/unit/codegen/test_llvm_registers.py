# SPDX-License-Identifier: Apache-2.0
"""K6: buffers of one function with constant indices end up in registers."""

from typing import Any

import numpy as np
import pytest
from tests.llvm_text import dump

from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, multiply
from atoll.ir.graph import Graph, Operator, Quantization, Tensor
from atoll.ir.tir import Direction, Entry, IRModule, PrimFunc, Type
from atoll.lower.specialize_storage import SpecializeStorage
from atoll.lower.to_tir import with_callees
from atoll.ops.registry import kind_of


def dumped(function: PrimFunc, level: int) -> str:
    module = IRModule("m", with_callees([function]), Entry((), (), (), (), ()))
    placed = SpecializeStorage(max_alloca=1024, max_stack=4096, pools=()).run(module)
    return dump(placed, "rv32imc", level)


def filtered(scope: str, *, constant: bool) -> PrimFunc:
    """Keep three taps in a buffer, addressed by literals or by a loop over data."""
    builder = FunctionBuilder("filtered")
    x = builder.buffer("x", Type.I32, 64, Direction.READ)
    y = builder.buffer("y", Type.I32, 64, Direction.WRITE)
    taps = builder.allocate("taps", Type.I32, 3, scope)
    for tap in range(3):
        taps[tap] = 0
    with builder.loop("i", 0, 64) as i:
        for tap in (2, 1):
            taps[tap] = taps[tap - 1]
        taps[0] = x[i]
        y[i] = add(taps[0], multiply(taps[1], 2), taps[2]) if constant else taps[x[0]]
    return builder.kernel()


@pytest.mark.parametrize("scope", ["local", "global.stack"])
def test_k6_constant_indices_leave_no_alloca(scope: str) -> None:
    function = filtered(scope, constant=True)
    assert "alloca" in dumped(function, level=0)
    assert "alloca" not in dumped(function, level=3)


def test_an_index_from_data_keeps_the_alloca() -> None:
    assert "alloca" in dumped(filtered("local", constant=False), level=3)


def test_k6_sums_of_a_convolution_are_in_registers() -> None:
    weights = np.ones((8, 3, 3, 4), np.int8)

    def tensor(name: str, shape: tuple[int, ...], **more: Any) -> Tensor:
        scales = Quantization(scales=(0.1,), zero_points=(0,))
        return Tensor(name=name, shape=shape, dtype="int8", quantization=scales, **more)

    options: dict[str, Any] = {
        f"{name}_{axis}": 1 for name in ("stride", "dilation") for axis in "hw"
    }
    options |= {f"pad_{side}": 1 for side in ("top", "left", "bottom", "right")}
    op = Operator(
        name="conv_2d_0",
        kind="conv_2d",
        inputs=("x", "weights"),
        outputs=("y",),
        attributes={**options, "activation": "none"},
    )
    tensors = (
        tensor("x", (1, 6, 6, 4)),
        tensor("weights", weights.shape, data=weights.tobytes()),
        tensor("y", (1, 6, 6, 8)),
    )
    function = kind_of(op).lower(op, Graph("g", tensors, (op,), ("x",), ("y",))).function
    allocas = [line for line in dumped(function, level=3).splitlines() if "alloca" in line]
    assert [line.partition("alloca ")[2].split(",")[0] for line in allocas] == ["[144 x i8]"]
    assert "@scaled_right(" not in dumped(function, level=3).split("define", 1)[1].split("\n", 1)[1]
