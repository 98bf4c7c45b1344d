# SPDX-License-Identifier: Apache-2.0
"""Which devices can run an operator, and what keeps the others from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from atoll.ir.graph import Graph, Operator
from atoll.ops.formulas import limit_values
from atoll.ops.fused import ACCELERATOR, STEPS
from atoll.ops.registry import COPY, ETHOS_U, OPERATORS, kind_of
from atoll.ops.rounding import ROUNDING, as_tflite, rounding_feature
from atoll.place.requests import Requests
from atoll.reach.candidates import CONSTANT_ROLES, WORKSPACE_ROLES, allows, pools_for, roles_of
from atoll.resolve.engine_parts import RECORDS
from atoll.resolve.soc import Access, Cpu, Device, Engine, Npu, OperatorSupport, ResolvedSoc

GROUPS = "groups"
"""A feature that most accelerators do not know: those whose description limits it run several."""

INT8, ELEMENT_BYTES = "int8", "element_bytes"
"""Likewise: an accelerator whose description limits neither runs int8 and nothing else."""

NO_MAILBOX = "has no mailbox, so the host cannot start operators on it"


def obstacles(op: Operator, graph: Graph, device: Device, soc: ResolvedSoc) -> Iterator[str]:
    """Yield what keeps `op` off `device`."""
    match device:
        case Npu():
            yield from _npu_obstacles(op, graph, device, soc)
        case Cpu():
            if not kind_of(op).on_cores:
                yield f"has no program for {op.kind}"
            if device.name != soc.host and not device.has_mailbox:
                yield NO_MAILBOX
            if not pools_for(soc, {device.name: Access.WRITE}, WORKSPACE_ROLES, 1):
                yield "writes no workspace pool"
        case _:
            if op.kind != COPY:
                yield f"is a {device.kind}, which runs no operators"


def runners(
    op: Operator, graph: Graph, *, among: Sequence[Npu], soc: ResolvedSoc
) -> frozenset[str]:
    """Return the names of the accelerators that nothing keeps from `op`."""
    return frozenset(npu.name for npu in among if not any(obstacles(op, graph, npu, soc)))


def pin_obstacles(
    op: Operator, graph: Graph, device: Device, soc: ResolvedSoc, requests: Requests
) -> Iterator[str]:
    """Yield the pins of the tensors of `op` that `device` cannot keep."""
    if not requests.pins:
        return
    sides = ((op.inputs, Access.READ, "read"), (op.outputs, Access.WRITE, "write"))
    for names, need, verb in sides:
        for name in names:
            for asked in requests.pins.get(name, ()) if name not in requests.free else ():
                held = asked.writes if need is Access.WRITE else asked.concerns(op)
                pools = asked.pin.pools
                if not asked.plain:
                    tensor = graph.tensor(name)
                    holding = pools_for(soc, {}, roles_of(tensor), tensor.size)
                    pools = tuple(pool for pool in pools if pool in holding)
                reached = (allows(soc.pool(pool).reach[device.name], need) for pool in pools)
                if held and pools and not any(reached):
                    words = " or ".join(f"'{pool}'" for pool in pools)
                    yield f"does not {verb} pool {words}, where '{name}' is pinned"


def _npu_obstacles(op: Operator, graph: Graph, npu: Npu, soc: ResolvedSoc) -> Iterator[str]:
    support = next((each for each in npu.spec.operators if each.kind == op.kind), None)
    others = op.attributes.get(ACCELERATOR, npu.spec.name) != npu.spec.name
    if support is None or op.kind not in npu.runs or others:
        yield f"does not run {op.kind}"
        return
    features = limit_values(op, graph, npu)
    yield from _limits(support, features)
    yield from _unknown(support, op, graph, features)
    if not pools_for(soc, {npu.name: Access.WRITE}, WORKSPACE_ROLES, 1):
        yield "writes no workspace pool"
    private = bool(support.constants) and takes_constants(npu, soc)
    if not private and not pools_for(soc, {npu.name: Access.READ}, CONSTANT_ROLES, 1):
        yield "reads no constants pool"


def limit_obstacles(op: Operator, graph: Graph, engine: Engine) -> Iterator[str]:
    """Yield the limits of an engine's description that keep `op` off it."""
    yield from _limits(engine.spec.support(op.kind), limit_values(op, graph, engine))


def takes_constants(npu: Npu, soc: ResolvedSoc) -> bool:
    """Tell whether constants are packed for an accelerator that only reads private memory."""
    constants = pools_for(soc, {npu.name: Access.READ}, CONSTANT_ROLES, 1)
    return not constants and npu.spec.program is not None and npu.spec.emitter == RECORDS


def _unknown(
    support: OperatorSupport, op: Operator, graph: Graph, features: Mapping[str, int]
) -> Iterator[str]:
    """Yield what a description that does not limit it says nothing about: groups, other types."""
    if GROUPS not in support.limits and features.get(GROUPS, 1) != 1:
        yield f"{GROUPS} is {features[GROUPS]}, and its description does not limit '{GROUPS}'"
    typed = INT8 if INT8 in features else ELEMENT_BYTES if ELEMENT_BYTES in features else ""
    if typed in support.limits or op.kind not in OPERATORS or op.kind in (COPY, ETHOS_U):
        return
    why = f"its description does not limit '{typed}'" if typed else f"{op.kind} is of int8 there"
    tensors = [tensor for tensor in graph.operands(op) if tensor and tensor.data is None]
    for tensor in (*tensors, *graph.results(op)):
        if tensor.dtype != "int8":
            yield f"'{tensor.name}' is {tensor.dtype}, and {why}"


def with_roundings(graph: Graph, soc: ResolvedSoc) -> Graph:
    """Let placed operators round as their devices do.

    An accelerator whose description does not limit that rounds as TFLite. Cores do as asked.
    """
    return graph.with_operators(_as_rounded(op, soc.device(op.device)) for op in graph.operators)


def _as_rounded(op: Operator, device: Device) -> Operator:
    operators = op.body.operators if op.body else (op,)
    asked = any(ROUNDING in each.attributes for each in operators)
    if not (asked and isinstance(device, Engine)):
        return op
    limits = device.spec.support(op.kind).limits
    if not op.body:
        return _limit(op, limits, "")
    steps = str(op.attributes[STEPS]).split()
    made = (_limit(o, limits, f"{s}_") for s, o in zip(steps, operators, strict=True))
    return replace(op, body=op.body.with_operators(made))


def _limit(op: Operator, limits: Mapping[str, object], step: str) -> Operator:
    """Return the operator as an accelerator rounds, given what its description limits."""
    known = all(f"{step}{name}" in limits for name in rounding_feature(op))
    return op if known else as_tflite(op)


def _limits(support: OperatorSupport, features: Mapping[str, int]) -> Iterator[str]:
    for name, (least, most) in support.limits.items():
        value = features.get(name)
        if value is None:
            yield f"limits '{name}', which {support.kind} does not have"
        elif least is not None and value < least:
            yield f"{name} is {value}, at least {least}"
        elif most is not None and value > most:
            yield f"{name} is {value}, at most {most}"
