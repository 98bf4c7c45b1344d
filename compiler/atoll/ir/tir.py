# SPDX-License-Identifier: Apache-2.0
"""The loop program: integer loops over flat buffers, and the steps of one inference.

Arithmetic is two's complement and wraps; shift amounts count modulo the width; a division
truncates toward zero and the verifier has shown its divisor positive. Nothing is undefined.
Everything prints as text that can be parsed.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType

from atoll.ir.actions import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    Action,
    CallSpread,
    CallStart,
    CoreAction,
    CoreCall,
    EngineAction,
    KernelCall,
)
from atoll.ir.buffers import BufferPart, Constant
from atoll.ir.graph import Tensor
from atoll.ir.maintenance import Maintenance
from atoll.ir.safe_overlap import SafeOverlap
from atoll.ir.scalars import (
    Binary,
    Call,
    Cast,
    Const,
    Conversion,
    Dot,
    Execute,
    Expr,
    Load,
    Operation,
    Select,
    Type,
    Var,
    Word,
)
from atoll.ir.statements import (
    Allocate,
    BufferParam,
    CallExtern,
    Direction,
    For,
    If,
    Let,
    PrimFunc,
    Return,
    RuntimeAllocate,
    Stmt,
    Store,
    bracket,
    quote,
)
from atoll.ir.step import Step
from atoll.ir.walk import executed_instructions, externs
from atoll.records import dataclass
from atoll.resolve.c_functions import CFunction

__all__ = [
    "AcceleratorRun",
    "AcceleratorStart",
    "AcceleratorWait",
    "Action",
    "Allocate",
    "Binary",
    "BufferParam",
    "BufferPart",
    "Call",
    "CallExtern",
    "CallSpread",
    "CallStart",
    "Cast",
    "Const",
    "Constant",
    "Conversion",
    "CoreAction",
    "CoreCall",
    "Direction",
    "Dot",
    "EngineAction",
    "Entry",
    "Execute",
    "Expr",
    "For",
    "IRModule",
    "If",
    "KernelCall",
    "Let",
    "Load",
    "Lowered",
    "Maintenance",
    "Operation",
    "PrimFunc",
    "Return",
    "RuntimeAllocate",
    "SafeOverlap",
    "Select",
    "Step",
    "Stmt",
    "Store",
    "Type",
    "Var",
    "Word",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """The loop program of one operator.

    Attributes:
        arguments: name of a tensor for each buffer parameter of `function`.
        constants: tensors among `arguments` that the lowering made, such as multiplier tables.
        library: scalar functions that `function` may call besides the shared ones, callees first.
    """

    function: PrimFunc
    arguments: tuple[str, ...]
    constants: tuple[Tensor, ...] = ()
    library: tuple[PrimFunc, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One inference: what `<model>_run` does.

    Attributes:
        inputs: allocations that the caller fills, in the caller's order.
        outputs: allocations that the caller reads.
        allocations: activations and workspace.
        parts: of allocations, by names that steps use as those of buffers.
        after: what the host does to its data cache before the caller reads.
        reset: what it does when it has given states their first bytes.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    allocations: tuple[Allocate, ...]
    constants: tuple[Constant, ...]
    steps: tuple[Step, ...]
    after: tuple[Maintenance, ...] = ()
    parts: tuple[BufferPart, ...] = ()
    reset: tuple[Maintenance, ...] = ()

    @property
    def states(self) -> tuple[str, ...]:
        """Allocations that keep their bytes from run to run."""
        return tuple(item.buffer for item in self.allocations if item.initial is not None)

    @property
    def filled(self) -> tuple[str, ...]:
        """Allocations that are there before step 0: inputs and states."""
        return (*self.inputs, *self.states)

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Bytes of every buffer, and of every part of one."""
        sizes = {item.buffer: item.size for item in self.allocations}
        sizes |= {item.name: item.size for item in self.parts}
        return MappingProxyType(sizes | {item.name: item.size for item in self.constants})

    @cached_property
    def part_by_name(self) -> Mapping[str, BufferPart]:
        """Parts by name."""
        return MappingProxyType({part.name: part for part in self.parts})

    def storage(self, name: str) -> str:
        """Return the buffer whose bytes a name stands for: itself unless it is a part."""
        part = self.part_by_name.get(name)
        return part.buffer if part else name

    def extent(self, name: str) -> tuple[int, int]:
        """Return the first byte of that buffer that a name stands for, and the one past its end."""
        part = self.part_by_name.get(name)
        begin = part.offset if part else 0
        return begin, begin + self.sizes.get(name, 0)

    @cached_property
    def beside(self) -> Mapping[str, tuple[str, ...]]:
        """For each buffer or part of one, all that have a byte that it has, itself included."""
        of_one: dict[str, list[str]] = {}
        for name in self.sizes:
            of_one.setdefault(self.storage(name), []).append(name)
        groups = {name: group for group in of_one.values() for name in group}
        return MappingProxyType(
            {name: tuple(it for it in groups[name] if self._meet(name, it)) for name in groups}
        )

    def meet(self, one: str, other: str) -> bool:
        """Tell whether two names stand for a byte that both have."""
        return one == other or other in self.beside.get(one, ())

    def _meet(self, one: str, other: str) -> bool:
        (begin, end), (since, until) = self.extent(one), self.extent(other)
        return one == other or (begin < until and since < end)

    def __str__(self) -> str:
        return self._text(map(str, self.allocations), map(str, self.constants))

    def brief(self) -> str:
        """Return the text with the checksums of long constants."""
        return self._text(
            (allocate.brief() for allocate in self.allocations),
            (constant.brief() for constant in self.constants),
        )

    def _text(self, allocations: Iterable[str], constants: Iterable[str]) -> str:
        ports = f"entry {bracket(self.inputs)} -> {bracket(self.outputs)}"
        lines = (*allocations, *self.parts, *constants, *self.steps)
        text = f"{ports} {{\n" + "".join(f"  {line}\n" for line in lines)
        for word, operations in (("end", self.after), ("reset", self.reset)):
            text += f"  {word} {bracket(map(str, operations))}\n" if operations else ""
        return text + "}\n"


@dataclass(frozen=True)
class IRModule:
    """A model as loop programs. `functions` are in an order in which callees come first."""

    name: str
    functions: tuple[PrimFunc, ...]
    entry: Entry

    @cached_property
    def by_name(self) -> Mapping[str, PrimFunc]:
        """Functions by name."""
        return MappingProxyType({function.name: function for function in self.functions})

    def __str__(self) -> str:
        called = externs(self.functions)
        sources = dict.fromkeys(function.source for function in called)
        lines = (
            *(f"source {quote(each.name)} {quote(each.text)}\n" for each in sources),
            *(_external(each) for each in called),
            *(f"{each}\n" for each in executed_instructions(self.functions)),
        )
        return self._text("".join(lines), str(self.entry))

    def brief(self) -> str:
        """Return the text for people: with the checksums of long constants.

        It has neither the sources of functions of C nor how instructions are encoded.
        """
        return self._text("", self.entry.brief())

    def _text(self, declared: str, entry: str) -> str:
        head = f"module {self.name}\n{declared}"
        return "\n".join([head, *map(str, self.functions), entry])


def _external(function: CFunction) -> str:
    types = ", ".join(map(quote, function.types))
    source = function.source
    return f"external {quote(source.name)} 0x{source.digest} {function.name}({types})\n"
