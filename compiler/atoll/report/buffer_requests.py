# SPDX-License-Identifier: Apache-2.0
"""What the user asked of each buffer, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import field

from atoll.diagnostics.errors import SourceLoc
from atoll.ir.graph import Graph
from atoll.ir.tir import IRModule
from atoll.ops.registry import COPY
from atoll.place.constraints import ScopeLog
from atoll.place.regions import whole_name
from atoll.place.requests import PinRequest, Requests
from atoll.records import dataclass
from atoll.resolve.storage_scope import pool_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that narrowed a buffer.

    Attributes:
        words: such as ``scope 'global.sram'``.
        at: where it was written; None for the command line.
        pools: those that it allows; none where it asks for no pool.
        logged: placement noted it as a constraint of the tensor.
    """

    words: str
    at: SourceLoc | None
    pools: tuple[str, ...] = field(default=(), compare=False)
    logged: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.words} ({self.at or 'command line'})"

    def as_json(self) -> dict[str, object]:
        """Return the request for machines."""
        return {"request": self.words, "at": self.at.as_json() if self.at else None}


@dataclass(frozen=True, slots=True)
class BufferRequests:
    """Finds what was asked of the buffers of a program."""

    requests: Requests
    graph: Graph
    module: IRModule
    log: ScopeLog = field(default_factory=ScopeLog)

    def of_planned(self, name: str, *, constant: bool, views: tuple[str, ...]) -> tuple[Asked, ...]:
        """Return what was asked of a buffer of the plan, or of a view of it."""
        found = [*self._of_tensors((name, *views)), *self._of_copied(name)]
        if name not in self.requests.tensors:
            own = [*self._named_requests(name), *self._of_workspace(name)]
            if not any(each.words.startswith("pin ") for each in own):
                found += [
                    Asked(
                        words=f"pin '{each.words}' of role '{each.name}'",
                        at=each.at,
                        pools=each.pin.pools,
                    )
                    for each in self.requests.of_role(name, self.graph, constant=constant)
                ]
            found += own
        return tuple(dict.fromkeys(found))

    def of_local(self, kernel: str, operators: tuple[str, ...], buffer: str) -> tuple[Asked, ...]:
        """Return what was asked of a kernel's own buffer by any of its names."""
        dotted, plain = names_of_local(kernel, operators, buffer)
        found = [asked for name in dotted for asked in self._named_requests(name)]
        for name in plain:
            if name not in self.requests.tensors:
                found += self._named_requests(name, literal=True)
        return tuple(dict.fromkeys(found))

    def _of_tensors(self, names: tuple[str, ...]) -> Iterator[Asked]:
        """Yield what was asked of tensors; what a copy took over is told of the copy."""
        copied = {op.inputs[0] for op in self.graph.operators if op.kind == COPY}
        for name in names:
            held = self._places_of(name)
            for each in self.requests.pins.get(name, ()):
                if name not in copied or (f"asked for by {each.source}", each.at) in held:
                    yield _of_tensor(each)

    def _of_copied(self, name: str) -> Iterator[Asked]:
        """Yield what was asked of the tensor that a copy repeats, and holds for the copy."""
        held = self._places_of(name)
        for op in self.graph.operators:
            if op.kind == COPY and name in op.outputs and name not in self.requests.tensors:
                for each in self.requests.pins.get(op.inputs[0], ()):
                    if (f"asked for by {each.source}", each.at) in held:
                        yield _of_tensor(each)

    def _places_of(self, name: str) -> set[tuple[str, SourceLoc | None]]:
        return {(each.source, each.at) for each in self.log.asked.get(name, ())}

    def _named_requests(self, name: str, *, literal: bool = False) -> Iterator[Asked]:
        for each in self.requests.later:
            if each.name == name or (not literal and each.means(name)):
                kind = "scope" if each.scope else "pin"
                pool = pool_of(each.scope) if each.scope else ""
                pools = (pool,) if pool else each.pin.pools
                yield Asked(words=f"{kind} '{each.words}'", at=each.at, pools=pools)

    def _of_workspace(self, name: str) -> Iterator[Asked]:
        """Yield what was asked of a kernel's buffer that became a buffer of the plan."""
        for local in self.locals_of(name):
            yield from self.of_local(*local)

    def locals_of(self, name: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
        """Yield each kernel with its operator and its own buffer that a buffer of the plan is."""
        for step in self.module.entry.steps:
            for call in step.calls:
                if name in call.arguments:
                    function = self.module.by_name[call.function]
                    buffer = function.buffers[call.arguments.index(name)].name
                    yield function.name, (step.operator,), buffer


def names_of_local(
    kernel: str, operators: Sequence[str], buffer: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a kernel's own buffer, with a dot and without."""
    dotted = (f"{name}.{buffer}" for name in (kernel, *operators))
    wholes = (each for name in operators for each in (name, whole_name(name)))
    return tuple(dotted), tuple(f"{name}_{buffer}" for name in dict.fromkeys(wholes))


def _of_tensor(asked: PinRequest) -> Asked:
    return Asked(words=asked.words, at=asked.at, pools=asked.pin.pools, logged=True)
