# SPDX-License-Identifier: Apache-2.0
"""Which target of its core the code of each operator is made for: by request, else by cost."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from atoll.cost.basis import basis_of, with_basis
from atoll.cost.operators import compute_cycles
from atoll.description.build import BuildRequests
from atoll.description.faults import Faults, in_order, nearest
from atoll.description.on_device import OnDevice
from atoll.description.whom import is_pattern
from atoll.diagnostics.errors import AtollError, PlacementError, SourceLoc, attempt_edit
from atoll.ir.graph import Graph, Operator
from atoll.isa.code_target import OWN
from atoll.ops.registry import COPY
from atoll.place.regions import matching_operators, operators_of
from atoll.place.target_choice import TargetChoice, choices_of, choose_by_cost
from atoll.resolve.soc import Cpu, ResolvedSoc

Placed = Callable[[BuildRequests], Graph]
"""Returns the network with a device for each operator, as other requests have it."""


def with_targets(
    graph: Graph, asked: BuildRequests, soc: ResolvedSoc, placed: Placed | None = None
) -> Graph:
    """Give the operators of a placed graph the targets that `targets` asks for, or the fastest.

    `OWN` asks for the core's own code. A name counts before a pattern, and a later pattern before
    an earlier one. A pattern is about those operators that it matches whose core has the target.
    Remedies that move operators are tried with `placed`.

    Raises:
        PlacementError: E217, a key names no operator, or a target that no core of them has.
    """
    faults, found = Faults(), dict[str, str]()
    named = replace(graph, operators=tuple(op for op in graph.operators if op.kind != COPY))
    for key, target in sorted(
        asked.model.targets.items(), key=lambda each: not is_pattern(each[0])
    ):
        operators = matching_operators(key, named)
        able = [op.name for op in operators if target in _names_of(op, soc)]
        found |= dict.fromkeys(able, target)
        at = asked.where.at("targets", key)
        if not operators and matching_operators(key, graph):
            message = f"'targets' asks for target '{target}' of '{key}', a copy, which has none"
            faults.add("E217", message, at=at, remedy="delete it")
        elif not operators:
            faults.add(
                "E217",
                f"'targets' names operator '{key}', which does not exist",
                at=at,
                remedy=nearest(key, [op.name for op in named.operators]),
            )
        elif not able or (not is_pattern(key) and len(able) < len(operators)):
            faults.add(
                "E217",
                f"'targets' asks for target '{target}' of '{key}', which runs on "
                f"{_devices(operators)} without such a target",
                at=at,
                remedy=_remedy(key, asked, operators, graph, placed, soc),
            )
    for entry in asked.model.on_device:
        asks = [op.name for op in operators_of(entry, graph)] if entry.scope.target else []
        for name in filter(found.__contains__, asks):
            faults.add(
                "E217",
                f"'targets' and 'on_device' of '{entry.whom}' both ask for a target of '{name}'",
                remedy="leave 'target' out of 'on_device'",
            )
    if faults.found:
        raise PlacementError.all(in_order(faults.found))
    settled = {
        op.name
        for entry in asked.model.on_device
        for op in (operators_of(entry, graph) if entry.scope.target else ())
    }

    def target_of(op: Operator) -> str:
        if op.name in found:
            return "" if found[op.name] == OWN else found[op.name]
        choice = None if op.name in settled else choose_by_cost(op, graph, soc)
        return choice.target if choice else op.target

    return graph.with_operators(replace(op, target=target_of(op)) for op in graph.operators)


def target_requests(
    graph: Graph, asked: BuildRequests, soc: ResolvedSoc
) -> Mapping[str, tuple[str, SourceLoc | None]]:
    """Return the key of `targets` that gave each operator its target, and its place."""
    found: dict[str, tuple[str, SourceLoc | None]] = {}
    targets = asked.model.targets
    for key in sorted(targets, key=lambda each: not is_pattern(each)):
        for op in matching_operators(key, graph):
            if (op.target or OWN) == targets[key] and _names_of(op, soc):
                found[op.name] = key, asked.where.at("targets", key)
    return found


def target_choices(
    graph: Graph, asked: BuildRequests, soc: ResolvedSoc
) -> tuple[TargetChoice, ...]:
    """Return why the code of each operator on a core with targets is made for its target."""
    by = {
        name: f"'targets' asks for it with '{key}' ({at or 'command line'})"
        for name, (key, at) in target_requests(graph, asked, soc).items()
    }
    for entry in asked.model.on_device:
        if entry.scope.target:
            by |= {
                op.name: f"'on_device' of '{entry.whom}' asks for it"
                for op in operators_of(entry, graph)
            }
    return tuple(choices_of(graph, by, soc))


def _names_of(op: Operator, soc: ResolvedSoc) -> list[str]:
    core = soc.device(op.device)
    return [*(each.name for each in core.targets), OWN] if isinstance(core, Cpu) else []


def _devices(operators: Iterable[Operator]) -> str:
    return ", ".join(dict.fromkeys(f"'{op.device}'" for op in operators))


def _remedy(
    key: str,
    asked: BuildRequests,
    operators: Iterable[Operator],
    graph: Graph,
    placed: Placed | None,
    soc: ResolvedSoc,
) -> str:
    """Return an edit with which a target is there: tried, or to delete what asks for it."""
    target = asked.model.targets[key]
    known = dict.fromkeys(name for op in operators for name in _names_of(op, soc))
    if known.keys() - {OWN} and target not in known:
        return nearest(target, known)
    for core in soc.cpus if placed else ():
        if placed and target in [each.name for each in core.targets]:
            further = OnDevice(operators=key, device=core.name)
            model = asked.model.model_copy(
                update={"on_device": (*asked.model.on_device, further), "targets": {key: target}}
            )
            changed = BuildRequests(model, asked.where)
            moved = attempt_edit(partial(_place_again, placed, changed, soc))
            if isinstance(moved, AtollError):
                continue
            written = asked.where.at("targets", key)
            edit = (
                f"add {{operators: '{key}', device: {core.name}}} to 'on_device'"
                if written
                else f"write --on-device '{key}={core.name}' too"
            )
            return f"{edit}, which takes {_cycles(operators, graph, moved, core, soc)}"
    own = next((op.device for op in operators if isinstance(soc.device(op.device), Cpu)), "")
    add = f"add 'targets: {{{target}: {{isa: ...}}}}' to 'devices.{own}', or " if own else ""
    return f"{add}delete it"


def _place_again(placed: Placed, asked: BuildRequests, soc: ResolvedSoc) -> Graph:
    return with_targets(placed(asked), asked, soc)


def _cycles(
    operators: Iterable[Operator], graph: Graph, moved: Graph, core: Cpu, soc: ResolvedSoc
) -> str:
    """Say what operators take on a core, and what they take where they are."""
    there = {op.name for op in moved.operators if op.device == core.name and op.target}
    going = [op for op in operators if op.name in there]
    after = sum(compute_cycles(op, graph, core, soc) for op in going)
    before = sum(compute_cycles(op, graph, soc.device(op.device), soc) for op in going)
    devices = {core.name, *(op.device for op in going)}
    return with_basis(f"about {after:,} cycles in the place of {before:,}", basis_of(soc, devices))
