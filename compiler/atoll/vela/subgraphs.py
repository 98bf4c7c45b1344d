# SPDX-License-Identifier: Apache-2.0
"""Put what Vela compiled into the graph: one ETHOS_U in the place of the operators it stands for.

Vela keeps the names of the tensors at the edges of its operators, and the network's own operators
stay as they were read: those between these edges become the body of an ETHOS_U, all others are
untouched. What Vela does inside is not followed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atoll.errors import ModelError
from atoll.frontend.registry import Source
from atoll.frontend.tflite.load import TFLITE
from atoll.frontend.tflite.reader import FileModel, read_file
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.resolve.soc import ResolvedSoc
from atoll.vela.memories import KIND, VelaTarget, npu_of, target_of
from atoll.vela.optimised import NpuCall, calls_in, estimated_cycles
from atoll.vela.parts import first_alone, part_of
from atoll.vela.regions import has_addresses, judged_stream, unfollowed
from atoll.vela.run import WITHOUT, VelaOutput, optimised, vela_version

LEAST_SCRATCH = 16


def with_subgraphs(graph: Graph, source: Source, soc: ResolvedSoc) -> Graph:
    """Return `graph` with an ETHOS_U for each operator that Vela makes of its file.

    It is `graph` itself where the chip has no Ethos-U, or the file is not a TFLite file: Vela reads
    nothing else here. Vela optimises speed; where scratch, inputs and outputs are then larger than
    the pool for them, size.

    Args:
        graph: of the front end.
        source: the file that it was read from.
        soc: the chip.

    Raises:
        ToolchainError: E136, Vela is not installed.
        ModelError: E143, Vela refuses the network, or does with it what cannot be followed.
        PlacementError: E144, no pool fits what Vela needs.
    """
    npu = npu_of(soc)
    if npu is None or source.suffix != TFLITE.suffix:
        return graph
    target = target_of(soc, npu)
    try:
        return _rewritten(graph, source, target)
    except ModelError as error:
        raise error.about(str(source.path)) from error


def _rewritten(graph: Graph, source: Source, target: VelaTarget) -> Graph:
    file, data = read_file(source.path), source.data
    names = _names(graph, file)
    if file.others and not any(op.calls for op in file.operators):
        data = first_alone(data)
    for strategy in ("Performance", "Size"):
        compiled = _Vela(graph, names, data, target, strategy).compiled
        if all(_workspace(graph, call, names) <= target.arena.room for _, call in compiled):
            break
    parts = tuple(_part(graph, call, names, _cycles(output, names)) for output, call in compiled)
    return _joined(graph, parts)


_Compiled = tuple[VelaOutput, NpuCall]


@dataclass(frozen=True, slots=True)
class _Vela:
    """Compiles a network, and parts of it, with one strategy.

    Attributes:
        graph: the network.
        names: its tensors by the names in the file.
        data: the file.
        target: what is compiled for.
        strategy: what Vela optimises.
    """

    graph: Graph
    names: Mapping[str, str]
    data: bytes
    target: VelaTarget
    strategy: str

    @property
    def compiled(self) -> tuple[_Compiled, ...]:
        """Vela's operators, each with the file that it was made in."""
        return tuple(self._of(self.data))

    def _of(self, data: bytes) -> Iterator[_Compiled]:
        output = optimised(data, self.target, self.strategy)
        calls = calls_in(output)
        taken = set[str]()
        for call in calls:
            alone = self._alone(call, taken) if len(calls) > 1 else (output, call)
            yield from self._fitting(*alone)

    def _alone(self, call: NpuCall, taken: set[str]) -> _Compiled:
        """Return what Vela makes alone of the operators of `call` that are not `taken`."""
        inputs, outputs = self._sides(call)
        body = [op for op in _needed(self.graph, inputs, outputs) if op.name not in taken]
        taken |= {op.name for op in body}
        edges = _edges(self.graph, body)
        if unknown := {*edges[0], *edges[1]} - {*self.names.values()}:
            raise _untraceable(f"tensor '{min(unknown)}' at an edge, which is none of the file")
        output = optimised(self._part(*edges), self.target, self.strategy)
        calls = calls_in(output)
        sides = [tuple(map(set, self._sides(each))) for each in calls]
        if sides != [tuple(map(set, edges))]:
            raise unfollowed(f"of the part that makes {call.outputs[0]} alone it makes another one")
        return output, calls[0]

    def _sides(self, call: NpuCall) -> tuple[list[str], list[str]]:
        inputs, outputs = (
            [_found(name, self.names) for name in side] for side in (call.inputs, call.outputs)
        )
        return inputs, outputs

    def _part(self, inputs: Sequence[str], outputs: Sequence[str]) -> bytes:
        sides = ([self.graph.tensor(name).index for name in side] for side in (inputs, outputs))
        return part_of(self.data, *sides)

    def _fitting(self, output: VelaOutput, call: NpuCall) -> Iterator[_Compiled]:
        """Yield `call`, or what Vela makes of its halves where the NPU lacks addresses for it.

        A single operator with too many inputs and outputs stays with the cores.
        """
        if has_addresses(call):
            yield output, call
            return
        for half in self._halves(_between(self.graph, *self._sides(call))):
            yield from self._of(self._part(*_edges(self.graph, half)))

    def _halves(self, body: Sequence[Operator]) -> tuple[Sequence[Operator], ...]:
        """Return an operator's body in two, cut near its middle at tensors of the file."""
        known = {*self.names.values()}
        for at in sorted(range(1, len(body)), key=lambda at: abs(2 * at - len(body))):
            halves = body[:at], body[at:]
            if all(known.issuperset((*i, *o)) for i, o in (_edges(self.graph, h) for h in halves)):
                return halves
        return ()


