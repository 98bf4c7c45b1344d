# SPDX-License-Identifier: Apache-2.0
"""Hold the names in build options against the network and the chip."""

import re
from collections.abc import Mapping
from difflib import get_close_matches

from atoll.description.build import BuildRequests
from atoll.description.faults import Faults, in_order, nearest
from atoll.description.identifiers import identifier
from atoll.description.pins import ROLES, Pin
from atoll.description.whom import is_pattern
from atoll.diagnostics.errors import PlacementError, SourceLoc
from atoll.ir.graph import Graph
from atoll.isa.code_target import OWN
from atoll.place.regions import STRIPE, matching_operators, operators_of
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.storage_scope import ScopeNames

MAX_CHOICES = 20

COPIES = "copy_"
"""What names of copies, which placement makes, begin with."""

Container = Mapping[str, object] | set[str]


def with_canonical_scopes(asked: BuildRequests, soc: ResolvedSoc) -> BuildRequests:
    """Return requests in which each stack of the chip has one spelling.

    Without the chip it is not known which dots of ``dsp.0.net.x.stack`` are part of a name.
    """
    stacks = {identifier_of_scope(each): each for each in ScopeNames.of(soc).stacks}
    known = {*ScopeNames.of(soc).scopes}

    def canonical(scope: str) -> dict[str, str]:
        own = scope if scope in known else stacks.get(identifier_of_scope(scope), scope)
        return {"scope": own}

    update = {
        "scopes": {
            name: tuple(each.model_copy(update=canonical(each.scope)) for each in asked_of_it)
            for name, asked_of_it in asked.model.scopes.items()
        },
        "set_scope": tuple(
            each.model_copy(update=canonical(each.scope)) for each in asked.model.set_scope
        ),
    }
    return BuildRequests(asked.model.model_copy(update=update), asked.where)


def identifier_of_scope(scope: str) -> str:
    """Return a scope with every separator alike."""
    return re.sub(r"[-.]", "_", scope)


def check_names(asked: BuildRequests, graph: Graph, soc: ResolvedSoc) -> None:
    """Accept names that are there, and those of buffers that only lowering makes.

    Raises:
        PlacementError: E021, E025, E026, E027, E029, E217, all that are not there at once.
    """
    names = _Names(asked, graph, soc)
    names.check_places()
    names.check_pins()
    names.check_scopes()
    names.regions()
    names.check_free()
    names.check_targets()
    if names.faults.found:
        raise PlacementError.all(in_order(names.faults.found))


