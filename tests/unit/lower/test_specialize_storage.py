# SPDX-License-Identifier: Apache-2.0
"""Kernel-local buffers stay on the stack within both limits, else they become workspace."""

import numpy as np
import pytest

from atoll.codegen.llvm_jit import NativeProgram
from atoll.diagnostics.errors import PlanError
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, binary
from atoll.ir.narrowing import verify_narrowing
from atoll.ir.read_module import parse_module
from atoll.ir.tir import (
    Allocate,
    Direction,
    Entry,
    Expr,
    IRModule,
    KernelCall,
    Operation,
    PrimFunc,
    Step,
    Type,
)
from atoll.ir.verify import verify
from atoll.lower.specialize_storage import SpecializeStorage

POOLS = ("shared", "private")
ELEMENTS = 4


def kernel(sizes: tuple[int, ...], *, nested: bool = False) -> PrimFunc:
    """Sum x into y through buffers of some bytes, one after the other."""
    builder = FunctionBuilder("chain")
    x = builder.buffer("x", Type.I8, ELEMENTS, Direction.READ)
    y = builder.buffer("y", Type.I8, ELEMENTS, Direction.WRITE)
    with builder.loop("i", 0, ELEMENTS) as i, builder.when(inside(i, nested=nested)):
        value: Expr = x[i]
        for number, size in enumerate(sizes):
            scratch = builder.allocate(f"t{number}", Type.I8, size, scope="global")
            scratch[i if size >= ELEMENTS else 0] = add(value, number)
            value = scratch[i if size >= ELEMENTS else 0]
        y[i] = value
    return builder.kernel()


def inside(i: Expr, *, nested: bool) -> Expr:
    return binary(Operation.LE, 0, i) if nested else binary(Operation.EQ, 0, 0)


def module(function: PrimFunc, steps: int = 2) -> IRModule:
    """Call the kernel several times in a row."""
    names = [f"a{number}" for number in range(steps + 1)]
    return IRModule(
        "m",
        (function,),
        Entry(
            inputs=(names[0],),
            outputs=(names[-1],),
            allocations=tuple(
                Allocate(
                    buffer=name,
                    type=Type.I8,
                    elements=ELEMENTS,
                    align=16,
                    scope="global.workspace",
                    pools=POOLS,
                )
                for name in names
            ),
            constants=(),
            steps=tuple(
                Step(
                    operator=f"chain_{number}",
                    number=number,
                    device="cpu",
                    reads=(names[number],),
                    writes=(names[number + 1],),
                    action=KernelCall("chain", (names[number], names[number + 1])),
                )
                for number in range(steps)
            ),
        ),
    )


def spilled(sizes: tuple[int, ...], max_alloca: int, max_stack: int) -> list[str]:
    """Return the buffers that left the stack."""
    before = module(kernel(sizes), steps=1)
    after = SpecializeStorage(max_alloca=max_alloca, max_stack=max_stack, pools=POOLS).run(before)
    verify(after)
    verify_narrowing(before, after)
    names = [allocate.buffer for allocate in after.entry.allocations[2:]]
    assert all(name.startswith("chain_0_") for name in names)
    return [name.removeprefix("chain_0_") for name in names]


@pytest.mark.parametrize(
    ("sizes", "limit", "expected"),
    [
        ((1024,), 1024, []),
        ((1025,), 1024, ["t0"]),
        ((1, 4), 0, ["t0", "t1"]),
        ((1025, 1024), 1024, ["t0"]),
    ],
)
def test_k1_limit_of_one_buffer_is_inclusive(
    sizes: tuple[int, ...], limit: int, expected: list[str]
) -> None:
    """K1."""
    assert spilled(sizes, limit, 1 << 20) == expected


def test_k2_total_of_a_kernel() -> None:
    """K2: 64 live buffers of 1,023 bytes in 4,096 bytes of stack: four stay."""
    assert spilled((1023,) * 64, 1024, 4096) == [f"t{number}" for number in range(4, 64)]


def test_a_small_buffer_fits_behind_a_large_one() -> None:
    assert spilled((64, 100, 16), 128, 80) == ["t1"]


def test_local_buffers_count() -> None:
    builder = FunctionBuilder("chain")
    x = builder.buffer("x", Type.I8, ELEMENTS, Direction.READ)
    y = builder.buffer("y", Type.I8, ELEMENTS, Direction.WRITE)
    register = builder.allocate("register", Type.I8, 1)
    scratch = builder.allocate("scratch", Type.I8, 16, scope="global")
    register[0] = x[0]
    scratch[0] = register[0]
    y[0] = scratch[0]
    for max_stack, count in ((31, 1), (32, 0)):
        placed = SpecializeStorage(max_alloca=99, max_stack=max_stack, pools=POOLS)
        after = placed.run(module(builder.kernel(), steps=1))
        assert len(after.entry.allocations) == 2 + count


def test_each_call_has_workspace_of_its_own() -> None:
    after = SpecializeStorage(max_alloca=0, max_stack=0, pools=POOLS).run(module(kernel((8,))))
    workspace = after.entry.allocations[3:]
    assert [str(allocate) for allocate in workspace] == [
        f"allocate chain_{number}_t0: i8[8] align 1 in global.workspace [shared, private]"
        for number in range(2)
    ]
    for number, step in enumerate(after.entry.steps):
        name = f"chain_{number}_t0"
        assert (step.reads[-1], step.writes[-1], step.action.arguments[-1]) == (name,) * 3  # type: ignore[union-attr]


def test_a_taken_name_is_avoided() -> None:
    plain = module(kernel((8,)), steps=1)
    renamed = str(plain).replace("a0", "chain_0_t0")
    after = SpecializeStorage(max_alloca=0, max_stack=0, pools=POOLS).run(parse_module(renamed))
    assert after.entry.allocations[-1].buffer == "chain_0_t0_"
    verify(after)


def test_nothing_changes_without_local_buffers() -> None:
    plain = module(kernel(()))
    assert SpecializeStorage(max_alloca=0, max_stack=0, pools=()).run(plain) == plain


def test_no_workspace_to_go_to() -> None:
    with pytest.raises(PlanError) as caught:
        SpecializeStorage(max_alloca=4, max_stack=64, pools=()).run(module(kernel((8, 4, 9))))
    assert [fault.code for fault in caught.value.faults] == ["E067", "E067"]
    assert "buffer 't0' of kernel 'chain' (8 B)" in str(caught.value)


@pytest.mark.parametrize("nested", [True, False])
def test_c6_results_never_depend_on_the_limits(*, nested: bool) -> None:
    """C6 for one kernel: the same bytes come out for every limit."""
    sizes = (4, 9, 1, 40)
    source = np.array([5, -7, 127, 0], np.int8)
    results = []
    for limit in (0, 4, 9, 40, 1 << 16):
        after = SpecializeStorage(max_alloca=limit, max_stack=1 << 16, pools=POOLS).run(
            module(kernel(sizes, nested=nested), steps=1)
        )
        memory = {name: np.zeros(size, np.int8) for name, size in after.entry.sizes.items()}
        memory["a0"][:] = source
        action = after.entry.steps[0].action
        assert isinstance(action, KernelCall)
        pointers = [memory[name].ctypes.data for name in action.arguments]
        NativeProgram(after).call(action.function, pointers)
        results.append(memory["a1"].tolist())
    assert results == [(source + 6).tolist()] * 5
