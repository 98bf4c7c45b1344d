# SPDX-License-Identifier: Apache-2.0
"""Candidates for reach, roles and kinds of memories."""

import re
from collections.abc import Callable, Iterator, Mapping

from atoll.description.edits import Candidate, Edit, set_key
from atoll.resolve.remedy.case import ACCESS, Case
from atoll.resolve.remedy.keys import likely_kind

_QUOTED = re.compile(r"'([\w.]+)'")


def decide_accesses(case: Case) -> Iterator[Candidate]:
    """Yield the accesses that suit the pool's role, then less."""
    pool, _, devices = case.fault.message.partition(" whether ")
    name = _QUOTED.search(pool)
    if name is None:
        return
    reach = ("pools", name[1], "reach")
    first = ACCESS.get(str(case.at("pools", name[1], "role")), "rw")
    for access in dict.fromkeys((first, "ro", "none")):
        yield tuple(set_key((*reach, each), access) for each in _QUOTED.findall(devices))


def suit_accesses(case: Case) -> Iterator[Candidate]:
    """Yield what makes role, access and memory agree: memory, access, kind, role."""
    if case.key[0] == "devices":
        yield from _core_part(case)
        return
    pool, last = case.key[1], case.key[-1]
    key = ("pools", pool)
    memory = str(case.at(*key, "memory"))
    role = str(case.at(*key, "role"))
    kind = case.at("memories", memory, "kind")
    other = {"rom": "ram", "ram": "rom"}.get(str(kind), "ram")
    if case.key[2:3] == ("reach",):
        yield (set_key(case.key, "ro" if kind == "rom" else "rw"),)
    if last in ("provided", "heap"):
        yield (Edit(case.key),)
    if kind is not None and likely_kind(memory) in (other, None):
        yield (set_key(("memories", memory, "kind"), other),)
    if last == "role":
        yield (set_key((*key, "role"), "constants" if kind == "rom" else "workspace"),)
        names = case.memories("rom", "ram") if role == "constants" else case.memories("ram")
        yield from ((set_key((*key, "memory"), name),) for name in names if name != memory)
        if kind is not None:
            yield (set_key(("memories", memory, "kind"), other),)
    elif kind == "ram" and role == "constants":
        yield from ((set_key((*key, "memory"), name),) for name in case.memories("rom"))


def _core_part(case: Case) -> Iterator[Candidate]:
    """Yield memories that a stack or data may be in, or make its own one such."""
    memory = str(case.at(*case.key))
    if case.at("memories", memory, "kind") == "rom":
        yield (set_key(("memories", memory, "kind"), "ram"),)
    yield from ((set_key(case.key, name),) for name in case.memories("ram"))


def reach_devices(case: Case) -> Iterator[Candidate]:
    """Yield accesses that let a device work, or a pool be of use."""
    if case.key[0] == "pools":
        access = ACCESS.get(str(case.at("pools", case.key[1], "role")), "rw")
        reach = ("pools", case.key[1], "reach")
        yield tuple(set_key((*reach, name), access) for name in case.table(*reach))
        yield from ((set_key((*reach, name), access),) for name in case.table(*reach))
        yield (Edit(case.key[:2]),)
        return
    device = case.key[1]
    if "moves" in case.key:
        yield from _reach_by_engine(case, device)
        return
    for name, pool in case.table("pools").items():
        role = pool.get("role") if isinstance(pool, dict) else None
        access = ACCESS.get(str(role), "rw")
        if isinstance(pool, dict) and case.at("pools", name, "reach", device) != access:
            yield (set_key(("pools", name, "reach", device), access),)


def _reach_by_engine(case: Case, device: str) -> Iterator[Candidate]:
    """Yield accesses to the pools of the memory that an engine copies from or to."""
    memory = case.at(*case.key)
    access = "rw" if case.key[-1] == "1" else "ro"
    for name, pool in case.table("pools").items():
        if isinstance(pool, dict) and pool.get("memory") == memory:
            yield (set_key(("pools", name, "reach", device), "rw"),)
            yield (set_key(("pools", name, "reach", device), access),)
    yield (Edit(case.key[:-1]),)


ACCESSES: Mapping[str, Callable[[Case], Iterator[Candidate]]] = {
    "E033": decide_accesses,
    "E034": suit_accesses,
    "E036": reach_devices,
}