def _choice(names: list[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)


class _Names:
    def __init__(self, asked: BuildRequests, graph: Graph, soc: ResolvedSoc) -> None:
        self.faults = Faults()
        self._model, self._where = asked.model, asked.where
        self._graph, self._soc = graph, soc
        self._operators = {op.name for op in graph.operators}
        self._operators |= {n.rpartition(STRIPE)[0] for n in self._operators if STRIPE in n}
        self._tensors = {*graph.by_name, *(tensor.rows_of for tensor in graph.tensors)} - {""}
        self._devices = {device.name for device in soc.devices}
        self._pools = {pool.name for pool in soc.pools}
        self._scopes = {*ScopeNames.of(soc).scopes}

    def check_places(self) -> None:
        """Check operators and their devices."""
        for name, device in self._model.place.items():
            self._operator(name, self._where.key_at("place", name))
            at = self._where.at("place", name)
            self._check("E021", "device", identifier(device), self._devices, at)

    def check_pins(self) -> None:
        """Check tensors, roles and their pools."""
        for name, pins in self._model.pin.items():
            self._tensor(name, self._where.key_at("pin", name))
            self._choices(pins, self._where.at("pin", name))
        for role in ROLES:
            pins = getattr(self._model.pin_roles, role)
            self._choices(pins, self._where.at("pin_roles", role))

    def check_scopes(self) -> None:
        """Check tensors and their scopes."""
        for name, asked in self._model.scopes.items():
            self._tensor(name, self._where.key_at("scopes", name))
            for each in asked:
                self._scope(each.scope, self._where.at("scopes", name))

    def regions(self) -> None:
        """Check operators and their scopes."""
        for index, region in enumerate(self._model.set_scope):
            place = ("set_scope", str(index))
            self._scope(region.scope, self._where.at(*place, "scope"))
            for key, name in (("from", region.first), ("to", region.last)):
                if name is not None:
                    self._operator(name, self._where.at(*place, key))
            if region.operators is not None and not operators_of(region, self._graph):
                self._operator(region.operators, self._where.at(*place, "operators"))

    def check_free(self) -> None:
        """Check tensors that may be copied."""
        for index, name in enumerate(self._model.free):
            at = self._where.at("free", str(index))
            if name not in self._tensors and self._may_be_made(name):
                message = (
                    f"build options free '{name}', which is no tensor of the network: what is made "
                    "after placement is never copied"
                )
                self.faults.add("E026", message, at=at, remedy="delete it")
            else:
                self._check("E026", "tensor", name, self._tensors, at)

    def check_targets(self) -> None:
        """Check operators that have targets, as far as it is known before they have devices.

        Which targets are in the place of one that no core has is known only where they run.
        """
        cores = {core.name: [each.name for each in core.targets] for core in self._soc.cpus}
        known = [*dict.fromkeys(name for names in cores.values() for name in names), OWN]
        asked = {
            op.name: entry.device
            for entry in self._model.on_device
            for op in (operators_of(entry, self._graph) if entry.device else ())
        }
        asked |= self._model.place
        for key, target in self._model.targets.items():
            at, placed = self._where.at("targets", key), asked.get(key)
            own = cores.get(identifier(placed)) if placed else None
            if target not in known and get_close_matches(target, known):
                message = f"'targets' asks for target '{target}' of '{key}', which no core has"
                self.faults.add("E217", message, at=at, remedy=not_there(target, set(known)))
            elif own is not None and target not in (*own, OWN):
                message = f"'targets' asks for target '{target}' of '{key}', which is asked to "
                message += f"run on '{placed}', without such a target"
                able = next(name for name, names in cores.items() if target in names)
                remedy = f"run it on '{able}', or write {_choice([*own, OWN])}"
                self.faults.add("E217", message, at=at, remedy=remedy)
            if not matching_operators(key, self._graph) and not key.startswith(COPIES):
                message = f"'targets' names operator '{key}', which does not exist"
                at = self._where.key_at("targets", key)
                self.faults.add("E217", message, at=at, remedy=not_there(key, self._operators))

    def _operator(self, name: str, at: SourceLoc | None) -> None:
        self._check("E025", "operator", name, self._operators, at)

    def _tensor(self, name: str, at: SourceLoc | None) -> None:
        if not (is_pattern(name) or self._may_be_made(name)):
            self._check("E026", "tensor", name, self._tensors, at)

    def _may_be_made(self, name: str) -> bool:
        """Tell whether a buffer of a name may come from placement or from lowering."""
        parts = name.split("_")
        begins = ("_".join(parts[:count]) for count in range(1, len(parts)))
        made = any(begin in self._operators for begin in begins)
        return "." in name or name.startswith(COPIES) or made

    def _choices(self, pins: tuple[Pin, ...], at: SourceLoc | None) -> None:
        for pool in (pool for pin in pins for pool in pin.pools):
            self._check("E027", "pool", pool, self._pools, at)

    def _scope(self, name: str, at: SourceLoc | None) -> None:
        self._check("E029", "storage scope", name, self._scopes, at)

    def _check(
        self, code: str, what: str, name: str, known: Container, at: SourceLoc | None
    ) -> None:
        if name not in known:
            message = f"build options name {what} '{name}', which does not exist"
            self.faults.add(code, message, at=at, remedy=not_there(name, known))


def not_there(name: str, known: Container) -> str:
    """Return a remedy; of very many choices only the most similar one is worth showing."""
    if len(known) <= MAX_CHOICES:
        return nearest(name, known)
    return nearest(name, get_close_matches(name, known, n=1, cutoff=0.0))
