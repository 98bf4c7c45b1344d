# SPDX-License-Identifier: Apache-2.0
"""A chip without how fast it is: what a placed network becomes does not depend on that."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, replace
from functools import cache
from typing import Any, TypeVar

from atoll.plugins.loading import is_own
from atoll.resolve.marks import SPEED, TOLD
from atoll.resolve.soc import Device, Engine, Memory, Pool, ResolvedSoc, once_per_chip
from atoll.utils.remember import Alike, remember

Part = TypeVar("Part", Device, Memory, Pool, ResolvedSoc)

CHIPS_AT_HAND = 64
"""Chips without speeds that a process keeps."""


@once_per_chip
def timeless(soc: ResolvedSoc) -> ResolvedSoc:
    """Return a chip without what its fields mark as `SPEED` or `TOLD`.

    Only estimates, and decisions by them, depend on these, and on what kernels ran; two chips that
    differ in nothing else are equal without them, and mostly one object. Engines whose emitters are
    of other packages keep theirs.
    """
    made = replace(
        _without(soc, TOLD),
        devices=tuple(map(timeless_device, soc.devices)),
        memories=tuple(_without(each, SPEED, TOLD) for each in soc.memories),
        pools=tuple(_without(each, SPEED, TOLD) for each in soc.pools),
    )
    return _first_equal(made)


@once_per_chip
def sizeless(soc: ResolvedSoc) -> ResolvedSoc:
    """Return a chip as `timeless` does whose pools have no addresses and no sizes either.

    It is what choices depend on that ask of sizes no more than whether there is any room.
    """
    made = timeless(soc)
    pools = (
        replace(each, region=replace(each.region, origin=0, size=int(each.room > 0)))
        for each in made.pools
    )
    return _first_equal(replace(made, pools=tuple(pools)))


def share_timeless(soc: ResolvedSoc, other: ResolvedSoc) -> ResolvedSoc:
    """Let a chip that differs from another in speeds alone have what that is without them."""
    if all(is_own(engine.spec.emitter) for engine in soc.engines):
        for each in (timeless, sizeless):
            soc.known[each.__wrapped__] = each(other)  # type: ignore[attr-defined]
    return soc


def _chip_key(soc: ResolvedSoc) -> Alike:
    return Alike(soc.shape_sign, soc)


@remember(_chip_key, most=CHIPS_AT_HAND)
def _first_equal(soc: ResolvedSoc) -> ResolvedSoc:
    """Return the first of equal chips, which compares with itself at once."""
    return soc


def timeless_device(device: Device) -> Device:
    """Return a device likewise; jobs of Atoll's own emitters do not depend on what it lacks."""
    if isinstance(device, Engine) and not is_own(device.spec.emitter):
        return _without(device, TOLD)
    return _without(device, SPEED, TOLD)


def _without(part: Part, *marks: Mapping[str, str]) -> Part:
    """Return a part of a chip whose fields with these marks are as where nothing is said."""
    kind: Any = type(part)
    return replace(
        part, **{name: nothing for name, nothing, mark in _find_marks(kind) if mark in marks}
    )


@cache
def _find_marks(kind: type) -> tuple[tuple[str, Any, Mapping[str, str]], ...]:
    """Return the fields of a kind of part that are marked, with what says nothing there."""
    found = (each for each in fields(kind) if each.metadata)
    return tuple((each.name, _nothing(each), each.metadata) for each in found)


def _nothing(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return 0 if field.default is MISSING else field.default
