"""A core without a choice of two values branches to the upper limit of a weighted sum."""

import pytest
from tests.llvm_text import dump

from atoll.codegen.llvm_clamp import _RARELY
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import binary, clamp, multiply
from atoll.ir.tir import Direction, Entry, IRModule, Operation, PrimFunc, Type
from atoll.isa.find import instruction_set

WEIGHTS = f'!"branch_weights", i32 {_RARELY[0]}, i32 {RARELY[1]}'


def limited(*, shifted: bool) -> PrimFunc:
    """Multiply each element; what is shifted is a weighted sum."""
    builder = FunctionBuilder("limited")
    x = builder.buffer("x", Type.I8, 64, Direction.READ)
    y = builder.buffer("y", Type.I8, 64, Direction.WRITE)
    with builder.loop("i", 0, 64) as i:
        product = multiply(x.wide(i), 300)
        y[i] = clamp(binary(Operation.SHR, product, 6) if shifted else product, -128, 127)
    return builder.kernel()


@pytest.mark.parametrize(
    ("isa", "shifted", "branches"),
    [
        ("rv32imc", True, True),
        ("rv64gc", True, True),
        ("rv32imc", False, False),
        ("rv32imc_zba_zbb_zbs", True, False),
        ("armv7-m", True, False),
    ],
)
def test_the_upper_limit_of_a_weighted_sum_is_a_rare_branch(
    isa: str, shifted: bool, branches: bool
) -> None:
    module = IRModule("m", (limited(shifted=shifted),), Entry((), (), (), (), ()))
    text = dump(module, isa, branches=not instruction_set(isa).selects)
    assert (WEIGHTS in text) is branches
