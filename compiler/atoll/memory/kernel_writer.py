"""What kernels of the planner are written with: parameters, variables and small idioms."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from atoll.ir.builder import Buffer, FunctionBuilder
from atoll.ir.expressions import Operand, add, binary
from atoll.ir.tir import Direction, Expr, Operation, Type

Parameters = Sequence[tuple[str, Type, int, Direction]]
"""Name, type, most elements and direction of each buffer."""


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


class KernelWriter:
    """The function that is being written.

    Attributes:
        at: parameters by name; one is `state`.
    """

    def __init__(self, name: str, parameters: Parameters) -> None:
        self.builder = FunctionBuilder(name)
        self.at = {
            name: self.builder.buffer(name, type, elements, direction)
            for name, type, elements, direction in parameters
        }
        self.state = self.at["state"]

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
