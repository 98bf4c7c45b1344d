# SPDX-License-Identifier: Apache-2.0
"""Parts of a kernel together do what the kernel does, whichever comes first."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.effort import cases
from tests.ir.interpreter import interpret
from tests.unit.lower.test_safe_overlap import MAKERS, STACK, Kernel

from atoll.codegen.llvm_jit import NativeProgram
from atoll.ir.tir import Const, Entry, IRModule, PrimFunc
from atoll.ir.verify import verify
from atoll.ops.loops.parallel_loops import ParallelLoop, parallel_loop, part_of
from atoll.ops.registry import kind_of

SEEDS = range(cases(5, least=2))
MOST_PARTS = 4
Make = Callable[[int], Any]

KINDS = tuple(
    kind for kind in MAKERS if kind not in ("softmax", "mean", "reshape", "concatenation")
)


def loop_of(kernel: Kernel, parts: int) -> ParallelLoop | None:
    (op,) = kernel.graph.operators
    return parallel_loop(kernel.module.functions[-1], kind_of(op).parallel, parts)


def split(kernel: Kernel, loop: ParallelLoop, parts: int) -> list[PrimFunc]:
    return [part_of(kernel.module.functions[-1], loop, part, parts) for part in range(parts)]


def with_parts(kernel: Kernel, functions: list[PrimFunc]) -> IRModule:
    """Return the module with parts in the place of the kernel, still well-formed."""
    library = kernel.module.functions[:-1]
    module = IRModule("m", (*library, *functions), Entry((), (), (), (), ()))
    verify(module)
    return module


def written(kernel: Kernel, module: Any, function: str) -> list[int | None]:
    """Interpret a part; None stands for what it has not written."""
    memory: list[Any] = [kernel.values[name].ravel().tolist() for name in kernel.names]
    memory[-1] = [None] * len(memory[-1])
    interpret(module, function, memory)
    result: list[int | None] = memory[-1]
    return result


def together(kernel: Kernel, module: Any, functions: list[PrimFunc]) -> Any:
    """Run compiled parts one after the other on the same buffers."""
    arrays = [np.ascontiguousarray(kernel.values[name]).copy() for name in kernel.names]
    arrays[-1][...] = 0x33
    program = NativeProgram(STACK.run(module))
    for function in functions:
        program.call(function.name, [array.ctypes.data for array in arrays])
    return arrays[-1].ravel()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_parts_write_disjoint_bytes_and_in_all_the_whole(kind: str, seed: int, make: Make) -> None:
    maker = make(seed)
    kernel = Kernel.of(MAKERS[kind](maker, kind), maker.rng)
    for parts in range(2, MOST_PARTS + 1):
        if (loop := loop_of(kernel, parts)) is None:
            continue
        functions = split(kernel, loop, parts)
        module = with_parts(kernel, functions)
        done = [written(kernel, module, function.name) for function in functions]
        for expected, *values in zip(kernel.expected.tolist(), *done, strict=True):
            assert [value for value in values if value is not None] == [expected]
        order = [functions[number] for number in maker.rng.permutation(parts)]
        np.testing.assert_array_equal(together(kernel, module, order), kernel.expected)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_parts_in_some_shapes(kind: str, make: Make) -> None:
    """Else the test above would hold of nothing."""
    found = []
    for seed in range(20):
        maker = make(seed)
        found.append(loop_of(Kernel.of(MAKERS[kind](maker, kind), maker.rng), 2))
    assert sum(loop is not None for loop in found) >= 5


def test_the_loop_that_is_shared_most_evenly_is_taken(make: Make) -> None:
    maker = make(0)
    x, y = maker.activation("x", (1, 3, 4, 8)), maker.activation("y", (1, 3, 4, 16))
    weights = maker.constant("w", np.ones((16, 1, 1, 8), np.int8), [0.01] * 16)
    options = {f"{name}_{side}": 1 for name in ("stride", "dilation") for side in "hw"}
    options |= {f"pad_{side}": 0 for side in ("top", "bottom", "left", "right")}
    graph = maker.graph("conv_2d", [x, weights], y, activation="none", **options)
    kernel = Kernel.of(graph, maker.rng)
    assert loop_of(kernel, 3) == ParallelLoop("group", 3)
    assert loop_of(kernel, 4) == ParallelLoop("block", 4)
    assert loop_of(kernel, 5) is None


def test_a_loop_beside_which_results_are_written_is_not_shared_out(make: Make) -> None:
    """9 pixels: two groups of four and one that is left, which no part of the groups makes."""
    maker = make(0)
    x, y = maker.activation("x", (1, 9, 1, 4)), maker.activation("y", (1, 9, 1, 4))
    weights = maker.constant("w", np.ones((4, 1, 1, 4), np.int8), [0.01] * 4)
    options = {f"{name}_{side}": 1 for name in ("stride", "dilation") for side in "hw"}
    options |= {f"pad_{side}": 0 for side in ("top", "bottom", "left", "right")}
    graph = maker.graph("conv_2d", [x, weights], y, activation="none", **options)
    (op,) = graph.operators
    kernel = kind_of(op).lower(op, graph).function
    assert parallel_loop(kernel, ("group",), 2) is None
    assert parallel_loop(kernel, ("ox",), 2) is None
    assert Const(2) in [getattr(each, "end", None) for each in kernel.body]
