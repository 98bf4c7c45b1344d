"""What the user asked of each buffer, in words."""

from collections.abc import Iterator
from dataclasses import dataclass

from atoll.errors import SourceLoc
from atoll.ir.graph import Graph
from atoll.ir.tir import IRModule
from atoll.place.regions import whole_name
from atoll.place.requests import Requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that narrowed a buffer.

    Attributes:
        words: such as ``scope 'global.sram'``.
        at: where it was written; None for the command line.
    """

    words: str
    at: SourceLoc | None

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

    def of_planned(self, name: str, *, constant: bool, views: tuple[str, ...]) -> tuple[Asked, ...]:
        """Return what was asked of a buffer of the plan, or of a view of it."""
        found = [*self._of_tensors((name, *views))]
        if name not in self.requests.tensors:
            own = [*self._named(name), *self._of_workspace(name)]
            if not any(each.words.startswith("pin ") for each in own):
                found += [
                    Asked(words=f"pin '{each.words}' of role '{each.name}'", at=each.at)
                    for each in self.requests.of_role(name, self.graph, constant=constant)
                ]
            found += own
        return tuple(dict.fromkeys(found))

    def of_local(self, kernel: str, operators: tuple[str, ...], buffer: str) -> tuple[Asked, ...]:
        """Return what was asked of a kernel's own buffer by any of its names."""
        names = [f"{name}.{buffer}" for name in (kernel, *operators)]
        wholes = (each for name in operators for each in (name, whole_name(name)))
        plain = [f"{name}_{buffer}" for name in dict.fromkeys(wholes)]
        found = [asked for name in names for asked in self._named(name)]
        for name in plain:
            if name not in self.requests.tensors:
                found += self._named(name, literal=True)
        return tuple(dict.fromkeys(found))

    def _of_tensors(self, names: tuple[str, ...]) -> Iterator[Asked]:
        for each in (each for name in names for each in self.requests.pins.get(name, ())):
            yield Asked(words=each.words, at=each.at)

    def _named(self, name: str, *, literal: bool = False) -> Iterator[Asked]:
        for each in self.requests.later:
            if each.name == name or (not literal and each.means(name)):
                kind = "scope" if each.scope else "pin"
                yield Asked(words=f"{kind} '{each.words}'", at=each.at)

    def _of_workspace(self, name: str) -> Iterator[Asked]:
        """Yield what was asked of a kernel's buffer that became a buffer of the plan."""
        for step in self.module.entry.steps:
            for call in step.calls:
                if name in call.arguments:
                    function = self.module.by_name[call.function]
                    buffer = function.buffers[call.arguments.index(name)].name
                    yield from self.of_local(function.name, (step.operator,), buffer)