def _edges(graph: Graph, operators: Sequence[Operator]) -> tuple[list[str], list[str]]:
    """Return what operators read and others make, and what they make and others read."""
    own = {op.name for op in operators}
    made = dict.fromkeys(name for op in operators for name in op.outputs)
    read = dict.fromkeys(name for op in operators for name in op.inputs if name)
    others = {name for op in graph.operators if op.name not in own for name in op.inputs}
    inputs = [name for name in read if name not in made and graph.tensor(name).data is None]
    return inputs, [name for name in made if name in others or name in graph.outputs]


def _cycles(output: VelaOutput, names: Mapping[str, str]) -> Mapping[str, int]:
    layers = estimated_cycles(output, "")
    return {names[name]: count for name, count in layers.items() if name in names}


def _workspace(graph: Graph, call: NpuCall, names: Mapping[str, str]) -> int:
    """Return the bytes of scratch, inputs and outputs together."""
    edges = {names[name] for name in (*call.inputs, *call.outputs) if name in names}
    return call.scratch + sum(graph.tensor(name).size for name in edges)


def _names(graph: Graph, file: FileModel) -> Mapping[str, str]:
    """Return the graph's tensors by the names that the file has for them, where they are unique."""
    written = [tensor.name for tensor in file.tensors]
    found: dict[str, list[str]] = {}
    for tensor in graph.tensors:
        if 0 <= tensor.index < len(written) and tensor.data is None:
            found.setdefault(written[tensor.index], []).append(tensor.name)
    return {name: names[0] for name, names in found.items() if len(names) == 1}


@dataclass(frozen=True, slots=True)
class _Part:
    """What replaces some operators: the operator, its own tensors, and which it replaces."""

    operator: Operator
    tensors: tuple[Tensor, ...]
    replaced: tuple[str, ...]


def _part(
    graph: Graph, call: NpuCall, names: Mapping[str, str], cycles: Mapping[str, int]
) -> _Part:
    inputs, outputs = (
        tuple(_found(n, names) for n in side) for side in (call.inputs, call.outputs)
    )
    replaced = _between(graph, inputs, outputs)
    last = replaced[-1]
    name = f"{KIND}_{last.index}"
    body = _body(graph, name, replaced, inputs, outputs)
    payload = replace(call.payload, stream=judged_stream(body, call))
    tensors = (
        _constant(f"{name}_stream", payload.for_driver()),
        _constant(f"{name}_weights", call.weights or bytes(LEAST_SCRATCH)),
        Tensor(name=f"{name}_scratch", shape=(max(call.scratch, LEAST_SCRATCH),), dtype="int8"),
    )
    stream, weights, scratch = tensors
    made = {made for op in replaced for made in op.outputs}
    operator = Operator(
        name=name,
        kind=KIND,
        inputs=(stream.name, weights.name, *inputs),
        outputs=(*outputs, scratch.name),
        attributes={
            "cycles": sum(count for tensor, count in cycles.items() if tensor in made),
            "operators": len(replaced),
            "vela": vela_version(),
        },
        index=last.index,
        body=body,
    )
    return _Part(operator, tensors, tuple(op.name for op in replaced))


