# SPDX-License-Identifier: Apache-2.0
"""How fast pools are, as an Ethos-U counts it and as a description does."""

from dataclasses import replace
from fractions import Fraction

from atoll.records import dataclass
from atoll.resolve.soc import Pool, PoolSpeed, ResolvedSoc
from atoll.vela.ini_file import AreaSpeed

PORT_BYTES = {"ethos_u55": 8, "ethos_u65": 16, "ethos_u85": 16}
"""Width of a data port, by the accelerator's name."""

_WIDTHS = (16, 8, 4, 2, 1)
_MOST_LATENCY = 1024
_MOST_HERTZ = 10**11
_ANY_BURST = 32
_SAME_SCALE = Fraction(1, 10**5)
"""What six digits, which Atoll writes, may be off."""


@dataclass(frozen=True, slots=True)
class Port:
    """A data port of an NPU.

    Attributes:
        width: bytes in a cycle.
        clock: in hertz.
    """

    width: int
    clock: int


def speed_of_pool(soc: ResolvedSoc, pool: Pool) -> PoolSpeed:
    """Return how fast a pool is; one that does not say is as its memory at the host's clock."""
    memory = soc.memory(pool.region.memory)
    return pool.speed or PoolSpeed(
        read_bandwidth=memory.width,
        write_bandwidth=memory.width,
        latency=memory.read_latency,
        burst=0,
        clock=soc.host_cpu.clock,
    )


def area_speed(speed: PoolSpeed, port: Port, ports: int = 1) -> AreaSpeed:
    """Return how fast `ports` of an NPU reach a pool of this speed."""
    most = Fraction(speed.read_bandwidth * speed.clock, ports * port.width * port.clock)
    cycles = -(-speed.latency * port.clock // speed.clock)
    return AreaSpeed(
        clock_scale=min(most, Fraction(1)),
        ports=ports,
        burst=speed.burst or _ANY_BURST,
        read_latency=cycles,
        write_latency=cycles,
    )


def pool_speed(said: AreaSpeed, old: PoolSpeed, port: Port, most: int) -> PoolSpeed:
    """Return the speed of a pool of which a file says how fast an NPU reaches it.

    What the file does not say, or what means the same, stays as it was. Else bytes and clock are
    such that the latency comes back as exactly as can be: the NPU's clock, as many bytes as before,
    or as many as can be.

    Args:
        said: by the file.
        old: how fast the pool is without it.
        port: of the NPU.
        most: bytes that the pool's memory moves in a cycle.
    """
    was = area_speed(old, port, said.ports)
    burst = old.burst if said.burst in (None, was.burst) else said.burst
    old = replace(old, burst=burst or 0)
    scale = was.clock_scale if said.clock_scale is None else said.clock_scale
    latency = was.read_latency if said.read_latency is None else said.read_latency
    assert scale is not None
    assert latency is not None
    assert was.clock_scale is not None
    if is_same_scale(scale, was.clock_scale):
        if latency == was.read_latency:
            return old
        later = _at_clock(old, latency, port)
        if area_speed(later, port).read_latency == latency:
            return later
    rate = scale * said.ports * port.width * port.clock
    wanted = (rate / port.clock, Fraction(old.read_bandwidth), *map(Fraction, _WIDTHS))
    widths = [int(each) for each in wanted if each.denominator == 1 and each <= most]
    found = [
        _at_clock(
            replace(old, read_bandwidth=each, write_bandwidth=each, clock=_clock(rate / each)),
            latency,
            port,
        )
        for each in widths
    ]
    return min(found, key=lambda it: abs((area_speed(it, port).read_latency or 0) - latency))


def is_same_scale(one: Fraction, other: Fraction) -> bool:
    """Tell whether two scales differ by no more than the digits that Atoll writes."""
    return abs(one - other) <= _SAME_SCALE * other


def _clock(hertz: Fraction) -> int:
    return min(max(round(hertz), 1), _MOST_HERTZ)


def _at_clock(speed: PoolSpeed, cycles: int, port: Port) -> PoolSpeed:
    """Return a speed with a latency in cycles of an NPU, rounded down if that comes back."""
    exact = Fraction(cycles * speed.clock, port.clock)
    down = replace(speed, latency=min(int(exact), _MOST_LATENCY))
    if area_speed(down, port).read_latency == cycles:
        return down
    return replace(speed, latency=min(round(exact), _MOST_LATENCY))
