"""Choose the device of every operator, and remember why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from atoll import plugins
from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import kind_of
from atoll.place.candidates import CONSTANT_ROLES, WORKSPACE_ROLES, pools_for
from atoll.resolve.soc import Access, Engine, Npu, OperatorSupport, ResolvedSoc


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Why an operator runs where it runs.

    Attributes:
        operator: its name.
        device: where it runs.
        reason: why there, for people.
        rejected: each other accelerator and why it was not taken, in canonical order.
    """

    operator: str
    device: str
    reason: str
    rejected: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        others = "".join(f"; not {device}: {why}" for device, why in self.rejected)
        return f"{self.operator} on {self.device}: {self.reason}{others}"


class CostModel(Protocol):
    """The part of an accelerator's emitter that placement asks."""

    def estimate_cycles(self, op: Operator, graph: Graph, npu: Engine) -> int:
        """Predict the cycles that `npu` is busy with `op`."""
        ...


def partition(graph: Graph, soc: ResolvedSoc, *, accelerators: bool = True) -> Graph:
    """Return `graph` with the device of every operator set.

    Args:
        graph: any graph whose operators can be compiled.
        soc: the chip.
        accelerators: False puts everything on the host.
    """
    decisions = decide(graph, soc, accelerators=accelerators)
    devices = {decision.operator: decision.device for decision in decisions}
    return graph.with_operators(replace(op, device=devices[op.name]) for op in graph.operators)


def decide(graph: Graph, soc: ResolvedSoc, *, accelerators: bool = True) -> tuple[Decision, ...]:
    """Choose for every operator the accelerator with the fewest cycles, else the host."""
    if not accelerators:
        return tuple(
            Decision(operator=op.name, device=soc.host, reason="accelerators are switched off")
            for op in graph.operators
        )
    costs: dict[str, CostModel] = {
        npu.spec.emitter: plugins.load(npu.spec.emitter)() for npu in soc.npus
    }
    return tuple(_decide(op, graph, soc, costs) for op in graph.operators)


def _decide(
    op: Operator, graph: Graph, soc: ResolvedSoc, costs: Mapping[str, CostModel]
) -> Decision:
    rejected: dict[str, str] = {}
    cycles: dict[str, int] = {}
    for npu in soc.npus:
        if fault := next(_obstacles(op, graph, npu, soc), None):
            rejected[npu.name] = fault
        else:
            cycles[npu.name] = costs[npu.spec.emitter].estimate_cycles(op, graph, npu)
    if not cycles:
        reason = "no accelerator can run it" if rejected else "the chip has no accelerator"
        return _decision(op, soc.host, reason, rejected, soc)
    best = min(cycles, key=lambda name: cycles[name])
    slower = {
        name: f"about {count} cycles, not fewer" for name, count in cycles.items() if name != best
    }
    return _decision(op, best, f"about {cycles[best]} cycles", rejected | slower, soc)


def _decision(
    op: Operator, device: str, reason: str, rejected: Mapping[str, str], soc: ResolvedSoc
) -> Decision:
    ordered = tuple((npu.name, rejected[npu.name]) for npu in soc.npus if npu.name in rejected)
    return Decision(operator=op.name, device=device, reason=reason, rejected=ordered)


def _obstacles(op: Operator, graph: Graph, npu: Npu, soc: ResolvedSoc) -> Iterator[str]:
    """Yield what keeps `op` off `npu`."""
    support = next((each for each in npu.spec.operators if each.kind == op.kind), None)
    if support is None or op.kind not in npu.runs:
        yield f"does not run {op.kind}"
        return
    yield from _limits(support, kind_of(op).features(op, graph))
    if not pools_for(soc, {npu.name: Access.WRITE}, WORKSPACE_ROLES, 1):
        yield "writes no workspace pool"
    if not pools_for(soc, {npu.name: Access.READ}, CONSTANT_ROLES, 1):
        yield "reads no constants pool"


def _limits(support: OperatorSupport, features: Mapping[str, int]) -> Iterator[str]:
    for name, (least, most) in support.limits.items():
        value = features.get(name)
        if value is None:
            yield f"limits '{name}', which {support.kind} does not have"
        elif least is not None and value < least:
            yield f"{name} is {value}, at least {least}"
        elif most is not None and value > most:
            yield f"{name} is {value}, at most {most}"
