# SPDX-License-Identifier: Apache-2.0
"""Calls that maintain data caches: that of the object's core, and those of accelerators."""

from collections.abc import Callable, Iterable, Mapping

from llvmlite import ir

from atoll.codegen.llvm_heap import POINTER
from atoll.codegen.llvm_pools import I32
from atoll.ir.maintenance import Maintenance
from atoll.ir.tir import Entry

NO_NPUS: Mapping[str, Callable[[], ir.Value]] = {}


class CacheCalls:
    """Emits ``void atoll_cache_clean(void *address, uint32_t size)`` and ``..._invalidate``.

    Of an accelerator's cache the functions are ``atoll_npu_cache_clean`` and ``..._invalidate``,
    which take its ordinal before the others.
    """

    def __init__(
        self, target: ir.Module, address: Callable[[str], ir.Constant], entry: Entry, core: str
    ) -> None:
        """Emit into `target`; `address` says where a buffer is, `core` whose cache it is."""
        self._target = target
        self._address = address
        self._sizes = entry.sizes
        self._core = core

    def maintain(
        self,
        builder: ir.IRBuilder,
        operations: Iterable[Maintenance],
        npus: Mapping[str, Callable[[], ir.Value]] = NO_NPUS,
    ) -> None:
        """Call what this core has to do; other cores do what is theirs.

        `npus` loads the ordinal of each accelerator whose cache the core maintains.
        """
        for each in operations:
            given = [self._address(each.buffer), I32(self._sizes[each.buffer])]
            if each.device == self._core:
                builder.call(self._function(f"atoll_cache_{each.operation}", POINTER, I32), given)
            elif each.device in npus:
                name = f"atoll_npu_cache_{each.operation}"
                ordinal = npus[each.device]()
                builder.call(self._function(name, I32, POINTER, I32), [ordinal, *given])

    def _function(self, name: str, *takes: ir.Type) -> ir.Function:
        if name in self._target.globals:
            return self._target.get_global(name)
        return ir.Function(self._target, ir.FunctionType(ir.VoidType(), takes), name)
