# SPDX-License-Identifier: Apache-2.0
"""A core without a choice of two values branches where a clamped value is beyond a limit."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from tests.effort import in_gate
from tests.llvm_text import dump

from atoll.codegen.llvm_clamp import RARELY
from atoll.codegen.llvm_jit import NativeProgram
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, binary, clamp, multiply
from atoll.ir.tir import Direction, Entry, Expr, IRModule, Operation, Type
from atoll.isa.find import instruction_set

WEIGHTS = f'!"branch_weights", i32 {RARELY[0]}, i32 {RARELY[1]}'
WEIGHT, START = 300, -77
FORMS: Mapping[str, Callable[[Expr, int], Expr]] = {
    "a weighted sum": lambda total, places: binary(Operation.SHR, add(total, START), places),
    "a shift": lambda total, places: binary(Operation.SHR, total, places),
    "a sum": lambda total, _: add(total, START),
    "a remainder": lambda total, _: binary(Operation.REM, total, 1000),
}


def limited(form: str, places: int, limits: tuple[int, int] | None) -> IRModule:
    """Multiply each element, and narrow what `form` makes of it."""
    builder = FunctionBuilder("limited")
    x = builder.buffer("x", Type.I32, 256, Direction.READ)
    y = builder.buffer("y", Type.I8, 256, Direction.WRITE)
    with builder.loop("i", 0, 256) as i:
        value: Expr = FORMS[form](multiply(x[i], WEIGHT), places)
        y[i] = clamp(value, *limits) if limits else value
    return IRModule("m", (builder.kernel(),), Entry((), (), (), (), ()))


@pytest.mark.parametrize(
    ("isa", "limits", "branches"),
    [
        ("rv32imc", (-128, 127), True),
        ("rv64gc", (-128, 127), True),
        ("rv32imc", None, False),
        ("rv32imc_zba_zbb_zbs", (-128, 127), False),
        ("armv7-m", (-128, 127), False),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_beyond_a_limit_is_a_rare_branch(
    form: str, isa: str, limits: tuple[int, int] | None, branches: bool
) -> None:
    text = dump(limited(form, 6, limits), isa, branches=not instruction_set(isa).selects)
    assert (WEIGHTS in text) is branches


@pytest.mark.parametrize("limits", [(-128, 127), (-128, -128), (127, 127), (-3, 90), (0, 1)])
@pytest.mark.parametrize("places", in_gate([1, 8, 22, 24, 31], 0, 2, 4))
@pytest.mark.parametrize("form", FORMS)
def test_branches_store_what_a_choice_would(
    form: str, places: int, limits: tuple[int, int]
) -> None:
    """At both limits and beside them, and as far as 32 bits go."""
    steps = np.array([limits[0], limits[1] + 1], np.int64) << places
    near = [(steps - START) // WEIGHT + each for each in range(-2, 3)]
    values = np.concatenate([*near, np.linspace(-(2**31), 2**31 - 1, 256 - 10) // WEIGHT])
    x = values.clip(-(2**31) // WEIGHT + 1, 2**31 // WEIGHT - 1).astype(np.int32)
    module = limited(form, places, limits)
    chosen, branched = (np.full(256, 0x33, np.int8) for _ in range(2))
    for branches, y in ((False, chosen), (True, branched)):
        program = NativeProgram(module, branches=branches)
        program.call("limited", [x.ctypes.data, y.ctypes.data])
    np.testing.assert_array_equal(branched, chosen)
