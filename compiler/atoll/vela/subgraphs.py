# SPDX-License-Identifier: Apache-2.0
"""Put what Vela compiled into the graph: one ETHOS_U in the place of the operators it stands for.

Vela keeps the names of the tensors at the edges of its operators, and the network's own operators
stay as they were read: those between these edges become the body of an ETHOS_U, all others are
untouched. What Vela does inside is not followed. What it refuses, and what it makes wrong commands
of, is cut in halves, and halves of these; single operators then stay with the cores.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType

from atoll.description.identifiers import identifier
from atoll.diagnostics.errors import ModelError
from atoll.frontend.registry import Source
from atoll.frontend.tflite.load import TFLITE
from atoll.frontend.tflite.reader import FileModel, read_file
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll.vela.memories import KIND, VelaTarget, npu_of, target_of
from atoll.vela.optimised import NpuCall, calls_in, estimated_cycles
from atoll.vela.part_files import first_alone, part_of
from atoll.vela.regions import addresses_missing, judge_stream, refuse_commands
from atoll.vela.run_vela import WITHOUT, VelaOutput, VelaRefusalError, optimise, vela_version

LEAST_SCRATCH = 16
NOWHERE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Offloaded:
    """A network with what Vela made of it.

    Attributes:
        graph: the network.
        npu: the name of the NPU, "" if nothing was compiled for one.
        kept_off: what keeps an operator off the NPU that Vela was given and could not be followed
            in, by the operator's name.
        note: that what Vela made first was of no use for some operators; "" if it was for all.
    """

    graph: Graph
    npu: str = ""
    kept_off: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


def with_subgraphs(
    graph: Graph, source: Source, soc: ResolvedSoc, place: Mapping[str, str] = NOWHERE
) -> Offloaded:
    """Return `graph` with an ETHOS_U for each operator that Vela makes of its file.

    It is `graph` itself where the chip has no Ethos-U, or the file is not a TFLite file: Vela reads
    nothing else here. Vela optimises speed; where scratch, inputs and outputs are then larger than
    the pool for them, size.

    Args:
        graph: of the front end.
        source: the file that it was read from.
        soc: the chip.
        place: devices that somebody asks for, by the names of operators or of an ETHOS_U.

    Raises:
        ToolchainError: E136, Vela is not installed.
        ModelError: E143, Vela does not run, or does what cannot be followed; E143, E170, as much
            keeps an operator off the NPU that somebody asks for it.
        PlacementError: E144, no pool fits what Vela needs.
    """
    npu = npu_of(soc)
    if npu is None or source.suffix != TFLITE.suffix:
        return Offloaded(graph)
    target = target_of(soc, npu)
    wanted = [name for name, device in place.items() if identifier(device) == npu.name]
    try:
        return _offload(graph, source, target, wanted)
    except ModelError as error:
        raise error.about(str(source.path)) from error


def _offload(
    graph: Graph, source: Source, target: VelaTarget, wanted: Collection[str]
) -> Offloaded:
    file, data = read_file(source.path), source.data
    names = _names(graph, file)
    if file.others and not any(op.calls for op in file.operators):
        data = first_alone(data)
    for strategy in ("Performance", "Size"):
        vela = _Vela(graph, names, data, target, strategy)
        parts = vela.parts
        if all(_workspace(graph, part) <= target.arena.room for part in parts):
            break
    found = {part.operator.name for part in parts}
    placed = {name for part in parts for name in part.replaced}
    kept_off = {name: error for name, error in vela.kept_off.items() if name not in placed | found}
    for name in wanted:
        if name in kept_off:
            fault = kept_off[name].faults[0]
            raise ModelError(
                fault.code, fault.message, remedy=_avoidance_remedy(name, target.npu.name)
            )
    whys = {name: error.faults[0].message for name, error in kept_off.items()}
    refused = [op.name for op in graph.operators if op.name in vela.kept_off]
    note = _fallback_text(target.npu.name, refused, placed)
    return Offloaded(_join_parts(graph, parts), target.npu.name, whys, note)


def _fallback_text(npu: str, refused: Sequence[str], placed: Collection[str]) -> str:
    """Return what became of operators of which Vela's first commands were of no use."""
    smaller = sum(name in placed for name in refused)
    fates = {"compiled in smaller parts": smaller, "left to the cores": len(refused) - smaller}
    told = ", ".join(f"{count} {fate}" for fate, count in fates.items() if count)
    what = "1 operator" if len(refused) == 1 else f"{len(refused)} operators"
    return f"{npu}: Vela failed on {what}: {told} (see 'atoll explain')" if refused else ""


