# SPDX-License-Identifier: Apache-2.0
"""What a protection unit kept back: the trap that ended a run, in the terms of the plan.

Such an access reaches neither firewall nor shadow memory; the core's own record tells of it.
"""

from collections.abc import Iterator

from atoll.contract.contract import Contract, Phase, Span
from atoll.isa.instruction_set import Family
from atoll.report.result import Violation
from atoll.resolve.claims import GUARD
from atoll.resolve.memory_views import on_bus
from atoll.resolve.protection.area import areas_of
from atoll.resolve.protection.record import FaultRecord, read_record, record_of
from atoll.resolve.soc import Access, Cpu, RegionKind, ResolvedSoc
from atoll_sim.protocol.records import AccessKind
from atoll_sim.shadow.rules import BY_NAME
from atoll_sim.trace.findings import BETWEEN, find_key
from atoll_sim.trace.simulation import SimResult

_RISCV = {1: AccessKind.FETCH, 5: AccessKind.READ, 7: AccessKind.WRITE}
"""Exceptions of accesses, by `mcause`."""

_DATA_ACCESS = 1 << 7 | 1 << 1
"""In MMFSR, the low byte of CFSR: a load or store was kept back, and its address is known."""


def blocked_accesses(
    soc: ResolvedSoc, contract: Contract, result: SimResult
) -> Iterator[Violation]:
    """Yield the access with which a run ended because a protection unit kept it back.

    Args:
        soc: the chip.
        contract: of a network.
        result: what it did; nothing is yielded if another one was running at the end.
    """
    cpu = next((cpu for cpu in soc.cpus if cpu.name == result.trapped), None)
    running = result.phases[-1] if result.phases else None
    if cpu is None or not cpu.protected or running is None or running.end != result.cycles:
        return
    record = read_record(result.stacks[record_of(cpu).name])
    address = on_bus(soc, cpu.name, record.address)
    if any(each.violation.address == address for each in result.findings):
        return  # the firewall kept it back, or something else broke at this address
    kind = _kind(soc, cpu, record)
    if kind is None or _is_open(soc, cpu, record.address, kind):
        return
    mine = (contract.phases[number] for number in running.operators if number in contract.phases)
    phase = next((phase for phase in mine if phase.device == cpu.name), None)
    span = _buffer_at(contract, phase, address)
    place = span.pool if span else _place(soc, address)
    rule = BY_NAME[_rule(soc, cpu, address, kind, place)]
    words = {"device": cpu.name, "kind": str(kind), "pool": place, "instead": ""}
    words |= {"buffer": span.buffer if span else place, "other": "", "writer": ""}
    key, at = find_key(soc, rule, words)
    yield Violation(
        rule=rule.name,
        number=rule.number,
        device=cpu.name,
        operator=phase.operator if phase else BETWEEN,
        buffer=span.buffer if span else "",
        offset=address - span.address if span else 0,
        pool=place,
        address=address,
        size=1,
        detail=f"{rule.detail.format(**words)}; its protection unit kept it back from the"
        f" instruction at {record.instruction:#010x}",
        key=key,
        at=at,
        remedy=rule.remedy.format(**words),
        cycle=result.cycles,
    )


def _kind(soc: ResolvedSoc, cpu: Cpu, record: FaultRecord) -> AccessKind | None:
    """Return what was tried; an Arm core does not tell a read from a write. None: no access."""
    if cpu.instructions.family is not Family.THUMB:
        return _RISCV.get(record.cause)
    if record.cause & _DATA_ACCESS != _DATA_ACCESS:
        return None
    is_readable = _is_open(soc, cpu, record.address, AccessKind.READ)
    return AccessKind.WRITE if is_readable else AccessKind.READ


def _is_open(soc: ResolvedSoc, cpu: Cpu, address: int, kind: AccessKind) -> bool:
    assert cpu.spec.protection
    for area in areas_of(soc, cpu, cpu.spec.protection.granule):
        if area.begin <= address < area.end:
            rights = {AccessKind.READ: True, AccessKind.WRITE: area.writes}
            return rights.get(kind, area.runs)
    return False


def _buffer_at(contract: Contract, phase: Phase | None, address: int) -> Span | None:
    """Return a buffer that holds `address`: one of the operator, else one that is planned there."""
    own = (*phase.writes, *phase.reads) if phase else ()
    planned = (lifetime.span for lifetime in contract.lifetimes)
    spans = (span for span in (*own, *planned) if span.address <= address < span.end)
    return next(spans, None)


def _place(soc: ResolvedSoc, address: int) -> str:
    """Name the region, or else the memory, that holds `address`; a guard is part of its stack."""
    for region in soc.regions():
        guard = GUARD if region.kind is RegionKind.STACK else 0
        if region.origin - guard <= address < region.end:
            return region.name
    return next((each.name for each in soc.memories if each.origin <= address < each.end), "")


def _rule(soc: ResolvedSoc, cpu: Cpu, address: int, kind: AccessKind, place: str) -> str:
    if kind is AccessKind.FETCH:
        return "fetch outside code"
    if any(stack.origin - GUARD <= address < stack.origin for stack in cpu.stacks):
        return "stack below its limit"
    reach = {pool.name: pool.reach[cpu.name] for pool in soc.pools}
    reach |= {region.name: Access.READ for region in cpu.code_regions}
    if place in reach:
        return "device without reach" if reach[place] is Access.NONE else "write to read-only"
    if place.endswith(f".{RegionKind.STACK}"):
        return "stack of another device"
    return "outside any live buffer"
