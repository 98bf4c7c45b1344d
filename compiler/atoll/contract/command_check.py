# SPDX-License-Identifier: Apache-2.0
"""Accept or refuse the addresses in commands. Knows neither emitters nor who encoded them.

Where a command has addresses is said by the accelerator's YAML; what an operator may touch, by the
contract. An engine that sees a memory elsewhere than the bus has it must be told its own addresses.
"""

from collections.abc import Iterator, Mapping

from atoll.contract.contract import Contract, Span
from atoll.diagnostics.errors import Fault, PlanError
from atoll.ir.tir import EngineAction, IRModule
from atoll.resolve.soc import Engine, ResolvedSoc

ADDRESS = 4


def check_commands(
    module: IRModule, contract: Contract, commands: Mapping[str, bytes], soc: ResolvedSoc
) -> None:
    """Accept commands whose addresses are bytes of what their operator touches.

    Args:
        module: its steps say how many commands each list has.
        contract: what each operator may touch.
        commands: the lists, by name; not padded.
        soc: the chip.

    Raises:
        PlanError: E121, an engine sees none of these buffers at an address; E122, commands are too
            short for what the YAML says.
    """
    if faults := tuple(command_faults(module, contract, commands, soc)):
        raise PlanError.all(faults)


def command_faults(
    module: IRModule, contract: Contract, commands: Mapping[str, bytes], soc: ResolvedSoc
) -> Iterator[Fault]:
    """Yield a fault for the first wrong address of every engine."""
    told: set[str] = set()
    for step in module.entry.steps:
        if not isinstance(step.action, EngineAction) or step.action.device in told:
            continue
        engine, phase = soc.device(step.action.device), contract.phases[step.number]
        assert isinstance(engine, Engine)
        data = commands[step.action.commands]
        each = len(data) // step.action.count
        if any(offset + ADDRESS > each for offset in engine.spec.addresses):
            yield _too_short(engine, each)
            told.add(engine.name)
            continue
        touched = [_engine_range(soc, engine, span) for span in (*phase.reads, *phase.writes)]
        found = (
            (number, offset, int.from_bytes(data[at : at + ADDRESS], "little"))
            for number in range(step.action.count)
            for offset in engine.spec.addresses
            for at in (number * each + offset,)
        )
        wrong = (it for it in found if not any(it[2] in span for span in touched))
        if first := next(wrong, None):
            told.add(engine.name)
            yield _wrong(engine, step.operator, *first)


def _engine_range(soc: ResolvedSoc, engine: Engine, span: Span) -> range:
    """Return where an engine sees a buffer."""
    region = soc.pool(span.pool).region
    if alias := soc.alias_for(region):
        begin = span.address - alias.byte + alias.views.get(engine.name, alias.origin)
        return range(begin, begin + span.size)
    memory = soc.memory(region.memory)
    begin = span.address + memory.views.get(engine.name, memory.origin) - memory.origin
    return range(begin, begin + span.size)


def _wrong(engine: Engine, operator: str, number: int, offset: int, address: int) -> Fault:
    spec = engine.spec
    return Fault(
        code="E121",
        message=f"command {number} of operator '{operator}' has {address:#010x} at byte {offset},"
        f" where '{engine.name}' sees nothing that the operator touches",
        at=spec.places.get("emitter"),
        remedy=f"let emitter '{spec.emitter}' use the addresses that it is given, or correct"
        f" 'addresses' of accelerator '{spec.name}'",
    )


def _too_short(engine: Engine, size: int) -> Fault:
    spec = engine.spec
    last = max(spec.addresses)
    return Fault(
        code="E122",
        message=f"accelerator '{spec.name}' has an address at byte {last} of its commands, which"
        f" have {size} bytes",
        at=spec.places.get("addresses"),
        remedy=f"write numbers up to {size - ADDRESS} into 'addresses'",
    )
