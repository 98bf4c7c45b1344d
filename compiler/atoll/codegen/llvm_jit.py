# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled for the host and run on real memory."""

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import CFUNCTYPE, POINTER, c_int32, c_uint32, c_void_p, cast
from functools import cache
from types import MappingProxyType
from typing import Any

from llvmlite import binding, ir

from atoll.codegen.core_steps import overlapping_parameters
from atoll.codegen.kept_code import compile_cached
from atoll.codegen.llvm_heap import ALLOCATE, FREE, HEAP_SYMBOL
from atoll.codegen.llvm_kernels import emit_functions
from atoll.codegen.llvm_machine import host_features, host_machine, new_module, optimize
from atoll.codegen.llvm_units import model_symbol
from atoll.ir.heap import Heap
from atoll.ir.tir import IRModule
from atoll.ir.walk import executed_instructions, externs, runtime_allocations
from atoll.records import dataclass
from atoll.resolve.c_functions import on_host
from atoll.resolve.unit_models import UnitModels

LEVEL = 3
"""Of optimisation, where none is given."""


@dataclass(frozen=True, slots=True)
class HeapMemory:
    """Where blocks of a pool's heap are at the host, and who gives them out."""

    address: int
    heap: Heap


class NativeProgram:
    """The kernels of a module as machine code of the host; the caller owns all memory."""

    def __init__(
        self,
        module: IRModule,
        level: int | None = None,
        heaps: Mapping[str, HeapMemory] = MappingProxyType({}),
        *,
        branches: bool = False,
    ) -> None:
        """Compile; `heaps` are by pool, all that the kernels name; see `emit_functions`.

        `level` is of optimisation, `LEVEL` unless given.
        """
        level = LEVEL if level is None else level
        machine = host_machine(level)
        source = new_module(module.name, machine)
        overlapping = overlapping_parameters(module)
        emit_functions(source, module.functions, "", overlapping, branches=branches)
        named = [symbol for symbol in source.global_values if symbol.name.startswith(HEAP_SYMBOL)]
        for symbol in named:
            symbol.initializer = ir.Constant(symbol.value_type, None)
            _add_allocator()
        self._models = UnitModels()
        self._callbacks = [*_bind_models(module, self._models), *_link_functions(module)]
        text = str(source)  # once, for it is slow to make
        code = compile_cached(
            text,
            f"{binding.get_host_cpu_name()} {host_features()}",
            level,
            lambda: machine.emit_object(optimize(text, machine, level)),
        )
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
        self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        for symbol in named:
            address = self._engine.get_global_value_address(symbol.name)
            _HEAPS[address] = heaps[symbol.name.removeprefix(HEAP_SYMBOL)]
            weakref.finalize(self, _HEAPS.pop, address, None)
        self._kernels = {
            kernel.name: self._kernel(kernel.name, len(kernel.parameters), _result_of(kernel))
            for kernel in module.functions
            if kernel.result is None
        }

    def _kernel(self, name: str, parameters: int, result: Any) -> Callable[..., int | None]:
        prototype = CFUNCTYPE(result, *[c_void_p] * parameters)
        return prototype(self._engine.get_function_address(name))

    def call(self, function: str, pointers: Sequence[int]) -> int:
        """Run a kernel on buffers at these addresses, in the order of its parameters.

        The buffers are as large as the parameters say, aligned for their elements, and those
        that are written overlap no other but as the steps of the entry allow.

        Returns:
            0, or a negative code: a heap had no block for a buffer that is sized at run time.

        Raises:
            AtollError: the model of a function unit raised.
        """
        status = self._kernels[function](*pointers) or 0
        self._models.raise_any()
        return status


def _result_of(kernel: Any) -> Any:
    return c_int32 if runtime_allocations(kernel) else None


_HEAPS: dict[int, HeapMemory] = {}
"""By the address of the symbol that compiled code hands to the allocator."""


def _allocate(workspace: int, size: int, block: Any) -> int:
    memory = _HEAPS[workspace]
    offset = memory.heap.allocate(size)
    if offset < 0:
        return offset
    block[0] = memory.address + offset
    return 0


def _free(workspace: int, block: int) -> int:
    memory = _HEAPS[workspace]
    return memory.heap.free(block - memory.address)


def _bind_models(module: IRModule, models: UnitModels) -> Iterator[object]:
    """Let compiled code find the models of function units; yield what has to be kept for it."""
    for instruction in executed_instructions(module.functions):
        callback = CFUNCTYPE(c_uint32, c_uint32, c_uint32)(models.guard(instruction, lambda: None))
        binding.add_symbol(model_symbol(instruction), cast(callback, c_void_p).value)
        yield callback


def _link_functions(module: IRModule) -> Iterator[object]:
    """Let compiled code find functions of C; yield what has to be kept for it."""
    for function in externs(module.functions):
        found = on_host(function, module.name)
        binding.add_symbol(function.symbol(module.name), cast(found, c_void_p).value)
        yield found


_ENTRIES = {
    ALLOCATE: CFUNCTYPE(c_int32, c_void_p, c_uint32, POINTER(c_void_p))(_allocate),
    FREE: CFUNCTYPE(c_int32, c_void_p, c_void_p)(_free),
}


@cache
def _add_allocator() -> None:
    """Let compiled code find the allocator of W2 in this process."""
    for name, function in _ENTRIES.items():
        binding.add_symbol(name, cast(function, c_void_p).value)
