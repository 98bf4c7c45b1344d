# SPDX-License-Identifier: Apache-2.0
"""Which execution scope each operator and tensor was asked, joined and given, and who said so."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from atoll.diagnostics.errors import SourceLoc
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.place.annotations import POOL_SCOPE
from atoll.place.constraints import Constraint, ScopeLog, memory_scope
from atoll.place.decision import Decision
from atoll.records import dataclass
from atoll.report.buffer_requests import Asked
from atoll.report.explain_buffers import BufferStory
from atoll.resolve.se_scope import FREE, ScopeTable, SEScope, default, device_type_name, join
from atoll.resolve.soc import ResolvedSoc

DEFAULT_RULE = "default rule"
ENTRY, EXIT = "entry placement", "exit placement"


NOTHING: Mapping[str, tuple[str, SourceLoc | None]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeStory:
    """The scope of one operator or tensor.

    Attributes:
        asked: by whom, in the order in which they were joined.
        joined: what satisfies all of them; fields that nobody asks for are free.
        settled: the same after the default filled the free fields.
        rule: what the default is, and who says so; "" where nothing was free.
        device: the device of the settled scope; "" if it has none.
    """

    name: str
    asked: tuple[Constraint, ...]
    joined: SEScope
    settled: SEScope
    rule: str
    device: str

    def lines(self) -> Iterator[str]:
        """Yield what people read."""
        yield self.name
        for each in self.asked:
            yield f"  asked    {each.scope}: {each.source} ({each.place})"
        yield f"  joined   {self.joined}"
        yield f"  default  {self.settled}" + (f": {self.rule}" if self.rule else "")

    def as_json(self) -> dict[str, object]:
        """Return the same for machines."""
        return {
            "name": self.name,
            "asked": [
                {
                    "scope": scope_json(each.scope),
                    "source": each.source,
                    "place": each.place,
                    "at": each.at.as_json() if each.at else None,
                }
                for each in self.asked
            ],
            "joined": scope_json(self.joined),
            "default": scope_json(self.settled),
            "rule": self.rule,
            "device": self.device or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """The scopes of a placed network.

    Attributes:
        devices: those of the chip, and the line of its description, by name.
    """

    devices: Mapping[str, tuple[SEScope, str]]
    operators: tuple[ScopeStory, ...]
    tensors: tuple[ScopeStory, ...]

    def text(self) -> str:
        """Return what people read."""
        lines = ["Devices"]
        lines += (f"  {name}  {scope} ({at})" for name, (scope, at) in self.devices.items())
        for title, stories in (("Operators", self.operators), ("Tensors", self.tensors)):
            lines += ["", title, *(f"  {line}" for story in stories for line in story.lines())]
        return "\n".join(lines) + "\n"

    def as_json(self) -> dict[str, object]:
        """Return the same for machines."""
        return {
            "devices": [
                {"name": name, "scope": scope_json(scope), "place": at}
                for name, (scope, at) in self.devices.items()
            ],
            "operators": [each.as_json() for each in self.operators],
            "tensors": [each.as_json() for each in self.tensors],
        }


def scope_json(scope: SEScope) -> dict[str, object]:
    """Return the four fields, None where one is free."""
    return {
        "device_type": None if scope.device_type == FREE else device_type_name(scope.device_type),
        "virtual_device_id": None if scope.virtual_device_id == FREE else scope.virtual_device_id,
        "target": str(scope.target) if scope.target else None,
        "memory_scope": scope.memory_scope or None,
    }


def scopes_of(
    graph: Graph,
    decisions: Sequence[Decision],
    log: ScopeLog,
    pools: Mapping[str, str],
    rules: Mapping[str, str],
    soc: ResolvedSoc,
    stories: Sequence[BufferStory] = (),
    targets: Mapping[str, tuple[str, SourceLoc | None]] = NOTHING,
) -> Scopes:
    """Return the scopes of a placed graph.

    Args:
        graph: placed.
        decisions: why its operators run where they run.
        log: what was asked of its tensors.
        pools: the pool of each tensor that is in one.
        rules: why it is in that.
        soc: the chip.
        stories: what was asked of buffers, those included that lowering made.
        targets: the key of `targets` that each operator has its target of, and its place.
    """
    table = _Table(graph, decisions, log, pools, rules, soc, stories, targets)
    return Scopes(
        devices={name: (scope, table.line(name)) for name, scope in table.scopes.devices().items()},
        operators=tuple(table.operators()),
        tensors=tuple(table.tensors()),
    )


def _later(asked: Asked) -> Constraint:
    """Return what lowering held for a buffer, as a constraint."""
    return Constraint(memory_scope(asked.pools), "", f"asked for by {asked.words}", asked.at)


class _Table:
    def __init__(
        self,
        graph: Graph,
        decisions: Sequence[Decision],
        log: ScopeLog,
        pools: Mapping[str, str],
        rules: Mapping[str, str],
        soc: ResolvedSoc,
        stories: Sequence[BufferStory],
        targets: Mapping[str, tuple[str, SourceLoc | None]],
    ) -> None:
        self.scopes = ScopeTable(soc)
        self._graph, self._soc = graph, soc
        self._decisions = {decision.operator: decision for decision in decisions}
        self._asked, self._pools, self._rules = log.constraints(graph), pools, rules
        self._makers = {name: op for op in graph.operators for name in op.outputs}
        self._stories, self._targets = stories, targets
        self._later = {
            story.name: tuple(_later(each) for each in story.asked if not each.logged)
            for story in stories
        }

    def line(self, device: str) -> str:
        """Return the line of the description that says what a device is."""
        return self._soc.first_setting(f"devices.{device}") or "the chip"

    def operators(self) -> Iterator[ScopeStory]:
        """Yield the scopes of operators that run, and of those whose result is a view."""
        placed = {op.name: op for op in self._graph.operators}
        for name in dict.fromkeys((*self._decisions, *placed)):
            decision = self._decisions.get(name)
            device = placed[name].device if name in placed else ""
            if decision is None:
                yield self._add(placed[name])
                continue
            device = device or decision.device
            asked = decision.joined.constraints
            joined = decision.joined.scope
            why = decision.reason
            if decision.joined.device:
                why = f"'{device}' is the only such device"
            if target := placed[name].target if name in placed else "":
                asked, joined = tuple(map(self._open, asked)), replace(joined, target=None)
                if name in self._targets:
                    asked = (*asked, self._target_constraint(name, device, target))
                    joined = default(joined, asked[-1].scope)
            offered = self.scopes.of(device, target=target)
            yield self._story(name, asked, joined, offered, why, device)

    def _target_constraint(self, operator: str, device: str, target: str) -> Constraint:
        """Return what `targets` asks of an operator."""
        asked = SEScope(target=self.scopes.of(device, target=target).target)
        _, at = self._targets[operator]
        return Constraint(asked, "", f"'targets' asks for '{target}' of '{device}'", at)

    @staticmethod
    def _open(asked: Constraint) -> Constraint:
        """Return what naming a core asks where the core has several targets: not which."""
        return replace(asked, scope=replace(asked.scope, target=None))

    def _add(self, op: Operator) -> ScopeStory:
        rule = f"copies what does not reach, on '{op.device}'"
        return self._story(op.name, (), SEScope(), self.scopes.of(op.device), rule, op.device)

    def _story(
        self,
        name: str,
        asked: Iterable[Constraint],
        joined: SEScope,
        offered: SEScope,
        why: str,
        device: str,
    ) -> ScopeStory:
        settled = default(joined, offered)
        place = f" ({DEFAULT_RULE})" if settled != joined else ""
        return ScopeStory(
            name=name,
            asked=tuple(asked),
            joined=joined,
            settled=settled,
            rule=f"{why}{place}" if settled != joined else "",
            device=device,
        )

    def tensors(self) -> Iterator[ScopeStory]:
        """Yield the scopes of tensors that have bytes in a pool, and of views of them."""
        for tensor in self._graph.tensors:
            storage = self._graph.storage(tensor.name)
            pool = self._pools.get(storage)
            if tensor.data is not None and pool is None:
                continue
            asked = tuple(self._constraints(tensor))
            joined = SEScope()
            for each in asked:
                both = join(joined, each.scope)
                assert both is not None, f"what is asked of '{tensor.name}' was joined before"
                joined = both
            writer = self._writer(tensor)
            offered = self.scopes.of(writer) if writer else SEScope()
            placed = SEScope(memory_scope=f"{POOL_SCOPE}{pool}") if pool else SEScope()
            why = self._rules.get(storage, "")
            yield self._story(tensor.name, asked, joined, default(placed, offered), why, writer)
        yield from self._lowered_stories()

    def _lowered_stories(self) -> Iterator[ScopeStory]:
        """Yield buffers that lowering made, of those of which somebody asks something."""
        for story in self._stories:
            asked = self._later[story.name]
            if asked and story.name not in self._graph.by_name:
                joined = SEScope()
                for each in asked:
                    joined = join(joined, each.scope) or joined
                placed = SEScope(memory_scope=story.scope)
                yield self._story(story.name, asked, joined, placed, story.rule, "")

    def _constraints(self, tensor: Tensor) -> Iterator[Constraint]:
        name, host = self._graph.storage(tensor.name), self._soc.host
        line = self._soc.first_setting("host") or "the chip"
        if name in self._graph.filled:
            source = f"'{host}' fills it ({ENTRY})"
            yield Constraint(self.scopes.of(host), host, source, said=line)
        elif maker := self._makers.get(name):
            source = f"operator '{maker.name}' on '{maker.device}' writes it"
            said = self.line(maker.device)
            yield Constraint(self.scopes.of(maker.device), maker.device, source, said=said)
        if tensor.name in self._graph.outputs:
            yield Constraint(SEScope(), host, f"'{host}' reads it ({EXIT})", said=line)
        yield from self._asked[name]
        yield from self._later.get(name, ())

    def _writer(self, tensor: Tensor) -> str:
        name = self._graph.storage(tensor.name)
        if name in self._graph.filled:
            return self._soc.host
        maker = self._makers.get(name)
        return maker.device if maker else ""
