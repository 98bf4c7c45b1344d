# SPDX-License-Identifier: Apache-2.0
"""Say for every buffer where it is, which rule put it there, and what else was possible (C5)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from difflib import get_close_matches

from atoll.description.faults import nearest
from atoll.description.whom import is_pattern
from atoll.diagnostics.errors import UsageError
from atoll.ir.graph import Graph
from atoll.ir.tir import Allocate, IRModule, RuntimeAllocate
from atoll.ir.walk import statements
from atoll.memory.problem import MemoryPlan
from atoll.place.asked_scopes import means
from atoll.place.constraints import ScopeLog
from atoll.place.request_names import MAX_CHOICES
from atoll.place.requests import Requests
from atoll.reach.candidates import WORKSPACE_ROLES, by_preference
from atoll.records import dataclass
from atoll.report.buffer_places import Alternative, other_pools, pool_lacks, stack_lacks
from atoll.report.buffer_requests import Asked, BufferRequests, names_of_local
from atoll.report.buffer_rules import IN_REGISTERS, Rules, stack_rule
from atoll.report.buffer_uses import Use, needs_of_uses, uses_of
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Access, Cpu, ResolvedSoc
from atoll.resolve.storage_scope import LOCAL, REGISTERS, scope_of_pool


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferStory:
    """All that is known of one buffer.

    Attributes:
        name: of the program; ``<kernel>.<buffer>`` inside kernels.
        what: ``input``, ``output``, ``activation``, ``copy``, ``workspace``, ``constant``,
            ``commands`` or ``local``.
        size: bytes; None if only the run knows.
        scope: its last storage scope.
        place: name of the pool or of the stack, or ``registers``.
        offset: bytes from the start of the pool; None outside pools.
        address: on the system bus; None outside pools.
        seen_at: where each device sees it that reaches its pool.
        live: half-open intervals of steps.
        rule: why it is there.
        uses: who touches it, in the order of execution.
        alternatives: each other place, and what it lacks.
        views: tensors that are the same bytes.
        names: what else options may call it: constants that it is packed of, names of a kernel's
            own buffer.
        asked: what the user asked of it.
        left: the places that are left, best first.
    """

    name: str
    what: str
    size: int | None
    scope: str
    place: str
    offset: int | None = None
    address: int | None = None
    seen_at: Mapping[str, int] = field(default_factory=dict)
    live: tuple[tuple[int, int], ...]
    rule: str
    uses: tuple[Use, ...]
    alternatives: tuple[Alternative, ...]
    views: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    asked: tuple[Asked, ...] = ()
    left: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the story for machines."""
        return {
            "name": self.name,
            "what": self.what,
            "size_bytes": self.size,
            "scope": self.scope,
            "place": self.place,
            "offset_bytes": self.offset,
            "address": self.address,
            "seen_at": dict(self.seen_at),
            "live_steps": [list(interval) for interval in self.live],
            "rule": self.rule,
            "uses": [use.as_json() for use in self.uses],
            "alternatives": [each.as_json() for each in self.alternatives],
            "views": list(self.views),
            "asked": [each.as_json() for each in self.asked],
            "left": list(self.left),
        }


