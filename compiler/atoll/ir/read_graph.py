# SPDX-License-Identifier: Apache-2.0
"""Read the text of a tensor graph, which is what `str(graph)` prints."""

from collections.abc import Mapping
from math import prod
from pathlib import Path

from atoll.ir.graph import ITEM_BYTES, Attribute, Graph, Operator, Quantization, Tensor
from atoll.ir.layouts import Layout, Patches
from atoll.ir.tokens import Tokens

_ITEMS = {name: name for name in ITEM_BYTES}
_WORDS: Mapping[str, bool | float] = {
    "True": True,
    "False": False,
    "inf": float("inf"),
    "nan": float("nan"),
}


def parse_graph(text: str, path: Path | None = None) -> Graph:
    """Return the graph whose `str` is `text`, white space aside; it is not yet verified.

    Args:
        text: all of it.
        path: the file that it is from, for messages.

    Raises:
        ProgramError: E222, the text is no graph; E198, it is one for people.
    """
    tokens = Tokens(text, "graph", path)
    graph = _Reader(tokens).graph()
    if not tokens.at_end():
        tokens.refuse("the end of the graph")
    return graph


class _Reader:
    """Reads one graph.

    Attributes:
        mentioned: the position of the first token that names a tensor, by name.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._mentioned: dict[str, int] = {}

    def graph(self) -> Graph:
        """Read ``graph name(inputs) -> (outputs)``, tensors and operators."""
        tokens = self._tokens
        tokens.expect("graph")
        name = tokens.name()
        inputs = tokens.nests(self._port, "(", ")")
        tokens.expect("->")
        outputs = tokens.nests(self._port, "(", ")")
        tensors: dict[str, Tensor] = {}
        operators: list[Operator] = []
        while not tokens.at_end() and tokens.next != "}":
            if tokens.ahead(2) != ":":
                operators.append(self._operator())
                continue
            if tokens.ahead(1) in tensors:
                tokens.refuse(f"a tensor that is not declared above, as '{tokens.ahead(1)}' is")
            tensor = self._tensor()
            tensors[tensor.name] = tensor
        for each, position in self._mentioned.items():
            if each not in tensors:
                message = f"the graph names tensor '{each}' and does not declare it"
                remedy = f"add a line '%{each}: int8[1]' with its type and shape"
                raise tokens.fault("E222", message, remedy, position)
        return Graph(name, tuple(tensors.values()), tuple(operators), inputs, outputs)

    def _port(self) -> str:
        self._mentioned.setdefault(self._tokens.next, self._tokens.position)
        return self._tokens.name()

    def _value(self) -> str:
        """Read ``%name``."""
        self._tokens.expect("%")
        return self._port()

    def _operand(self) -> str:
        return "" if self._tokens.accept("none") else self._value()

    def _shape(self) -> tuple[int, ...]:
        tokens = self._tokens
        if tokens.kind == "shape":
            dims = tokens.next
            tokens.position += 1
            return tuple(map(int, dims.strip("[]").split("x")))
        tokens.expect("[")
        shape = () if tokens.accept("scalar") else (tokens.number(),)
        tokens.expect("]")
        return shape

    def _tensor(self) -> Tensor:
        """Read ``%x: int8[1x8]`` and what follows."""
        tokens = self._tokens
        tokens.expect("%")
        name = tokens.name()
        tokens.expect(":")
        dtype = tokens.choose(_ITEMS, f"one of {', '.join(_ITEMS)}")
        shape = self._shape()
        layout = self._layout() if tokens.accept("as") else None
        size = (layout.elements if layout else prod(shape)) * ITEM_BYTES[dtype]
        view, offset = "", 0
        if tokens.accept("view"):
            tokens.expect("of")
            view = self._value()
            offset = tokens.number() if tokens.accept("from") else 0
        pools = self._pools() if tokens.accept("in") else ()
        rows_of, first_row = "", 0
        if tokens.accept("rows"):
            tokens.expect("of")
            tokens.expect("%")
            rows_of = tokens.name()
            tokens.expect("from")
            first_row = tokens.number()
        return Tensor(
            name=name,
            shape=shape,
            dtype=dtype,
            layout=layout,
            view=view,
            offset=offset,
            pools=pools,
            rows_of=rows_of,
            first_row=first_row,
            quantization=self._quantization() if tokens.accept("scale") else None,
            index=tokens.number() if tokens.accept("@") else -1,
            initial=self._data(name, size) if tokens.accept("kept") else None,
            data=self._data(name, size) if tokens.accept("=") else None,
        )

    def _data(self, name: str, size: int) -> bytes:
        data = self._tokens.data(name, size)
        if len(data) != size:
            self._tokens.position -= 1
            self._tokens.refuse(f"the {size} bytes of '{name}'")
        return data

    def _pools(self) -> tuple[str, ...]:
        pools = [self._tokens.name()]
        while self._tokens.accept(","):
            pools.append(self._tokens.name())
        return tuple(pools)

    def _quantization(self) -> Quantization:
        """Read ``(scales) zero (zero points)``, and the axis where it is not 0."""
        tokens = self._tokens
        scales = tokens.nests(self._real, "(", ")")
        tokens.expect("zero")
        zero_points = tokens.nests(tokens.number, "(", ")")
        axis = tokens.number() if tokens.accept("axis") else 0
        return Quantization(scales=scales, zero_points=zero_points, axis=axis)

    def _real(self) -> float:
        value = self._attribute()
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._tokens.position -= 1
            self._tokens.refuse("a number")
        return float(value)

    def _layout(self) -> Layout:
        """Read ``NHWC {image=(1, 8, 8, 3), row=16}``."""
        order, position = self._tokens.name(), self._tokens.position
        fields = dict(self._options())
        places = {key: fields.pop(key) for key in Patches.__dataclass_fields__ if key in fields}
        try:
            patches = Patches(**places) if places else None  # type: ignore[arg-type]
            layout = Layout(order=order, patches=patches, **fields)  # type: ignore[arg-type]
            assert layout.elements >= 0
        except (TypeError, ValueError, KeyError, AttributeError) as fault:
            message = f"layout '{order}' has not the values that a layout has"
            remedy = "write it as 'atoll opt' prints it"
            raise self._tokens.fault("E222", message, remedy, position) from fault
        return layout

    def _operator(self) -> Operator:
        """Read ``%y = kind(%x, none) {axis=1} : device  # name``."""
        tokens = self._tokens
        outputs: list[str] = []
        if tokens.next not in ("%", "none"):
            tokens.refuse("a tensor such as '%x: int8[4]', or an operator such as '%y = ...'")
        if not tokens.accept("none"):
            outputs.append(self._value())
        while outputs and tokens.accept(","):
            outputs.append(self._value())
        tokens.expect("=")
        kind = tokens.name()
        inputs = tokens.nests(self._operand, "(", ")")
        packed = tokens.nests(self._value, "(", ")") if tokens.accept("packed") else ()
        attributes = self._options()
        devices = self._devices() if tokens.accept(":") else [""]
        target = tokens.name() if tokens.accept("target") else ""
        tokens.expect("#")
        return Operator(
            name=tokens.name(),
            kind=kind,
            inputs=inputs,
            outputs=tuple(outputs),
            attributes=attributes,
            device=devices[0],
            helpers=tuple(devices[1:]),
            target=target,
            packed=packed,
            index=tokens.number() if tokens.accept("@") else -1,
            body=self._body() if tokens.accept("body") else None,
        )

    def _devices(self) -> list[str]:
        devices = [self._tokens.name()]
        while self._tokens.accept("+"):
            devices.append(self._tokens.name())
        return devices

    def _body(self) -> Graph:
        self._tokens.expect("{")
        body = _Reader(self._tokens).graph()
        self._tokens.expect("}")
        return body

    def _options(self) -> Mapping[str, Attribute]:
        return dict(self._tokens.nests(self._option, "{", "}"))

    def _option(self) -> tuple[str, Attribute]:
        key = self._tokens.name()
        self._tokens.expect("=")
        return key, self._attribute()

    def _attribute(self) -> Attribute:
        tokens = self._tokens
        match tokens.kind:
            case "number":
                return tokens.number()
            case "quoted":
                return tokens.take_quoted()
            case "real":
                tokens.position += 1
                return float(tokens.ahead(-1))
            case "name":
                name = tokens.name()
                return _WORDS.get(name, name)
        return self._whole_numbers()

    def _whole_numbers(self) -> tuple[int, ...]:
        """Read ``(1, 2)``, ``(1,)`` or ``()``."""
        tokens = self._tokens
        if tokens.next != "(":
            tokens.refuse('a value such as 1, 0.5, relu, "text" or (1, 2)')
        tokens.expect("(")
        values: list[int] = []
        while not tokens.accept(")"):
            values.append(tokens.number())
            if tokens.next != ")":
                tokens.expect(",")
        return tuple(values)
