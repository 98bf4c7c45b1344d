# SPDX-License-Identifier: Apache-2.0
"""Put one operator in the place of several that an accelerator takes as one.

An accelerator's description names such patterns. What lies between the operators of a match must
be read by nobody else, and nobody may have asked for a place for any of it. Several become one
only where that is expected to take fewer cycles than each on its best device.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from atoll.cost.operators import compute_cycles
from atoll.description.build import BuildRequests
from atoll.description.patterns import PatternStep
from atoll.ir.graph import Graph, Operator
from atoll.ops.fused import ACCELERATOR, STEPS, outside
from atoll.place.annotations import annotated_operators
from atoll.place.capabilities import obstacles
from atoll.place.replicas import readers_of
from atoll.records import dataclass
from atoll.resolve.soc import Npu, OperatorSupport, ResolvedSoc

COMMUTATIVE = frozenset({"ADD", "MUL"})
"""Kinds whose first two inputs may change places without a change of a byte."""

Matched = Mapping[str, Operator]


def with_patterns(graph: Graph, soc: ResolvedSoc, asked: BuildRequests) -> Graph:
    """Return a network in which patterns of the chip's accelerators are one operator each.

    Longer patterns come first, then those of accelerators that the chip names first.

    Raises:
        AtollError: E162; a formula of an accelerator has no value.
    """
    patterns = sorted(_patterns(soc), key=lambda each: -len(each[1].pattern))
    if not patterns:
        return graph
    named = asked.model.named | annotated_operators(asked, graph)
    for npu, support in patterns:
        graph = _Fuser(graph, soc, npu, support, named).run()
    return graph


def _patterns(soc: ResolvedSoc) -> Iterator[tuple[Npu, OperatorSupport]]:
    seen = set[tuple[str, str]]()
    for npu in soc.npus:
        for support in npu.spec.operators:
            key = npu.spec.name, support.kind
            if support.pattern and support.kind in npu.runs and key not in seen:
                seen.add(key)
                yield npu, support


@dataclass(frozen=True, slots=True)
class _Fuser:
    """Looks for one pattern.

    Attributes:
        named: operators and tensors that must stay, since somebody asked for their places.
    """

    graph: Graph
    soc: ResolvedSoc
    npu: Npu
    support: OperatorSupport
    named: frozenset[str]

    def run(self) -> Graph:
        """Replace each match that is worth it; no operator is in two."""
        makers = {name: op for op in self.graph.operators for name in op.outputs}
        readers = readers_of(self.graph)
        fused, gone = dict[str, Operator](), set[str]()
        for last in self.graph.operators:
            for matched in _matches(last, self.support.pattern, makers):
                several = tuple(matched.values())
                if gone.intersection(each.name for each in several):
                    continue
                if not (_as_declared(matched, self.support) and self._alone(several, readers)):
                    continue
                one = self._fuse(several)
                if self._worth(one, several):
                    fused[last.name] = one
                    gone.update(each.name for each in several)
                    break
        return self._replace(fused, gone) if fused else self.graph

    def _alone(
        self, several: tuple[Operator, ...], readers: Mapping[str, Sequence[Operator]]
    ) -> bool:
        """Tell whether only the operators themselves read what lies between them."""
        inside = {each.name for each in several}
        inner = [name for each in several[:-1] for name in each.outputs]
        if self.named.intersection((*inside, *inner)) or {*inner} & {*self.graph.kept}:
            return False
        return all(inside.issuperset(each.name for each in readers[name]) for name in inner)

    def _fuse(self, several: tuple[Operator, ...]) -> Operator:
        graph, last = self.graph, several[-1]
        operands = outside(several)
        used = {*operands, *(name for each in several for name in each.outputs)}
        activations = (name for name in operands if graph.tensor(name).data is None)
        body = Graph(
            graph.name,
            tuple(tensor for tensor in graph.tensors if tensor.name in used),
            several,
            tuple(dict.fromkeys(activations)),
            last.outputs,
        )
        return Operator(
            name=f"{several[0].name}_to_{last.name}",
            kind=self.support.kind,
            inputs=operands,
            outputs=last.outputs,
            attributes=MappingProxyType(
                {
                    STEPS: " ".join(step.name for step in self.support.pattern),
                    ACCELERATOR: self.npu.spec.name,
                }
            ),
            index=last.index,
            body=body,
        )

    def _worth(self, one: Operator, several: tuple[Operator, ...]) -> bool:
        able = [npu for npu in self.soc.npus if self._can(one, npu)]
        if not able:
            return False
        together = min(compute_cycles(one, self.graph, npu, self.soc) for npu in able)
        return together < sum(map(self._best, several))

    def _can(self, op: Operator, npu: Npu) -> bool:
        return not any(obstacles(op, self.graph, npu, self.soc))

    def _best(self, op: Operator) -> int:
        """Return the cycles of an operator on the device that is best for it."""
        able = [npu for npu in self.soc.npus if self._can(op, npu)]
        core = self.soc.device(self.soc.default_device)
        return min(compute_cycles(op, self.graph, each, self.soc) for each in (core, *able))

    def _replace(self, fused: Mapping[str, Operator], gone: set[str]) -> Graph:
        operators = tuple(
            fused.get(op.name, op)
            for op in self.graph.operators
            if op.name not in gone or op.name in fused
        )
        used = {name for op in operators for name in (*op.inputs, *op.outputs)}
        made = {name for op in self.graph.operators for name in op.outputs}
        kept = (each for each in self.graph.tensors if each.name in used or each.name not in made)
        return replace(self.graph, tensors=tuple(kept), operators=operators)


def _as_declared(matched: Matched, support: OperatorSupport) -> bool:
    """Tell whether the operators read results of each other only where the pattern says so."""
    made = {op.outputs[0]: step for step, op in matched.items()}
    found = [(made.get(name, ""), n) for op in matched.values() for n, name in enumerate(op.inputs)]
    said = [
        (step.operands[n] if n < len(step.operands) else "", n)
        for step in support.pattern
        for n in range(len(matched[step.name].inputs))
    ]
    return found == said


def _matches(
    last: Operator, pattern: tuple[PatternStep, ...], makers: Mapping[str, Operator]
) -> Iterator[Matched]:
    """Yield operators by the steps that they match, in the order of the steps."""
    for found in _match_step(last, pattern[-1], pattern, makers, {}):
        names = {op.name for op in found.values()}
        if len(found) == len(pattern) == len(names):
            yield {step.name: found[step.name] for step in pattern}


def _match_step(
    op: Operator,
    step: PatternStep,
    pattern: tuple[PatternStep, ...],
    makers: Mapping[str, Operator],
    found: Matched,
) -> Iterator[Matched]:
    """Yield what is found so far with `op` for `step`, and all that it needs."""
    if step.name in found:
        if found[step.name].name == op.name:
            yield found
        return
    if op.kind.upper() != step.kind:
        return
    for inputs in _orders(op):
        turned = replace(op, inputs=inputs)
        yield from _operands(turned, step, 0, pattern, makers, {**found, step.name: turned})


def _operands(
    op: Operator,
    step: PatternStep,
    at: int,
    pattern: tuple[PatternStep, ...],
    makers: Mapping[str, Operator],
    found: Matched,
) -> Iterator[Matched]:
    """Yield what is found so far with all operands of `op` from number `at` on."""
    wanted = next((n for n in range(at, len(step.operands)) if step.operands[n]), None)
    if wanted is None:
        yield found
        return
    if wanted >= len(op.inputs) or (maker := makers.get(op.inputs[wanted])) is None:
        return
    other = next(each for each in pattern if each.name == step.operands[wanted])
    for more in _match_step(maker, other, pattern, makers, found):
        yield from _operands(op, step, wanted + 1, pattern, makers, more)


def _orders(op: Operator) -> tuple[tuple[str, ...], ...]:
    if op.kind.upper() in COMMUTATIVE:
        one, other = op.inputs
        return ((one, other), (other, one))
    return (op.inputs,)