def _avoidance_remedy(name: str, npu: str) -> str:
    return f"do not ask for '{npu}' for '{name}': what Vela compiles wrongly then runs on the cores"


@dataclass(frozen=True, slots=True)
class _Vela:
    """Compiles a network, and parts of it, with one strategy.

    Attributes:
        graph: the network.
        names: its tensors by the names in the file.
        data: the file.
        target: what is compiled for.
        strategy: what Vela optimises.
        kept_off: what was wrong with the last part that Vela made of an operator, by the names of
            the operator and of the part.
    """

    graph: Graph
    names: Mapping[str, str]
    data: bytes
    target: VelaTarget
    strategy: str

    kept_off: dict[str, VelaRefusalError] = field(default_factory=dict)

    @property
    def parts(self) -> tuple["_Part", ...]:
        """What replaces the operators that Vela compiles as they are meant."""
        return tuple(self._of(self.data, self.graph.operators))

    def _of(self, data: bytes, body: Sequence[Operator]) -> Iterator["_Part"]:
        """Yield what Vela makes of a file, or of its halves.

        Args:
            data: the file.
            body: its operators.
        """
        try:
            output, calls = self._compile(data)
        except VelaRefusalError as error:
            yield from self._of_halves(body, error)
            return
        taken = set[str]()
        for call in calls:
            if len(calls) == 1:
                yield from self._fitting(output, call, body)
            else:
                yield from self._alone(call, body, taken)

    def _alone(
        self, call: NpuCall, given: Sequence[Operator], taken: set[str]
    ) -> Iterator["_Part"]:
        """Yield what Vela makes alone of the operators of `call` that are not `taken`."""
        body = [
            op for op in _needed_operators(self.graph, *self._sides(call)) if op.name not in taken
        ]
        taken |= {op.name for op in body}
        edges = _edges(self.graph, body)
        try:
            if unknown := {*edges[0], *edges[1]} - {*self.names.values()}:
                raise _untraceable(f"tensor '{min(unknown)}' at an edge, which is none of the file")
            output, calls = self._compile(self._part(body))
            sides = [tuple(map(set, self._sides(each))) for each in calls]
            if sides != [tuple(map(set, edges))]:
                what = f"of the part that makes {call.outputs[0]} alone it makes another one"
                raise refuse_commands(what)
        except VelaRefusalError as error:
            yield from self._of_halves(_both(body, given), error)
        else:
            yield from self._fitting(output, calls[0], given)

    def _compile(self, data: bytes) -> tuple[VelaOutput, tuple[NpuCall, ...]]:
        output = optimise(data, self.target, self.strategy)
        return output, calls_in(output)

    def _sides(self, call: NpuCall) -> tuple[list[str], list[str]]:
        inputs, outputs = (
            [_find_name(name, self.names) for name in side] for side in (call.inputs, call.outputs)
        )
        return inputs, outputs

    def _part(self, body: Sequence[Operator]) -> bytes:
        """Return a file with some operators, and with functions only where one may run them."""
        sides = ([self.graph.tensor(n).index for n in side] for side in _edges(self.graph, body))
        part = part_of(self.data, *sides)
        return first_alone(part) if all(op.index >= 0 for op in body) else part

    def _fitting(
        self, output: VelaOutput, call: NpuCall, given: Sequence[Operator]
    ) -> Iterator["_Part"]:
        """Yield the part that `call` is, or what Vela makes of its halves where it cannot be."""
        inputs, outputs = self._sides(call)
        try:
            if missing := addresses_missing(call):
                raise missing
            body = _between(self.graph, inputs, outputs)
            yield _part(self.graph, call, self.names, body, _cycles(output, self.names))
        except VelaRefusalError as error:
            yield from self._of_halves(
                _both(_needed_operators(self.graph, inputs, outputs), given), error
            )

    def _of_halves(self, body: Sequence[Operator], why: VelaRefusalError) -> Iterator["_Part"]:
        """Yield what Vela makes of the halves of a part; a single operator is left to the cores."""
        if body:
            self.kept_off.update(dict.fromkeys((_name(body), *(op.name for op in body)), why))
        for half in self._halves(body):
            yield from self._of(self._part(half), half)

    def _halves(self, body: Sequence[Operator]) -> tuple[Sequence[Operator], ...]:
        """Return an operator's body in two, cut near its middle between operators of the file."""
        known = {*self.names.values()}
        for at in sorted(range(1, len(body)), key=lambda at: abs(2 * at - len(body))):
            halves = body[:at], body[at:]
            if body[at - 1].index == body[at].index:
                continue
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


