"""What the search kernel is written with: its parameters, variables and small idioms."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from atoll.ir.builder import Buffer, FunctionBuilder
from atoll.ir.expressions import Operand, add, binary, subtract
from atoll.ir.tir import Expr, Operation, Type
from atoll.memory.search_layout import BUFFER_COUNT, BUFFERS

NAME = "atoll_memory_search"


def op(text: str, left: Operand, right: Operand) -> Expr:
    """Apply the operation that `text` names."""
    return binary(Operation(text), left, right)


@dataclass(slots=True)
class Value:
    """A scalar variable of the kernel."""

    cell: Buffer

    def get(self) -> Expr:
        """Return its value."""
        return self.cell[0]

    def set(self, value: Operand) -> None:
        """Give it a value."""
        self.cell[0] = value


class SearchWriter:
    """The function that is being written.

    Attributes:
        at: parameters by name.
        count, capacity, ceiling, origin: what the caller sets in `state` and `limits`.
    """

    def __init__(self) -> None:
        self.builder = FunctionBuilder(NAME)
        self.at = {
            name: self.builder.buffer(name, type, elements, direction)
            for name, type, elements, direction in BUFFERS
        }
        self.state = self.at["state"]
        self.count = self.builder.let("count", self.state[BUFFER_COUNT])
        self.capacity = self.builder.let("capacity", self.at["limits"][0])
        self.ceiling = self.builder.let("ceiling", self.at["limits"][1])
        self.origin = self.builder.let("origin", self.at["limits"][2])

    @contextmanager
    def when(self, value: Expr, number: int) -> Iterator[None]:
        """Run what is inside where `value` is `number`."""
        with self.builder.when(op("==", value, number)):
            yield

    def variable(self, name: str, type: Type, value: Operand) -> Value:
        """Make a variable."""
        variable = Value(self.builder.allocate(name, type, 1))
        variable.set(value)
        return variable

    @contextmanager
    def entries(self, lists: str, owner: Expr) -> Iterator[Expr]:
        """Repeat for the place of each entry of a list of `owner`."""
        starts = self.at[lists]
        with self.builder.loop("entry", starts[owner], starts[add(owner, 1)]) as entry:
            yield entry

    @contextmanager
    def when_equal(self, left: Expr, right: Expr) -> Iterator[None]:
        """Run what is inside where two values are equal."""
        with self.builder.when(op("==", left, right)):
            yield

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
