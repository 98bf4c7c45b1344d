# SPDX-License-Identifier: Apache-2.0
"""Loop programs of single operators, run as machine code of this host and interpreted."""

import os
from collections.abc import Mapping, Sequence
from typing import Any
from unittest.mock import patch
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from tests.ir.interpreter import interpret

from atoll.codegen.llvm_jit import NativeProgram
from atoll.ir.tir import Entry, IRModule, Lowered
from atoll.ir.verify import verify
from atoll.lower.specialize_storage import SpecializeStorage
from atoll.lower.to_tir import with_callees

Array = NDArray[Any]
GUARD = 64
_AS_FOR_CORES = 8
"""One of so many kernels is compiled at -O3; LLVM takes a tenth of the time for -O0."""
STACK = SpecializeStorage(max_alloca=1 << 20, max_stack=1 << 20, pools=())


def hold(
    lowered: Lowered, given: Mapping[str, Array], expected: Array, *, interpreted: bool
) -> None:
    """Require that a loop program makes what is expected of values by name."""
    values = dict(given) | {tensor.name: np.array(tensor.array) for tensor in lowered.constants}
    module = IRModule(
        "m", with_callees([lowered.function], lowered.library), Entry((), (), (), (), ())
    )
    verify(module)
    arguments = [values[name] for name in lowered.arguments]
    result = compiled(module, lowered.function.name, arguments)
    np.testing.assert_array_equal(result.reshape(expected.shape), expected)
    if interpreted:
        memory: list[Any] = [argument.ravel().tolist() for argument in arguments]
        memory[-1] = [None] * len(memory[-1])
        interpret(module, lowered.function.name, memory)
        np.testing.assert_array_equal(memory[-1], expected.ravel())


def compiled(module: IRModule, function: str, arguments: Sequence[Array]) -> Array:
    """Run a kernel whose last buffer is its output; bytes around the buffers must not change."""
    guarded = [np.pad(argument.ravel(), GUARD, constant_values=0x5A) for argument in arguments]
    guarded[-1][GUARD:-GUARD] = 0x33
    before = [array.copy() for array in guarded]
    item = [array.itemsize for array in guarded]
    pointers = [array.ctypes.data + GUARD * size for array, size in zip(guarded, item, strict=True)]
    with patch.dict(os.environ, {"ATOLL_CACHE": os.devnull}):  # more kernels than are kept
        program = NativeProgram(STACK.run(module), _level(module))
    program.call(function, pointers)
    for array, old in zip(guarded[:-1], before[:-1], strict=True):
        np.testing.assert_array_equal(array, old)
    np.testing.assert_array_equal(guarded[-1][:GUARD], before[-1][:GUARD])
    np.testing.assert_array_equal(guarded[-1][-GUARD:], before[-1][-GUARD:])
    return guarded[-1][GUARD:-GUARD]


def _level(module: IRModule) -> int:
    """Return at which level a module is compiled, the same one each time."""
    return 0 if crc32(str(module).encode()) % _AS_FOR_CORES else 3
