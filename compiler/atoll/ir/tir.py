"""The loop program: integer loops over flat buffers, and the steps of one inference.

Arithmetic is two's complement and wraps; shift amounts count modulo the width; a division
truncates toward zero and the verifier has shown its divisor positive. Nothing is undefined.
Everything prints as text that can be parsed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
    bracketed,
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operator of the placed graph.

    Attributes:
        operator: its name.
        number: its place in the placed graph, from 0; trace events carry it.
        device: the device that runs it, or that runs the first part of it.
        reads: buffers whose bytes it reads, constants included.
        writes: buffers whose bytes it writes; scratch is in both.
        overlaps: which results may lie over which operands, and how.
        driver: the host, where it reads the record by which it drives the device; "" where the
            device reads its commands itself. It is `device` where it also moves the data.
        record: the buffer among `reads` that only the driver reads, if the device moves its data.
        before, after: what cores do to their data caches around it: the host before it runs or
            starts the step, a core around its kernel.
    """

    operator: str
    number: int
    device: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    action: Action
    overlaps: tuple[SafeOverlap, ...] = ()
    record: str = ""
    driver: str = ""
    before: tuple[Maintenance, ...] = ()
    after: tuple[Maintenance, ...] = ()

    @property
    def calls(self) -> tuple[CoreCall, ...]:
        """The kernels that it runs, none on an accelerator."""
        if isinstance(self.action, CallSpread):
            return self.action.parts
        if isinstance(self.action, CoreAction):
            return (CoreCall(self.device, self.action.function, self.action.arguments),)
        return ()

    @property
    def devices(self) -> tuple[str, ...]:
        """All that work on it, at once."""
        if isinstance(self.action, CallSpread):
            return tuple(part.device for part in self.action.parts)
        return (self.device,)

    @property
    def runner(self) -> str:
        """The device that runs it, whoever moves its data."""
        return self.action.device if isinstance(self.action, EngineAction) else self.device

    @property
    def masters(self) -> tuple[str, ...]:
        """All that touch its buffers: its devices, and the host that reads their record."""
        return (*self.devices, *([self.driver] if self.record else ()))

    def touched_by(self, device: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what one of its masters reads, and what it writes."""
        if self.record:
            own = tuple(name for name in self.reads if name != self.record)
            return (own, self.writes) if device == self.device else ((self.record,), ())
        if not isinstance(self.action, CallSpread):
            return self.reads, self.writes
        names = {
            name for part in self.action.parts if part.device == device for name in part.arguments
        }
        reads, writes = (
            tuple(name for name in touched if name in names)
            for touched in (self.reads, self.writes)
        )
        return reads, writes

    def with_calls(self, calls: tuple[CoreCall, ...]) -> "Step":
        """Return the step with others in the place of its `calls`, as many and where they were."""
        if isinstance(self.action, CallSpread):
            return replace(self, action=CallSpread(calls))
        if isinstance(self.action, CoreAction):
            (call,) = calls
            action = replace(self.action, function=call.function, arguments=call.arguments)
            return replace(self, action=action)
        return self

    def __str__(self) -> str:
        head = f"step {self.number} {self.operator} on {self.device}: {self.action}"
        line = f"{head} reads {bracketed(self.reads)} writes {bracketed(self.writes)}"
        lists = {"over": self.overlaps, "before": self.before, "after": self.after}
        parts = (f" {word} {bracketed(map(str, each))}" for word, each in lists.items() if each)
        driven = f" driven by {self.driver}" if self.driver else ""
        driven += f" with {self.record}" if self.record else ""
        return line + driven + "".join(parts)


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
        ports = f"entry {bracketed(self.inputs)} -> {bracketed(self.outputs)}"
        lines = (*self.allocations, *self.parts, *self.constants, *self.steps)
        text = f"{ports} {{\n" + "".join(f"  {line}\n" for line in lines)
        for word, operations in (("after", self.after), ("reset", self.reset)):
            text += f"  {word} {bracketed(map(str, operations))}\n" if operations else ""
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
        return "\n".join([f"module {self.name}\n", *map(str, self.functions), str(self.entry)])
