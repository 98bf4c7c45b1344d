# SPDX-License-Identifier: Apache-2.0
"""A chip without how fast it is: what a placed network becomes does not depend on that."""

from dataclasses import replace
from fractions import Fraction

from atoll.plugins.loading import is_own
from atoll.resolve.soc import Cpu, Device, Engine, Memory, Pool, ResolvedSoc, once_per_chip
from atoll.utils.remember import Alike, remember

CHIPS_AT_HAND = 64
"""Chips without speeds that a process keeps."""


@once_per_chip
def timeless(soc: ResolvedSoc) -> ResolvedSoc:
    """Return a chip without clocks, widths, latencies, banks, energy, area and places in files.

    Only estimates, and decisions by them, depend on these, and on what kernels ran; two chips that
    differ in nothing else are equal without them, and mostly one object. Engines whose emitters are
    of other packages keep theirs.
    """
    made = replace(
        soc,
        devices=tuple(map(timeless_device, soc.devices)),
        memories=tuple(map(_memory, soc.memories)),
        pools=tuple(map(_pool, soc.pools)),
        layers={},
        mpool=None,
        told=None,
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
    if isinstance(device, Cpu):
        device = replace(device, ran={})
    if not isinstance(device, Engine):
        return replace(device, clock=0, at=None, energy=None, area=None)
    if not is_own(device.spec.emitter):
        return replace(device, at=None, energy=None, area=None)
    return replace(
        device,
        clock=0,
        at=None,
        energy=None,
        area=None,
        bus_cycles=Fraction(1),
        constants_width=Fraction(0),
        constants_latency=0,
        constants_wait=0,
        workspace_width=Fraction(0),
        pool_memories={},
    )


def _memory(memory: Memory) -> Memory:
    return replace(memory, width=0, banks=0, read_latency=0, energy=None, area=None, at=None)


def _pool(pool: Pool) -> Pool:
    return replace(pool, speed=None, at=None)
