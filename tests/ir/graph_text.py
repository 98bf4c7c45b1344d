# SPDX-License-Identifier: Apache-2.0
"""Read the text of a tensor graph, which is what `str(graph)` prints.

The text holds neither quantisation nor the values of constants nor numbers of the model file: a
graph that is read has no quantisation, zeros in its constants, and -1 for every number.
"""

import re
from collections.abc import Iterator, Mapping
from math import prod

from atoll.ir.faults import ProgramError
from atoll.ir.graph import ITEM_BYTES, Attribute, Graph, Operator, Tensor

_WORD = r"[A-Za-z_]\w*"
_HEADER = re.compile(rf"graph (?P<name>{_WORD})\((?P<ins>[\w, ]*)\) -> \((?P<outs>[\w, ]*)\)")
_TENSOR = re.compile(
    rf"%(?P<name>{_WORD}): (?P<dtype>\w+)\[(?P<shape>scalar|\d+(?:x\d+)*)\]"
    rf"(?P<const> const)?(?: view of %(?P<view>{_WORD})(?: from (?P<offset>\d+))?)?"
    rf"(?: in (?P<pools>{_WORD}(?:, {_WORD})*))?"
)
_OPERATOR = re.compile(
    rf"(?P<outs>[%\w, ]*?) ?= (?P<kind>{_WORD})\((?P<ins>[%\w, ]*)\) \{{(?P<options>[^{{}}]*)\}}"
    rf"(?: : (?P<device>{_WORD})(?P<helpers>(?: \+ {_WORD})*))?  # (?P<name>{_WORD})"
)
_OPTION = re.compile(rf"(?P<key>{_WORD})=(?P<value>\([^()]*\)|[^,()]+)(?:, |$)")
_INTEGER = re.compile(r"-?\d+")
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf)|nan")


def parse_graph(text: str) -> Graph:
    """Return the graph that prints as `text`.

    Raises:
        ProgramError: E079; a line is not what a graph prints.
    """
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    rows = [(number, line) for number, line in lines if line]
    number, line = rows[0] if rows else (1, "")
    header = _match(_HEADER, line, number, "'graph NAME(INPUTS) -> (OUTPUTS)'")
    body = rows[1:]
    tensors = tuple(
        _tensor(row, at) for at, row in body if row.startswith("%") and " = " not in row
    )
    operators = tuple(_operator(row, at) for at, row in body if " = " in row or row[0] != "%")
    graph = Graph(
        name=header["name"],
        tensors=tensors,
        operators=operators,
        inputs=_names(header["ins"]),
        outputs=_names(header["outs"]),
    )
    _check_names(graph)
    return graph


def _tensor(line: str, number: int) -> Tensor:
    found = _match(_TENSOR, line, number, "a tensor such as '%x: int8[1x8] const in sram'")
    if found["dtype"] not in ITEM_BYTES:
        raise _fault(number, f"'{found['dtype']}'", f"one of {', '.join(ITEM_BYTES)}")
    dims = found["shape"]
    shape = () if dims == "scalar" else tuple(map(int, dims.split("x")))
    size = prod(shape) * ITEM_BYTES[found["dtype"]]
    return Tensor(
        name=found["name"],
        shape=shape,
        dtype=found["dtype"],
        data=bytes(size) if found["const"] else None,
        pools=_names(found["pools"] or ""),
        view=found["view"] or "",
        offset=int(found["offset"] or 0),
    )


def _operator(line: str, number: int) -> Operator:
    wanted = "an operator such as '%y = add(%x, %x) {activation=none} : cpu  # add_0'"
    found = _match(_OPERATOR, line, number, wanted)
    return Operator(
        name=found["name"],
        kind=found["kind"],
        inputs=tuple("" if name == "none" else name.strip("%") for name in _names(found["ins"])),
        outputs=tuple(name.strip("%") for name in _names(found["outs"])),
        attributes=_options(found["options"], number),
        device=found["device"] or "",
        helpers=tuple((found["helpers"] or "").replace("+", " ").split()),
    )


def _options(text: str, number: int) -> Mapping[str, Attribute]:
    options: dict[str, Attribute] = {}
    position = 0
    while position < len(text):
        found = _OPTION.match(text, position)
        if found is None:
            raise _fault(number, f"'{text[position : position + 40]}'", "options such as 'axis=1'")
        options[found["key"]] = _attribute(found["value"])
        position = found.end()
    return options


def _attribute(text: str) -> Attribute:
    if text.startswith("("):
        return tuple(int(item) for item in text.strip("(), ").split(",") if item)
    if text in ("True", "False"):
        return text == "True"
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))


def _check_names(graph: Graph) -> None:
    for name in _mentioned(graph):
        if name not in graph.by_name:
            raise ProgramError(
                "E079",
                f"the graph names tensor '{name}' and does not declare it",
                remedy=f"add a line '%{name}: int8[1]' with its type and shape",
            )


def _mentioned(graph: Graph) -> Iterator[str]:
    yield from (*graph.inputs, *graph.outputs)
    yield from filter(None, (tensor.view for tensor in graph.tensors))
    for op in graph.operators:
        yield from filter(None, (*op.inputs, *op.outputs))


def _match(pattern: re.Pattern[str], line: str, number: int, wanted: str) -> re.Match[str]:
    found = pattern.fullmatch(line)
    if found is None:
        raise _fault(number, f"'{line[:40]}'", wanted)
    return found


def _fault(number: int, found: str, wanted: str) -> ProgramError:
    return ProgramError(
        "E079",
        f"line {number} of the graph: {found} instead of {wanted}",
        remedy="correct this line; `--dump-after` prints well-formed graphs",
    )