def buffer_stories(
    soc: ResolvedSoc,
    graph: Graph,
    module: IRModule,
    plan: MemoryPlan,
    requests: Requests | None = None,
    log: ScopeLog | None = None,
    packed: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[BufferStory, ...]:
    """Return every planned buffer in the order of the program, then those inside kernels.

    `packed` tells of accelerators' constants which of the network's they are made of.
    """
    asked = BufferRequests(requests or Requests(), graph, module, log or ScopeLog())
    return (
        *_planned_stories(soc, graph, module, plan, asked, packed or {}),
        *_inside_kernels(soc, module, asked),
    )


def stories_of(stories: Sequence[BufferStory], name: str) -> tuple[BufferStory, ...]:
    """Return the stories of a buffer, by any name of it or of a view of it, or of a pattern.

    Patterns match as in `--scope` and `--pin`: one without a dot is about no buffer in a kernel.

    Raises:
        UsageError: E028; there is no such buffer, the message names the nearest one, or all.
    """
    named = [(each, (each.name, *each.views, *each.names)) for each in stories]
    found = [story for story, names in named if name in names]
    found = found or [story for story, names in named if any(means(name, each) for each in names)]
    if found:
        return tuple(found)
    known = [*dict.fromkeys(each for _, names in named for each in names)]
    all_of_them = "'atoll explain SOC MODEL' lists all buffers"
    close = get_close_matches(name, known, n=1, cutoff=0.4)
    remedy = f"did you mean '{close[0]}'? {all_of_them}" if close else all_of_them
    if len(known) <= MAX_CHOICES:
        remedy = nearest(name, known, f"see which there are: {all_of_them}")
    what = "matches the pattern" if is_pattern(name) else ""
    raise UsageError(
        "E028",
        f"no buffer of the program {what} '{name}'"
        if what
        else f"the program has no buffer '{name}'",
        remedy=remedy,
    )


def _planned_stories(
    soc: ResolvedSoc,
    graph: Graph,
    module: IRModule,
    plan: MemoryPlan,
    asked: BufferRequests,
    packed: Mapping[str, tuple[str, ...]],
) -> Iterator[BufferStory]:
    rules, uses = Rules(soc, graph, module, plan), uses_of(module.entry, soc.host)
    constants = {constant.name for constant in module.entry.constants}
    for buffer in plan.problem.buffers:
        name, placement = buffer.name, plan.placements[buffer.name]
        needs, what = needs_of_uses(uses[name]), rules.what(name)
        views = tuple(tensor.name for tensor in graph.tensors if tensor.view == name)
        told = asked.of_planned(name, constant=name in constants, views=views)
        others = other_pools(soc, plan, buffer, needs, constant=name in constants)
        yield BufferStory(
            name=name,
            what=what,
            size=buffer.size,
            scope=str(scope_of_pool(placement.pool)),
            place=placement.pool,
            offset=placement.offset,
            address=plan.address(name),
            seen_at=_device_addresses(soc, placement.pool, plan.address(name)),
            live=buffer.live,
            rule=rules.rule(buffer, needs, asked=bool(told)),
            uses=uses[name],
            alternatives=(*_stack_alternatives(soc, what, needs, buffer.size, told), *others),
            views=views,
            names=_names(asked.locals_of(name)) if what == "workspace" else packed.get(name, ()),
            asked=told,
            left=buffer.pools,
        )


def _device_addresses(soc: ResolvedSoc, pool: str, address: int) -> Mapping[str, int]:
    reach = soc.pool(pool).reach
    return {
        device.name: device_address(soc, device.name, address)
        for device in soc.devices
        if reach[device.name] is not Access.NONE
    }


def _stack_alternatives(
    soc: ResolvedSoc,
    what: str,
    devices: Mapping[str, Access],
    size: int,
    asked: tuple[Asked, ...],
) -> Iterator[Alternative]:
    if what == "workspace":
        for device in devices:
            cpu = soc.device(device)
            assert isinstance(cpu, Cpu)
            lacks = tuple(f"{each.words} rules it out" for each in asked)
            lacks = lacks or tuple(stack_lacks(cpu, size))
            yield Alternative(place=cpu.run_stack.name, lacks=lacks)


def _inside_kernels(
    soc: ResolvedSoc, module: IRModule, asked: BufferRequests
) -> Iterator[BufferStory]:
    for function in module.functions:
        uses = tuple(
            Use(step=number, operator=step.operator, device=call.device, access=Access.WRITE)
            for number, step in enumerate(module.entry.steps)
            for call in step.calls
            if call.function == function.name
        )
        for statement in statements(function.body):
            if isinstance(statement, Allocate) and uses:
                local = (function.name, _operators(uses), statement.buffer)
                story = _inside(soc, function.name, statement, uses, asked.of_local(*local))
                yield replace(story, names=_names([local]))
            elif isinstance(statement, RuntimeAllocate) and uses:
                local = (function.name, _operators(uses), statement.buffer)
                story = block_story(soc, function.name, statement, uses)
                yield replace(story, asked=asked.of_local(*local), names=_names([local]))


def _names(local: Iterable[tuple[str, tuple[str, ...], str]]) -> tuple[str, ...]:
    """Return all names of kernels' own buffers."""
    found = (names_of_local(*each) for each in local)
    return tuple(dict.fromkeys(name for both in found for names in both for name in names))


def _operators(uses: tuple[Use, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(use.operator for use in uses))


def _inside(
    soc: ResolvedSoc,
    kernel: str,
    allocate: Allocate,
    uses: tuple[Use, ...],
    asked: tuple[Asked, ...],
) -> BufferStory:
    cpu = soc.device(uses[0].device)
    assert isinstance(cpu, Cpu)
    local, size = allocate.scope == LOCAL, allocate.size
    place = REGISTERS if local else cpu.run_stack.name
    needs = needs_of_uses(uses)
    pools = (
        Alternative(
            place=pool.name,
            lacks=tuple(pool_lacks(pool, needs, WORKSPACE_ROLES, size)),
            remark=f"possible; '{place}' is tried first",
        )
        for pool in by_preference(soc)
    )
    return BufferStory(
        name=f"{kernel}.{allocate.buffer}",
        what="local",
        size=size,
        scope=LOCAL if local else cpu.run_stack.name,
        place=place,
        live=tuple((use.step, use.step + 1) for use in uses if use.step is not None),
        rule=IN_REGISTERS if local else stack_rule(cpu, size),
        uses=uses,
        alternatives=tuple(pools),
        asked=asked,
        left=(place,),
    )


def block_story(
    soc: ResolvedSoc, kernel: str, allocate: RuntimeAllocate, uses: tuple[Use, ...]
) -> BufferStory:
    """Tell of a buffer of a kernel that is sized at run time: a block of the first heap (W1)."""
    cpu = soc.device(uses[0].device)
    assert isinstance(cpu, Cpu)
    place, *others = allocate.pools
    reachable = dict.fromkeys(others, f"possible; '{place}' is tried first")
    pools = (
        Alternative(
            place=pool.name,
            lacks=() if pool.name in reachable else (f"no heap that '{cpu.name}' writes",),
            remark=reachable.get(pool.name, ""),
        )
        for pool in by_preference(soc)
        if pool.name != place
    )
    stack = Alternative(place=cpu.run_stack.name, lacks=("only constant sizes are on a stack",))
    return BufferStory(
        name=f"{kernel}.{allocate.buffer}",
        what="local",
        size=None,
        scope=str(scope_of_pool(place)),
        place=place,
        live=tuple((use.step, use.step + 1) for use in uses if use.step is not None),
        rule=f"W1: only the run knows its size, {allocate.type}[{allocate.elements}]; '{place}' is "
        f"the first pool with a heap that '{cpu.name}' writes",
        uses=uses,
        alternatives=(stack, *pools),
        left=allocate.pools,
    )
