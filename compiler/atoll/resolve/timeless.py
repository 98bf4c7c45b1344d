# SPDX-License-Identifier: Apache-2.0
"""A chip without how fast it is: what a placed network becomes does not depend on that."""

from dataclasses import replace
from fractions import Fraction

from atoll.plugins.loading import is_own
from atoll.resolve.soc import Cpu, Device, Engine, Memory, Pool, ResolvedSoc, once_per_chip


@once_per_chip
def timeless(soc: ResolvedSoc) -> ResolvedSoc:
    """Return a chip without clocks, widths, latencies, banks, energy, area and places in files.

    Only estimates, and decisions by them, depend on these, and on what kernels ran; two chips that
    differ in nothing else are equal without them. Engines whose emitters are of other packages keep
    theirs.
    """
    return replace(
        soc,
        devices=tuple(map(_device, soc.devices)),
        memories=tuple(map(_memory, soc.memories)),
        pools=tuple(map(_pool, soc.pools)),
        layers={},
        source=None,
    )


def _device(device: Device) -> Device:
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
