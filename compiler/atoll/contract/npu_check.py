# SPDX-License-Identifier: Apache-2.0
"""Accept or refuse the commands of an Ethos-U: each byte that they touch is in the contract.

Knows neither Vela nor who placed, moved or encoded what: regions are the spans of the phase in the
order of the operator's tensors, and what the stream touches is read of the stream itself.
"""

from collections.abc import Iterator, Mapping

from atoll.contract.contract import Contract
from atoll.diagnostics.errors import Fault, PlanError
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import EngineAction, IRModule, Step
from atoll.npu_stream.start import read_start
from atoll.resolve.soc import Engine, ResolvedSoc

DRIVER = "ethos_u"
_ACTIVATIONS = 2
"""Place among an operator's inputs, behind stream and constants."""


def check_streams(
    module: IRModule,
    contract: Contract,
    commands: Mapping[str, bytes],
    graph: Graph,
    soc: ResolvedSoc,
) -> None:
    """Accept starts of Ethos-U whose streams touch what their operators may, and all of it.

    Raises:
        PlanError: E171.
    """
    operators = {op.name: op for op in graph.operators}
    found: list[Fault] = []
    for step in module.entry.steps:
        if isinstance(step.action, EngineAction):
            engine = soc.device(step.action.device)
            assert isinstance(engine, Engine)
            if engine.spec.driver == DRIVER:
                op, words = operators[step.operator], commands[step.action.commands]
                wrong = _faults(step, op, contract, words, graph)
                found += (_fault(step, engine, each) for each in wrong)
    if found:
        raise PlanError.all(found)


def _faults(
    step: Step, op: Operator, contract: Contract, words: bytes, graph: Graph
) -> Iterator[str]:
    assert isinstance(step.action, EngineAction)
    phase, start = contract.phases[step.number], read_start(words)
    if start is None:
        yield "the block is none"
        return
    reads, writes = step.accesses_of(step.action.device)
    spans = dict(zip(dict.fromkeys(reads), phase.reads, strict=True))
    spans |= zip(writes, phase.writes, strict=True)
    stream, weights = [name for name in spans if name != step.action.commands][:2]
    *results, scratch = (graph.buffer(name) for name in op.outputs)
    names = (weights, scratch, *map(graph.buffer, op.inputs[_ACTIVATIONS:]), *results)
    expected = tuple(spans[name] for name in names)
    written = {1, *range(len(names) - len(results), len(names))}
    if start.regions != tuple((span.address, span.size) for span in expected):
        yield f"its base addresses are not those of {', '.join(names)}"
    elif start.written != written:
        yield f"it says that it writes regions {sorted(start.written)}, not {sorted(written)}"
    if start.payload != (spans[stream].address, spans[stream].size):
        yield f"its payload is at {start.payload[0]:#010x}, not at {spans[stream].address:#010x}"
    payload = graph.tensor(stream).data
    assert payload is not None, f"{stream} is no constant"
    yield from start.check(payload)


def _fault(step: Step, engine: Engine, wrong: str) -> Fault:
    return Fault(
        code="E171",
        message=f"the start of operator '{step.operator}' on '{engine.name}' does not keep to the"
        f" plan: {wrong}",
        at=engine.spec.places.get("emitter"),
        remedy=f"let emitter '{engine.spec.emitter}' write the block as docs/ethos-u.md has it",
    )