def _workspace(graph: Graph, part: "_Part") -> int:
    """Return the bytes of scratch, inputs and outputs together."""
    body = part.operator.body
    assert body is not None, f"{part.operator.name} has no body"
    return part.scratch + sum(graph.tensor(name).size for name in {*body.inputs, *body.outputs})


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
    """What replaces some operators: the operator, its own tensors, and which it replaces.

    Attributes:
        scratch: bytes that Vela wants of it.
    """

    operator: Operator
    tensors: tuple[Tensor, ...]
    replaced: tuple[str, ...]
    scratch: int


def _name(body: Sequence[Operator]) -> str:
    return f"{KIND}_{body[-1].index}"


def _part(
    graph: Graph,
    call: NpuCall,
    names: Mapping[str, str],
    replaced: Sequence[Operator],
    cycles: Mapping[str, int],
) -> _Part:
    inputs, outputs = (
        tuple(_find_name(n, names) for n in side) for side in (call.inputs, call.outputs)
    )
    name = _name(replaced)
    body = _body(graph, name, replaced, inputs, outputs)
    payload = replace(call.payload, stream=judge_stream(body, call))
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
        index=replaced[-1].index,
        body=body,
    )
    return _Part(operator, tensors, tuple(op.name for op in replaced), call.scratch)


def _find_name(name: str, names: Mapping[str, str]) -> str:
    if name in names:
        return names[name]
    raise ModelError(
        "E143",
        f"Vela's operator has the tensor '{name}', and the network has none of that name, but what"
        " Vela adds, or several",
        remedy=f"{WITHOUT}, or if several tensors have that name, give each one of its own",
    )


def _needed_operators(
    graph: Graph, inputs: Sequence[str], outputs: Sequence[str]
) -> Sequence[Operator]:
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
    body = _needed_operators(graph, inputs, outputs)
    read, made = _edges(graph, body)
    if unnamed := [name for name in read if name not in inputs]:
        raise _untraceable(f"input '{unnamed[0]}' of the network, which it does not name")
    if hidden := sorted({*made} - {*outputs}):
        raise _untraceable(f"tensor '{hidden[0]}' inside, which others read")
    if not body:
        raise _untraceable("no operator at all")
    return body


def _both(body: Sequence[Operator], given: Sequence[Operator]) -> Sequence[Operator]:
    """Return the operators of a part that are among those that Vela was given."""
    names = {op.name for op in given}
    return [op for op in body if op.name in names]


def _untraceable(what: str) -> VelaRefusalError:
    message = f"Atoll cannot follow what Vela compiled: its operator has {what}"
    return VelaRefusalError("E143", message, remedy=WITHOUT)


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


def _join_parts(graph: Graph, parts: Iterable[_Part]) -> Graph:
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
