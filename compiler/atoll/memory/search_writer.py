"""What the search kernel is written with: its parameters and the idioms of its own."""

from atoll.ir.expressions import add, subtract
from atoll.ir.tir import Expr, Type
from atoll.memory.kernel_writer import KernelWriter, op
from atoll.memory.search_layout import BUFFER_COUNT, BUFFERS

NAME = "atoll_memory_search"


class SearchWriter(KernelWriter):
    """The function that is being written.

    Attributes:
        count, capacity, ceiling, origin: what the caller sets in `state` and `limits`.
    """

    def __init__(self) -> None:
        super().__init__(NAME, BUFFERS)
        self.count = self.builder.let("count", self.state[BUFFER_COUNT])
        self.capacity = self.builder.let("capacity", self.at["limits"][0])
        self.ceiling = self.builder.let("ceiling", self.at["limits"][1])
        self.origin = self.builder.let("origin", self.at["limits"][2])

    def lifted(self, buffer: Expr, least: Expr) -> Expr:
        """Return the lowest offset from `least` on that is aligned and not forbidden."""
        builder, at = self.builder, self.at
        mask = builder.let("mask", subtract(at["alignment"][buffer], 1))

        def aligned(offset: Expr) -> Expr:
            address = add(add(offset, self.origin), mask)
            return subtract(subtract(address, op("&", address, mask)), self.origin)

        lifted = self.variable("lifted_to", Type.I64, aligned(least))
        with self.entries("range_from", buffer) as entry:
            beyond = op("<=", at["range_begin"][entry], lifted.get())
            within = op("&", beyond, op("<", lifted.get(), at["range_end"][entry]))
            with builder.when(within):
                lifted.set(aligned(at["range_end"][entry]))
        return builder.let("offset", lifted.get())
