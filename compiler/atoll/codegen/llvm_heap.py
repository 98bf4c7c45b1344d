# SPDX-License-Identifier: Apache-2.0
"""Blocks of the workspace allocator in kernels: taken, given back in order, errors returned."""

from llvmlite import ir

from atoll.ir.heap import LARGEST_BLOCK
from atoll.ir.statements import RuntimeAllocate
from atoll.protocol import Status

POINTER = ir.PointerType()
I32 = ir.IntType(32)

ALLOCATE = "atoll_workspace_allocate"
FREE = "atoll_workspace_free"
HEAP_SYMBOL = "atoll_heap_"


class HeapBlocks:
    """The blocks of one kernel, which returns a status; see runtime/atoll_workspace.h."""

    def __init__(self, module: ir.Module, builder: ir.IRBuilder) -> None:
        self._module = module
        self._builder = builder
        self._taken: list[tuple[ir.Value, ir.Value]] = []

    @property
    def taken(self) -> int:
        """Number of blocks that are taken at this place of the program."""
        return len(self._taken)

    def take(self, allocate: RuntimeAllocate, elements: ir.Value) -> ir.Value:
        """Return the address of a block for `elements`; on an error give all back and return it.

        The number is held against its bounds before it is multiplied: nothing wraps.
        """
        builder, number = self._builder, elements.type
        width = allocate.type.bytes
        most = number(LARGEST_BLOCK // width)
        too_many = builder.icmp_signed(">", elements, most)
        status = builder.select(too_many, I32(Status.NO_MEMORY), I32(0))
        none = builder.icmp_signed("<", elements, number(1))
        self._leave_on(builder.select(none, I32(Status.ARGUMENT), status))
        size = builder.mul(elements, number(width))
        size = size if number.width == I32.width else builder.trunc(size, I32)
        with builder.goto_entry_block():
            slot = builder.alloca(POINTER, name=f"{allocate.buffer}.block")
        heap = self._heap(allocate.pools[0])
        self._leave_on(builder.call(self._function(ALLOCATE, I32, POINTER), [heap, size, slot]))
        block = builder.load(slot, typ=POINTER, name=allocate.buffer)
        self._taken.append((heap, block))
        return block

    def give_back(self, taken: int) -> None:
        """Give back all but the first `taken` blocks, the latest first."""
        while len(self._taken) > taken:
            self._leave_on(self._free(*self._taken.pop()))

    def _leave_on(self, status: ir.Value) -> None:
        """If `status` is an error, give all back and return it."""
        builder = self._builder
        with builder.if_then(builder.icmp_unsigned("!=", status, I32(0)), likely=False):
            for heap, block in reversed(self._taken):
                self._free(heap, block)
            builder.ret(status)

    def _free(self, heap: ir.Value, block: ir.Value) -> ir.Value:
        return self._builder.call(self._function(FREE, POINTER), [heap, block])

    def _function(self, name: str, *arguments: ir.Type) -> ir.Function:
        known = self._module.globals.get(name)
        return known or ir.Function(self._module, ir.FunctionType(I32, (POINTER, *arguments)), name)

    def _heap(self, pool: str) -> ir.GlobalVariable:
        name = HEAP_SYMBOL + pool
        known = self._module.globals.get(name)
        return known or ir.GlobalVariable(self._module, ir.ArrayType(ir.IntType(8), 16), name)
