# SPDX-License-Identifier: Apache-2.0
"""Calls that maintain the data cache of the core whose object this is."""

from collections.abc import Callable, Iterable

from llvmlite import ir

from atoll.codegen.llvm_heap import POINTER
from atoll.codegen.llvm_pools import I32
from atoll.ir.maintenance import Maintenance
from atoll.ir.tir import Entry

PREFIX = "atoll_cache_"


class CacheCalls:
    """Emits ``void atoll_cache_clean(void *address, uint32_t size)`` and ``..._invalidate``."""

    def __init__(
        self, target: ir.Module, address: Callable[[str], ir.Constant], entry: Entry, core: str
    ) -> None:
        """Emit into `target`; `address` says where a buffer is, `core` whose cache it is."""
        self._target = target
        self._address = address
        self._sizes = entry.sizes
        self._core = core

    def maintain(self, builder: ir.IRBuilder, operations: Iterable[Maintenance]) -> None:
        """Call what this core has to do; other cores do what is theirs."""
        for each in operations:
            if each.core == self._core:
                size = I32(self._sizes[each.buffer])
                builder.call(self._function(each), [self._address(each.buffer), size])

    def _function(self, each: Maintenance) -> ir.Function:
        name = f"{PREFIX}{each.operation}"
        if name in self._target.globals:
            return self._target.get_global(name)
        return ir.Function(self._target, ir.FunctionType(ir.VoidType(), [POINTER, I32]), name)
