# SPDX-License-Identifier: Apache-2.0
"""The tensor graph: what the model computes and, once placed, on which device."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property
from math import prod
from textwrap import indent
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from atoll.ir.bytes_text import brief_text, bytes_text
from atoll.ir.layouts import Layout
from atoll.records import dataclass
from atoll.utils.remember import Alike

ITEM_BYTES = {"int8": 1, "uint8": 1, "int16": 2, "int32": 4, "int64": 8, "float32": 4, "bool": 1}

Attribute = int | float | str | bool | tuple[int, ...]

_PLAIN_WORD = re.compile(r"(?!(?:True|False|inf|nan)$)[A-Za-z_]\w*")


def options_text(options: Mapping[str, Attribute]) -> str:
    """Print options by name; a text that reads as something else is in quotes."""
    texts = {
        key: json.dumps(value)
        if isinstance(value, str) and not _PLAIN_WORD.fullmatch(value)
        else str(value)
        for key, value in options.items()
    }
    return f"{{{', '.join(f'{key}={texts[key]}' for key in sorted(texts))}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantization:
    """real = scale * (value - zero_point), per tensor (one entry) or along `axis`.

    Attributes:
        scales: float32 values held as Python floats.
        zero_points: as many as `scales`.
        axis: dimension that the entries run along; 0 where there is one entry.
    """

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int = 0

    def __str__(self) -> str:
        scales, zeros = (", ".join(map(str, each)) for each in (self.scales, self.zero_points))
        axis = f" axis {self.axis}" if self.axis else ""
        return f"scale ({scales}) zero ({zeros}){axis}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A dense array, in row-major order unless it has a layout.

    Attributes:
        name: unique in its graph; an identifier in C and in the loop program.
        shape: elements per dimension; () is a scalar.
        dtype: a key of `ITEM_BYTES`.
        quantization: None for plain integers such as shapes and axes.
        data: little-endian bytes of a constant, None for an activation.
        index: number of the tensor in the model file, -1 if a pass made it.
        pools: the only pools that may hold it, best first; () where memory planning may choose.
        view: the tensor whose bytes it is, no view itself; "" if it has bytes of its own.
        offset: bytes of that tensor before those of a view.
        rows_of: the network's tensor [1, H, W, C] of which it holds some rows, "" if none.
        first_row: the first of them.
        layout: how its elements lie, None for row-major order; `shape` is what they are to
            operators either way.
        initial: of a state, its bytes before the first run; a run finds what the one before left.
            None for what no run leaves to the next.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    quantization: Quantization | None = None
    data: bytes | None = None
    index: int = -1
    pools: tuple[str, ...] = ()
    view: str = ""
    offset: int = 0
    rows_of: str = ""
    first_row: int = 0
    layout: Layout | None = None
    initial: bytes | None = None

    @property
    def pool(self) -> str:
        """The only pool that may hold it, "" where there is a choice."""
        return self.pools[0] if len(self.pools) == 1 else ""

    @property
    def elements(self) -> int:
        """Count of elements."""
        return prod(self.shape)

    @property
    def stored(self) -> int:
        """Count of elements that it has room for: with the fillings of its layout."""
        return self.layout.elements if self.layout else self.elements

    @property
    def size(self) -> int:
        """Bytes."""
        return self.stored * ITEM_BYTES[self.dtype]

    @property
    def array(self) -> NDArray[np.generic]:
        """The constant's values, read-only, in `shape`."""
        assert self.data is not None, f"{self.name} is no constant"
        return np.frombuffer(self.data, dtype=self.dtype).reshape(self.shape)

    def bytes_of(self, values: NDArray[np.generic]) -> bytes:
        """Return `values`, in `shape`, as they lie in memory."""
        return (self.layout.store(values) if self.layout else values).tobytes()

    def values_in(self, data: bytes) -> NDArray[np.generic]:
        """Return the values, in `shape`, of bytes that lie in memory."""
        stored = np.frombuffer(data, self.dtype)
        return (self.layout.load(stored) if self.layout else stored).reshape(self.shape)

    def __str__(self) -> str:
        return self.text(bytes_text)

    def text(self, written: Callable[[bytes, int], str]) -> str:
        """Return the text, with bytes as `written` writes them."""
        dims = "x".join(map(str, self.shape)) or "scalar"
        parts = [f"%{self.name}: {self.dtype}[{dims}]"]
        parts += [f"as {self.layout.text()}"] if self.layout else []
        parts += [f"view of %{self.view}"] if self.view else []
        parts += [f"from {self.offset}"] if self.offset else []
        parts += [f"in {', '.join(self.pools)}"] if self.pools else []
        parts += [f"rows of %{self.rows_of} from {self.first_row}"] if self.rows_of else []
        parts += [str(self.quantization)] if self.quantization else []
        parts += [f"@ {self.index}"] if self.index != -1 else []
        parts += [] if self.initial is None else [f"kept {written(self.initial, self.size)}"]
        parts += [] if self.data is None else [f"= {written(self.data, self.size)}"]
        return " ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Applies `kind` to tensors.

    Attributes:
        name: unique in its graph, such as ``conv_2d_3``; trace, report and errors use it.
        kind: a name that `atoll.ops.registry.KINDS` has, such as ``conv_2d``.
        inputs: tensor names in the order of the operator's definition; "" marks an absent one.
        outputs: tensor names.
        attributes: options by name; docs/operators.md lists them for each kind.
        device: name of the device that runs it, "" until placed.
        target: the name of the target of its core that its code is made for, "" for the usual one.
        helpers: further cores, each of which runs a part of it at the same time.
        index: number of the operator in the model file, -1 if a pass made it or if it is of what
            another operator of the file runs.
        packed: constants that its accelerator's own code packed for it and that lie in private
            memory by the time it runs, in the order of the accelerator's description.
        body: the operators that it stands for, where one device runs several as one; the kind says
            which of its inputs and outputs those of the body are.
    """

    name: str
    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    device: str = ""
    index: int = -1
    helpers: tuple[str, ...] = ()
    packed: tuple[str, ...] = ()
    target: str = ""
    body: "Graph | None" = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """What messages call it: its number in the model file, its name if it has none."""
        return str(self.index) if self.index >= 0 else self.name

    @property
    def devices(self) -> tuple[str, ...]:
        """All that work on it."""
        return (self.device, *self.helpers)

    @property
    def reads(self) -> tuple[str, ...]:
        """All tensors that it reads, each as often as it does."""
        return (*filter(None, self.inputs), *self.packed)

    def rename_operands(self, names: Mapping[str, str]) -> "Operator":
        """Return the operator with other tensors in the place of those that it reads."""
        inputs, packed = (
            tuple(names.get(name, name) for name in each) for each in (self.inputs, self.packed)
        )
        return replace(self, inputs=inputs, packed=packed)

    def integer(self, name: str) -> int:
        """Return an attribute that is a whole number."""
        value = self.attributes[name]
        assert isinstance(value, int), f"{self.name}.{name} is {value!r}"
        return value

    def __str__(self) -> str:
        return self.text(bytes_text)

    def text(self, written: Callable[[bytes, int], str]) -> str:
        """Return the text, with bytes of its body as `written` writes them."""
        results = ", ".join(f"%{name}" for name in self.outputs) or "none"
        arguments = ", ".join(f"%{name}" if name else "none" for name in self.inputs)
        packed = f" packed ({', '.join(f'%{name}' for name in self.packed)})" if self.packed else ""
        where = f" : {' + '.join(self.devices)}" if self.device else ""
        where += f" target {self.target}" if self.target else ""
        number = f" @ {self.index}" if self.index != -1 else ""
        body = f" body {{\n{indent(self.body.text(written), '  ')}}}" if self.body else ""
        options = options_text(self.attributes)
        return (
            f"{results} = {self.kind}({arguments}){packed} {options}{where}  # {self.name}"
            f"{number}{body}"
        )


@dataclass(frozen=True)
class Graph:
    """A model as operators in execution order.

    What it keeps from run to run are its states. An operator that changes one has a view of it
    among its outputs; all others that read the state come before it.

    Attributes:
        name: identifier made from the model's file name; prefix of every C name.
        tensors: every tensor that an operator, input or output names.
        operators: in an order in which each tensor is written before it is read.
        inputs: activations that the caller provides.
        outputs: activations that the caller reads.
    """

    name: str
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @cached_property
    def by_name(self) -> Mapping[str, Tensor]:
        """Tensors by name."""
        return MappingProxyType({tensor.name: tensor for tensor in self.tensors})

    def tensor(self, name: str) -> Tensor:
        """Look a tensor up by name."""
        return self.by_name[name]

    @cached_property
    def _keys(self) -> dict[str, Alike]:
        return {}

    def key_of(self, op: Operator) -> Alike:
        """Return an operator and its tensors, as a key of what depends on no more of the graph."""
        found = self._keys.get(op.name)
        if found is None or found.values[0] is not op:
            tensors = tuple(map(self.by_name.__getitem__, (*op.reads, *op.outputs)))
            sign = op.name, op.inputs, *(each.pools for each in tensors)
            found = self._keys[op.name] = Alike(sign, op, tensors)
        return found

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The tensors that keep their bytes from run to run."""
        return tuple(tensor.name for tensor in self.tensors if tensor.initial is not None)

    @property
    def filled(self) -> tuple[str, ...]:
        """The activations that are there before a run: inputs and states."""
        return (*self.inputs, *self.states)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """The tensors that outlive a run: outputs, and what becomes of states."""
        states = frozenset(self.states)
        changed = (tensor.name for tensor in self.tensors if tensor.view in states)
        written = {name for op in self.operators for name in op.outputs} if states else set()
        return (*self.outputs, *(name for name in changed if name in written))

    def storage(self, name: str) -> str:
        """Return the tensor that has the bytes of a tensor: itself unless it is a view."""
        return self.by_name[name].view or name

    def is_part(self, name: str) -> bool:
        """Tell whether a tensor is a view of some of the bytes of another one, not of all."""
        tensor = self.by_name[name]
        return bool(tensor.view) and tensor.size != self.by_name[tensor.view].size

    def buffer(self, name: str) -> str:
        """Return what programs call the bytes of a tensor: its own name if it is a part."""
        return name if self.is_part(name) else self.storage(name)

    @property
    def written_in_parts(self) -> tuple[str, ...]:
        """The tensors that no operator writes as a whole, but views of theirs; no states."""
        views = (self.by_name[name].view for op in self.operators for name in op.outputs)
        names = (name for name in views if name and self.by_name[name].initial is None)
        return tuple(dict.fromkeys(names))

    def operands(self, op: Operator) -> tuple[Tensor | None, ...]:
        """Return the input tensors of `op`, None where one is absent."""
        return tuple(self.by_name[name] if name else None for name in op.inputs)

    def results(self, op: Operator) -> tuple[Tensor, ...]:
        """Return the output tensors of `op`."""
        return tuple(self.by_name[name] for name in op.outputs)

    def with_operators(self, operators: Iterable[Operator]) -> "Graph":
        """Return the graph with other operators over the same tensors."""
        return replace(self, operators=tuple(operators))

    def __str__(self) -> str:
        return self.text(bytes_text)

    def brief(self) -> str:
        """Return the text with the checksums of long constants, as files for people have it."""
        return self.text(brief_text)

    def text(self, written: Callable[[bytes, int], str]) -> str:
        """Return the text, with bytes as `written` writes them."""
        header = f"graph {self.name}({', '.join(self.inputs)}) -> ({', '.join(self.outputs)})"
        tensors = (f"  {tensor.text(written)}" for tensor in self.tensors)
        operators = (indent(op.text(written), "  ") for op in self.operators)
        return "\n".join([header, *tensors, "", *operators]) + "\n"
