# SPDX-License-Identifier: Apache-2.0
"""Which target of its core the code of each operator is made for: by request alone."""

from collections.abc import Iterable
from dataclasses import replace

from atoll.description.build import BuildRequests
from atoll.description.faults import Faults, in_order, nearest
from atoll.description.whom import is_pattern
from atoll.errors import PlacementError
from atoll.ir.graph import Graph, Operator
from atoll.place.regions import matching, operators_of
from atoll.resolve.soc import Cpu, ResolvedSoc


def with_targets(graph: Graph, asked: BuildRequests, soc: ResolvedSoc) -> Graph:
    """Give the operators of a placed graph the targets that `targets` asks for.

    A name counts before a pattern, and a later pattern before an earlier one. A pattern is about
    those operators that it matches whose core has the target.

    Raises:
        PlacementError: E217, a key names no operator, or a target that no core of them has.
    """
    faults, found = Faults(), dict[str, str]()
    for key, target in sorted(
        asked.model.targets.items(), key=lambda each: not is_pattern(each[0])
    ):
        operators = matching(key, graph)
        able = [op.name for op in operators if target in _names_of(op, soc)]
        found |= dict.fromkeys(able, target)
        at = asked.where.at("targets", key)
        if not operators:
            faults.add(
                "E217",
                f"'targets' names operator '{key}', which does not exist",
                at=at,
                remedy=nearest(key, [op.name for op in graph.operators]),
            )
        elif not able or (not is_pattern(key) and len(able) < len(operators)):
            faults.add(
                "E217",
                f"'targets' asks for target '{target}' of '{key}', which runs on "
                f"{_devices(operators)} without such a target",
                at=at,
                remedy=_remedy(key, target, operators, soc),
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
    return graph.with_operators(
        replace(op, target=found.get(op.name, op.target)) for op in graph.operators
    )


def _names_of(op: Operator, soc: ResolvedSoc) -> list[str]:
    core = soc.device(op.device)
    return [each.name for each in core.targets] if isinstance(core, Cpu) else []


def _devices(operators: Iterable[Operator]) -> str:
    return ", ".join(dict.fromkeys(f"'{op.device}'" for op in operators))


def _remedy(key: str, target: str, operators: Iterable[Operator], soc: ResolvedSoc) -> str:
    having = [core.name for core in soc.cpus if target in [each.name for each in core.targets]]
    known = [name for op in operators for name in _names_of(op, soc)]
    if having:
        return f"write --on-device '{key}={having[0]}' too"
    if known:
        return nearest(target, known)
    core = next((op.device for op in operators if isinstance(soc.device(op.device), Cpu)), soc.host)
    return f"add 'targets: {{{target}: {{isa: ...}}}}' to 'devices.{core}', or leave it out"
