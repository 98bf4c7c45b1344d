# SPDX-License-Identifier: Apache-2.0
"""Make the graph of a file: nodes in their order, then the outputs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from atoll.diagnostics.errors import Fault, ModelError
from atoll.frontend.onnx.conversion import PASSING, SURROUND, Conversion, Handler
from atoll.frontend.onnx.model import File, Node, short
from atoll.frontend.onnx.onnx_values import Constant, Part, Pending, Unfit
from atoll.frontend.onnx.operators import (
    comparisons,
    copies,
    curves,
    dense,
    edges,
    elements,
    functions,
    moves,
    normalizations,
    norms,
    pixel_blocks,
    pools,
    reductions,
    resizing,
    transposed,
    windows,
)
from atoll.frontend.unsupported import Unsupported, list_unsupported, operator_faults
from atoll.ir.graph import Graph

_FAMILIES = (
    pixel_blocks,
    comparisons,
    copies,
    curves,
    dense,
    edges,
    elements,
    functions,
    moves,
    normalizations,
    norms,
    pools,
    reductions,
    resizing,
    transposed,
    windows,
)

HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {op: handler for family in _FAMILIES for op, handler in family.HANDLERS.items()}
)
"""What makes the operators of nodes, by what files call them."""

_INSTEAD = "build the layer of what docs/onnx.md lists"
_FLOATS = ("float", "float16", "double")


def graph_of(file: File) -> Graph:
    """Return the graph of a file.

    Raises:
        ModelError: E053 to E056; every node that is refused, and the edges.
    """
    return finish(convert(file))


def convert(file: File) -> Conversion:
    """Return what the values of a file have become; raises as `graph_of`."""
    c = Conversion(file)
    faults = _inputs(c)
    unknown: list[Unsupported] = []
    left: dict[str, str] = {}
    real = set[str]()
    for node in file.nodes:
        c.emit.index = node.index
        results: tuple[Part | None, ...] = (None,) * len(node.outputs)
        if node.op not in HANDLERS:
            unknown.append(Unsupported(node.written, str(node.index), node.place))
        elif all(c.parts.get(name, ...) is not None for name in filter(None, node.inputs)):
            results = _convert_node(c, node, faults, left)
        elif real & {*node.inputs} and node.op not in edges.HANDLERS:
            left[node.place] = ""
        if node.place in left:
            real.update(node.outputs)
        c.parts |= {name: part for name, part in zip(node.outputs, results, strict=False) if name}
    faults += _unquantised_faults(left)
    found = (
        (*list_unsupported(unknown, file.total, _INSTEAD, "node"), *faults)
        if unknown
        else tuple(faults)
    )
    if found:
        raise ModelError.all(found)
    return c


def _unquantised_faults(left: Mapping[str, str]) -> list[Fault]:
    """Return one fault for all nodes that compute with what nothing quantises, if there are some.

    Args:
        left: why the first one of a chain is refused, by the places of all nodes.
    """
    if not left:
        return []
    first, *others = left
    message = f"{first}: {left[first]}"
    if others:
        message += f"; so is what these read: {', '.join(others)}"
    return [Fault(code="E054", message=message, remedy=SURROUND)]


def _convert_node(
    c: Conversion, node: Node, faults: list[Fault], left: dict[str, str]
) -> tuple[Part | None, ...]:
    """Return the results of a node, None for those of one that is refused."""
    try:
        made = HANDLERS[node.op](c, node)
    except Unfit as unfit:
        if unfit.left_real:
            left[node.place] = str(unfit)
        else:
            faults.append(_fault(node.place, unfit))
        return (None,) * len(node.outputs)
    parts = made if isinstance(made, tuple) else (made,)
    return tuple(_note_maker(part, node) for part in parts)


def _note_maker(part: Part, node: Node) -> Part:
    """Say of a result that has to wait for its grid what makes it."""
    waits = isinstance(part, Pending) and part.node is None
    return replace(part, node=node) if waits and isinstance(part, Pending) else part


def _inputs(c: Conversion) -> list[Fault]:
    """Add the inputs, on the grids that their readers state."""
    faults = list[Fault]()
    for name in c.file.inputs:
        where = f"the model's input '{short(name)}'"
        try:
            shape = c.shape(name, "it")
            grids = list(c.grids_after(name))
            known = [grid for grid in grids if grid is not None]
            strange = any(node.op not in HANDLERS for node in _find_readers(c, name))
            if not strange and (not known or any(grid != known[0] for grid in grids)):
                raise Unfit(_readers_without_grid(c, name, several=bool(known)), SURROUND)
            if not known:
                c.parts[name] = None
                continue
            real = c.file.values[name].dtype in _FLOATS
            c.parts[name] = c.emit.input(name, shape, known[0], real=real)
        except Unfit as unfit:
            faults.append(_fault(where, unfit))
            c.parts[name] = None
    return faults


def _readers_without_grid(c: Conversion, name: str, *, several: bool) -> str:
    """Say who reads an input that has no grid, or several."""
    quantizing = ("QuantizeLinear", *PASSING)
    places = [node.place for node in _find_readers(c, name) if node.op not in quantizing]
    readers = f": {', '.join(dict.fromkeys(places))}" if places else ""
    if several:
        return f"is quantised in several ways, or read as a real number too{readers}"
    return f"is not quantised where it is read{readers}"


def _find_readers(c: Conversion, name: str) -> Iterator[Node]:
    """Yield the nodes that read a value, also where it is moved before."""
    for node in c.readers(name):
        yield node
        if node.op in PASSING:
            for result in node.outputs:
                yield from _find_readers(c, result)


def finish(c: Conversion) -> Graph:
    """Hand the outputs out as ONNX has them, each as a tensor of its own; raises as `graph_of`."""
    outputs, faults = list[str](), list[Fault]()
    for name in c.file.outputs:
        try:
            tensor = _output(c, c.parts.get(name))
        except Unfit as unfit:
            faults.append(_fault(f"the model's output '{short(name)}'", unfit))
            continue
        free = c.emit.is_free(tensor) and tensor not in outputs
        outputs.append(tensor if free else c.emit.copy(tensor))
    if faults:
        raise ModelError.all(faults)
    graph = c.emit.graph(outputs)
    nodes = {node.index: node for node in c.file.nodes}
    if refused := operator_faults(graph):
        raise ModelError.all(_as_nodes(fault, nodes) for fault in refused)
    return graph


def _output(c: Conversion, part: Part | None) -> str:
    if part is None:
        raise Unfit("is made by no node", "export the model again", "E052")
    if isinstance(part, Pending):
        if part.own is None:
            raise Unfit("is float, and no QuantizeLinear states how to quantise it", SURROUND)
        part = c.emit_pending(part, part.own)
    if isinstance(part, Constant):
        raise Unfit("is a constant", "remove it; its values are known before the run", "E055")
    return c.emit.plain(part).tensor


def _fault(place: str, unfit: Unfit) -> Fault:
    message = f"{unfit.place or place}: {unfit}"
    return Fault(code=unfit.code, message=message, remedy=unfit.remedy)


def _as_nodes(fault: Fault, nodes: Mapping[int, Node]) -> Fault:
    """Say of a node what an operator's kind refuses of what it became."""
    head, _, rest = fault.message.partition(": ")
    words = head.split()
    number = int(words[1]) if len(words) > 1 and words[1].isdigit() else -1
    place = f"{nodes[number].place}, as {words[2].strip('(),')}" if number in nodes else head
    remedy = "change the layer, or its quantisation, as docs/onnx.md allows"
    return replace(fault, message=f"{place}: {rest}", remedy=remedy)
