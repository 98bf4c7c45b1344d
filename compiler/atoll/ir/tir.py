"""The loop program: integer loops over flat buffers, and the steps of one inference.

Arithmetic is two's complement and wraps; shift amounts count modulo the width; a division
truncates toward zero and the verifier has shown its divisor positive. Nothing is undefined.
Everything prints as text that can be parsed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar

from atoll.ir.graph import Tensor
from atoll.ir.safe_overlap import SafeOverlap
from atoll.ir.scalars import (
    Binary,
    Call,
    Cast,
    Const,
    Conversion,
    Dot,
    Expr,
    Load,
    Operation,
    Select,
    Type,
    Var,
)
from atoll.ir.statements import (
    Allocate,
    BufferParam,
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
    "Call",
    "CallStart",
    "Cast",
    "Const",
    "Constant",
    "Conversion",
    "CoreAction",
    "Direction",
    "Dot",
    "EngineAction",
    "Entry",
    "Expr",
    "For",
    "IRModule",
    "If",
    "KernelCall",
    "Let",
    "Load",
    "Lowered",
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
class Constant:
    """Bytes that the image carries.

    Attributes:
        data: None while later stages make them, as for command lists.
        pools: candidate pools, best first.
    """

    name: str
    size: int
    align: int
    pools: tuple[str, ...]
    data: bytes | None = field(default=None, repr=False)

    def __str__(self) -> str:
        data = "later" if self.data is None else f"0x{self.data.hex()}"
        return (
            f"constant {self.name}: {self.size} align {self.align} {bracketed(self.pools)} = {data}"
        )


@dataclass(frozen=True, slots=True)
class CoreAction:
    """A kernel that a core runs, with a buffer name for each of its parameters.

    Attributes:
        word: what it prints as.
    """

    word: ClassVar[str]
    function: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.word} @{self.function}({', '.join(self.arguments)})"


class KernelCall(CoreAction):
    """Run a kernel on the step's core, and wait."""

    __slots__ = ()
    word = "call"


class CallStart(CoreAction):
    """Have another core than the host start on a kernel, and go on.

    Until the step that waits for it, the core reads and writes what the step says.
    """

    __slots__ = ()
    word = "begin"


@dataclass(frozen=True, slots=True)
class EngineAction:
    """The `count` commands in the buffer `commands`, which an accelerator or DMA engine runs."""

    word: ClassVar[str]
    device: str
    commands: str
    count: int

    def __str__(self) -> str:
        return f"{self.word} {self.device}({self.commands}, {self.count})"


class AcceleratorRun(EngineAction):
    """Have a device run its commands, and wait."""

    __slots__ = ()
    word = "run"


class AcceleratorStart(EngineAction):
    """Have a device start on its commands, and go on.

    Until the step that waits for it, the device reads and writes what the step says.
    """

    __slots__ = ()
    word = "start"


@dataclass(frozen=True, slots=True)
class AcceleratorWait:
    """Wait for what was started on a device or core; the step repeats operator and buffers."""

    device: str

    def __str__(self) -> str:
        return f"wait {self.device}"


Action = KernelCall | CallStart | AcceleratorRun | AcceleratorStart | AcceleratorWait


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operator of the placed graph.

    Attributes:
        operator: its name.
        number: its place in the placed graph, from 0; trace events carry it.
        device: the device that runs it.
        reads: buffers whose bytes it reads, constants included.
        writes: buffers whose bytes it writes; scratch is in both.
        overlaps: which results may lie over which operands, and how.
    """

    operator: str
    number: int
    device: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    action: Action
    overlaps: tuple[SafeOverlap, ...] = ()

    def __str__(self) -> str:
        head = f"step {self.number} {self.operator} on {self.device}: {self.action}"
        line = f"{head} reads {bracketed(self.reads)} writes {bracketed(self.writes)}"
        return line + (f" over {bracketed(map(str, self.overlaps))}" if self.overlaps else "")


@dataclass(frozen=True)
class Entry:
    """One inference: what `<model>_run` does.

    Attributes:
        inputs: allocations that the caller fills, in the caller's order.
        outputs: allocations that the caller reads.
        allocations: activations and workspace.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    allocations: tuple[Allocate, ...]
    constants: tuple[Constant, ...]
    steps: tuple[Step, ...]

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Bytes of every buffer."""
        sizes = {item.buffer: item.size for item in self.allocations}
        return MappingProxyType(sizes | {item.name: item.size for item in self.constants})

    def __str__(self) -> str:
        ports = f"entry {bracketed(self.inputs)} -> {bracketed(self.outputs)}"
        lines = (*self.allocations, *self.constants, *self.steps)
        return f"{ports} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


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