def _found(name: str, names: Mapping[str, str]) -> str:
    if name in names:
        return names[name]
    raise ModelError(
        "E143",
        f"Vela's operator has the tensor '{name}', and the network has none of that name, but what"
        " Vela adds, or several",
        remedy=f"{WITHOUT}, or if several tensors have that name, give each one of its own",
    )


def _needed(graph: Graph, inputs: Sequence[str], outputs: Sequence[str]) -> Sequence[Operator]:
    """Return the operators that make `outputs` of `inputs`, and what else these need."""
    writers = {name: op for op in graph.operators for name in op.outputs}
    wanted, found = [*outputs], set[str]()
    while wanted:
        name = wanted.pop()
        if name not in inputs and name in writers and writers[name].name not in found:
            found.add(writers[name].name)
            wanted += filter(None, writers[name].inputs)
    return tuple(op for op in graph.operators if op.name in found)


def _between(graph: Graph, inputs: Sequence[str], outputs: Sequence[str]) -> Sequence[Operator]:
    """Return the operators that make `outputs` of `inputs` alone, in their order."""
    body = _needed(graph, inputs, outputs)
    read, made = _edges(graph, body)
    if unnamed := [name for name in read if name not in inputs]:
        raise _untraceable(f"input '{unnamed[0]}' of the network, which it does not name")
    if hidden := sorted({*made} - {*outputs}):
        raise _untraceable(f"tensor '{hidden[0]}' inside, which others read")
    if not body:
        raise _untraceable("no operator at all")
    return body


def _untraceable(what: str) -> ModelError:
    message = f"Atoll cannot follow what Vela compiled: its operator has {what}"
    return ModelError("E143", message, remedy=WITHOUT)


def _constant(name: str, data: bytes) -> Tensor:
    return Tensor(name=name, shape=(len(data),), dtype="int8", data=data)


def _body(
    graph: Graph,
    name: str,
    operators: Sequence[Operator],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> Graph:
    used = {each for op in operators for each in (*op.inputs, *op.outputs)} | {*inputs, *outputs}
    tensors = tuple(tensor for tensor in graph.tensors if tensor.name in used)
    return Graph(name, tensors, tuple(operators), tuple(inputs), tuple(outputs))


def _joined(graph: Graph, parts: Iterable[_Part]) -> Graph:
    """Return the graph with each part at the place of the last operator that it replaces."""
    parts = tuple(parts)
    replaced = {name: part for part in parts for name in part.replaced}
    last = {part.replaced[-1]: part for part in parts}
    operators: list[Operator] = []
    for op in graph.operators:
        if op.name not in replaced:
            operators.append(op)
        elif op.name in last:
            operators.append(last[op.name].operator)
    ordered = _in_order(graph, operators)
    used = {name for op in ordered for name in (*op.inputs, *op.outputs)}
    used |= {*graph.filled, *graph.outputs}
    own = tuple(tensor for part in parts for tensor in part.tensors)
    kept = tuple(tensor for tensor in graph.tensors if tensor.name in used)
    return replace(graph, tensors=(*kept, *own), operators=ordered)


def _in_order(graph: Graph, operators: Sequence[Operator]) -> tuple[Operator, ...]:
    """Sort so that each tensor is written before it is read, the first that can run first."""
    writers = {name for op in operators for name in op.outputs}
    left, ordered, made = list(operators), list[Operator](), set[str]()
    while left:
        ready = (op for op in left if made.issuperset(writers.intersection(op.inputs)))
        op = next(ready, None)
        if op is None:
            raise _untraceable("an input that is made of its own output")
        left.remove(op)
        ordered.append(op)
        made.update(op.outputs)
    return tuple(ordered)
