# SPDX-License-Identifier: Apache-2.0
"""What the shell offers on TAB: names of the chip and of the network that are typed already.

A completer never fails and never prints: where the chip or the network cannot be read there is
nothing to offer. Only plain words are offered, since shells evaluate what they get.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import typer

from atoll.api.driver import STAGES
from atoll.bsp.toolchain import TOOLCHAINS
from atoll.description.pins import ROLES, SIDES
from atoll.description.share import shared_folder, shipped_names
from atoll.description.vocabulary import CORES
from atoll.diagnostics.errors import AtollError
from atoll.frontend.registry import load_network
from atoll.ir.graph import Graph
from atoll.isa.code_target import OWN
from atoll.memory.algorithms import PLANNERS
from atoll.opt.passes import BY_NAME
from atoll.records import dataclass
from atoll.report.schema_files import schema_names
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.storage_scope import ScopeNames

MOST_PAIRS = 100

_PLAIN = re.compile(r"[\w.:=,@-]+", re.ASCII)

Completer = Callable[[typer.Context, str], list[str]]


@dataclass(frozen=True, slots=True)
class Typed:
    """What the command line holds so far."""

    context: typer.Context

    def soc(self) -> ResolvedSoc | None:
        """Return the chip, if one is typed and can be read."""
        source = self.context.params.get("soc") or self._word(0)
        overrides = self.context.params.get("overrides") or ()
        try:
            return load_soc(Path(source), tuple(overrides)) if source else None
        except AtollError:
            return None

    def graph(self) -> Graph | None:
        """Return the first network, if one is typed and can be read."""
        params = self.context.params
        models = [params.get("model"), *(params.get("models") or ()), self._word(1)]
        source = next(filter(None, models), None)
        try:
            return load_network(Path(source)) if source else None
        except AtollError:
            return None

    def _word(self, position: int) -> str | None:
        """Return an argument that was not assigned because an option has no value yet."""
        return next(iter(self.context.args[position:]), None)

    def operators(self) -> list[str]:
        """Return the names of the network's operators."""
        graph = self.graph()
        return [op.name for op in graph.operators] if graph else []

    def tensors(self) -> list[str]:
        """Return the names of the network's activations."""
        graph = self.graph()
        return [each.name for each in graph.tensors if each.data is None] if graph else []

    def pools(self) -> list[str]:
        """Return the names of the chip's pools."""
        soc = self.soc()
        return [pool.name for pool in soc.pools] if soc else []

    def scopes(self) -> list[str]:
        """Return the chip's storage scopes."""
        soc = self.soc()
        return list(ScopeNames.of(soc).scopes) if soc else []

    def devices(self) -> list[str]:
        """Return the names of the chip's devices that run operators."""
        soc = self.soc()
        devices = soc.devices if soc else ()
        return [each.name for each in devices if each.kind not in ("dma", "master")]

    def targets(self) -> list[str]:
        """Return the names of the targets of the chip's cores."""
        soc = self.soc()
        names = (each.name for core in (soc.cpus if soc else ()) for each in core.targets)
        return [*dict.fromkeys(names), OWN]


def chips(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the shipped chips; paths are the shell's business."""
    return _filter_words(shipped_names(shared_folder("socs")), incomplete)


def cores(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the shipped cores; paths are the shell's business."""
    return _filter_words(CORES, incomplete)


def placements(context: typer.Context, incomplete: str) -> list[str]:
    """Offer `OPERATOR=DEVICE`, first the operators, then the devices."""
    typed = Typed(context)
    return _pairs(typed.operators, typed.devices, incomplete)


def targets(context: typer.Context, incomplete: str) -> list[str]:
    """Offer `OPERATOR=TARGET`, first the operators, then the targets of cores."""
    typed = Typed(context)
    return _pairs(typed.operators, typed.targets, incomplete)


def pins(context: typer.Context, incomplete: str) -> list[str]:
    """Offer `TENSOR=POOL,POOL:in`, first the tensors, then the pools, then the sides."""
    typed = Typed(context)
    return _pairs(typed.tensors, lambda: _with_sides(typed.pools(), incomplete), incomplete)


def role_pins(context: typer.Context, incomplete: str) -> list[str]:
    """Offer `ROLE=POOL,POOL`, first the roles, then the pools."""
    typed = Typed(context)
    return _pairs(lambda: ROLES, lambda: _with_sides(typed.pools(), incomplete), incomplete)


def scopes(context: typer.Context, incomplete: str) -> list[str]:
    """Offer `TENSOR=SCOPE:in`, first the tensors, then the scopes, then the sides."""
    typed = Typed(context)
    return _pairs(typed.tensors, lambda: _with_sides(typed.scopes(), incomplete), incomplete)


def regions(context: typer.Context, incomplete: str) -> list[str]:
    """Offer `OPERATOR=SCOPE:in`, first the operators, then the scopes, then the sides."""
    typed = Typed(context)
    return _pairs(typed.operators, lambda: _with_sides(typed.scopes(), incomplete), incomplete)


def tensors(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the tensors of the network."""
    return _filter_words(Typed(context).tensors(), incomplete)


def operators(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the operators of the network."""
    return _filter_words(Typed(context).operators(), incomplete)


def overrides(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the keys of the chip that `--set` can change."""
    soc = Typed(context).soc()
    return _filter_words([f"{key}=" for key in soc.layers] if soc else [], incomplete)


def one_of(words: Callable[[], Iterable[str]]) -> Completer:
    """Return a completer of a fixed list of words."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        return _filter_words(words(), incomplete)

    return complete


stages = one_of(lambda: STAGES)
passes = one_of(lambda: BY_NAME)
schemas = one_of(schema_names)
algorithms = one_of(PLANNERS.names)
toolchains = one_of(lambda: TOOLCHAINS)


def _pairs(
    left: Callable[[], Iterable[str]], right: Callable[[], Iterable[str]], incomplete: str
) -> list[str]:
    """Offer whole pairs, as long as they are few: a shell puts a space behind a single word."""
    name, equals, _ = incomplete.partition("=")
    names = [name] if equals else _filter_words(left(), incomplete)
    values = list(right())
    if len(names) * len(values) > MOST_PAIRS:
        values = [""]
    return _filter_words([f"{word}={value}" for word in names for value in values], incomplete)


def _with_sides(places: Sequence[str], incomplete: str) -> list[str]:
    """Return the places that may come next: behind those of a list, and with a side."""
    before, comma, _ = incomplete.rpartition("=")[2].rpartition(",")
    listed = [f"{before}{comma}{place}" for place in places]
    if ":" not in incomplete:
        return listed
    return [f"{each}:{side}" for each in listed for side in SIDES]


def _filter_words(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete) and _PLAIN.fullmatch(word)]
