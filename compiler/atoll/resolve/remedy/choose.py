# SPDX-License-Identifier: Apache-2.0
"""Replace the remedies of a refused description by edits that make its faults go."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from atoll.description.edits import Candidate, apply_edits, key_at, sentence
from atoll.description.tree import Node, plain
from atoll.diagnostics.edit import Edit
from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.diagnostics.units import format_size
from atoll.records import dataclass
from atoll.resolve.address_map import LARGEST_MEMORY
from atoll.resolve.remedy.accesses import ACCESSES
from atoll.resolve.remedy.addresses import ADDRESSES
from atoll.resolve.remedy.case import Case
from atoll.resolve.remedy.keys import KEYS
from atoll.resolve.remedy.names import NAMES
from atoll.resolve.remedy.protection import PROTECTION
from atoll.resolve.remedy.room import ROOM
from atoll.resolve.remedy.trial import Trial
from atoll.resolve.remedy.values import VALUES

_CANDIDATES: Mapping[str, Callable[[Case], Iterator[Candidate]]] = {
    **KEYS,
    **VALUES,
    **NAMES,
    **ADDRESSES,
    **ROOM,
    **ACCESSES,
    **PROTECTION,
}
"""By code, what may help, best first."""

_ALONE = ("E010", "E011", "E012", "E014", "E015", "E044")
"""Faults of one value: what helps one of these seldom helps another."""

_FURTHER = 8
"""Candidates that are tried although one of them helps, for the sake of other faults."""

_NUMBER = re.compile(r"\b(?:0x[0-9a-f]+|[0-9]+(?: [KMG]?i?B)?)\b")

_CAUSES = ("E011", "E020", "E021", "E022", "E024")
_CONSEQUENCES = ("E010", "E033", "E036", "E034", "E043")

_DELETE = "If not, delete it"
_TAILS = {
    "E021": "If not, describe it",
    "E020": "If not, describe it",
}


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A fault with the edits that help, and what else is wrong after them."""

    fault: Fault
    edits: Candidate
    left: frozenset[tuple[str, str]]


def try_remedies(faults: Sequence[Fault], root: Node, folder: Path) -> tuple[Fault, ...]:
    """Return `faults` with remedies that were tried; one for which none is known keeps its own.

    Remedies can be followed one by one or all together. A fault that only follows from another
    one, whose remedy makes both go, is left out.

    Args:
        faults: all that is wrong with the description.
        root: the description.
        folder: that its accelerators' paths are relative to.
    """
    if not isinstance(plain(root), dict):
        return tuple(faults)
    search = _Search(tuple(faults), Trial(root, folder))
    causes_first = sorted(faults, key=lambda fault: fault.code not in _CAUSES)
    for fault in causes_first:
        search.add(fault)
    return tuple(filter(None, map(search.add_remedy, faults)))


class _Search:
    """Finds edits for one fault after the other, each beside those of the faults before it."""

    def __init__(self, faults: tuple[Fault, ...], trial: Trial) -> None:
        self._faults = faults
        self._trial = trial
        self._chosen: dict[Fault, _Chosen] = {}
        self._so_far: Candidate = ()

    def add(self, fault: Fault) -> None:
        """Choose the edits for a fault."""
        if self._so_far and _name(fault) not in self._faults_left(self._so_far):
            chosen = self._best(fault, (), [each.edits for each in self._chosen.values()])
        else:
            chosen = self._best(fault, self._so_far, [])
        if chosen is not None:
            self._chosen[fault] = chosen
            fresh = tuple(edit for edit in chosen.edits if edit not in self._so_far)
            self._so_far = (*self._so_far, *fresh)

    def add_remedy(self, fault: Fault) -> Fault | None:
        """Return a fault with its remedy, None if it only follows from another one."""
        if _follows(fault, list(self._chosen.values())):
            return None
        chosen = self._chosen.get(fault)
        return _fault_with(chosen, self._trial.root) if chosen else fault

    def _best(self, fault: Fault, before: Candidate, known: list[Candidate]) -> _Chosen | None:
        """Return the candidate after which the least is wrong."""
        make, key = _CANDIDATES.get(fault.code), _key(fault, self._trial.root)
        data = plain(apply_edits(self._trial.root, before))
        if make is None or key is None or not isinstance(data, dict):
            return None
        case = Case(fault=fault, key=key, data=data, trial=self._trial, faults=self._faults)
        others = self._faults_left(before)
        further = 0 if fault.code in _ALONE else _FURTHER
        best: _Chosen | None = None
        for number, edits in enumerate(chain(known, make(case))):
            if self._trial.left <= 0 or (best and not best.left):
                break
            if best and best.left <= others and number > further:
                break
            left = self._faults_left((*before, *edits))
            if _name(fault) not in left and (best is None or len(left) < len(best.left)):
                best = _Chosen(fault, edits, left)
        return best

    def _faults_left(self, edits: Candidate) -> frozenset[tuple[str, str]]:
        return frozenset(map(_name, self._trial.faults(edits)))


def _key(fault: Fault, root: Node) -> tuple[str, ...] | None:
    """Return the key that a fault is about, None if it is about another file."""
    if fault.at and fault.at.path not in _files(root):
        return None
    return fault.keys[0] if fault.keys else key_at(root, fault.at)


def _files(node: Node) -> set[Path]:
    found: set[Path] = set()
    waiting: list[Node] = [node]
    while waiting:
        each = waiting.pop()
        found |= {each.at.path} if isinstance(each.at, SourceLoc) else set()
        if hasattr(each, "entries"):
            waiting += [entry.value for entry in each.entries.values()]
        waiting += getattr(each, "items", ())
    return found


def _follows(fault: Fault, helped: Sequence[_Chosen]) -> bool:
    """Tell whether a fault goes with the remedy of a misspelt name."""
    return fault.code in _CONSEQUENCES and any(
        each.fault.code in _CAUSES
        and (each.edits[0].name or each.edits[0].text)
        and _name(fault) not in each.left
        for each in helped
    )


def _fault_with(chosen: _Chosen, root: Node) -> Fault:
    fault, (first, *others) = chosen.fault, chosen.edits
    word = first.name or first.text
    key = _key(fault, root) or ()
    remedy = sentence(chosen.edits, _place(fault, key), root)
    if not others and first.key == key and not first.everywhere and first.name:
        remedy = f"did you mean '{word}'?"
    said = fault.remedy or ""
    if said.startswith((f"did you mean '{word}'?", remedy)) and not others:
        rest = (fix for fix in fault.fixes if fix != chosen.edits)
        return replace(fault, fixes=(chosen.edits, *rest))
    fixes: tuple[Candidate, ...] = (chosen.edits,)
    if fault.code == "E032":
        remedy += ", or more" if first.key[0] == "memories" else ", or less"
    if fault.code == "E037":
        remedy += f", or at most {format_size(LARGEST_MEMORY)}"
    if remedy.endswith("?"):
        tail = _TAILS.get(fault.code, _DELETE)
        remedy += f" {tail}"
        fixes += ((Edit(key),),) if tail == _DELETE else ()
    return replace(fault, remedy=remedy, fixes=fixes)


def _place(fault: Fault, key: tuple[str, ...]) -> tuple[str, ...]:
    """Return the key at whose place the message points."""
    return key[:-1] if fault.code == "E010" else key


def _name(fault: Fault) -> tuple[str, str]:
    """Return what stays the same of a fault when sizes change."""
    return fault.code, _NUMBER.sub("#", fault.message)
