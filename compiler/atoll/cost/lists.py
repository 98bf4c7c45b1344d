# SPDX-License-Identifier: Apache-2.0
"""What operators take whose engine goes from one to the next by itself, in cycles of the host."""

from atoll.cost.core_costs import drive_cycles
from atoll.cost.data.picorv32 import BETWEEN_CYCLES, GOES_ON_CYCLES, LINK_BYTES
from atoll.cost.engines import crossing_cycles, driver_cycles
from atoll.cost.spent import Spent, of_host
from atoll.ir.busy import Bound
from atoll.resolve.engine_parts import emitter_of, links
from atoll.resolve.soc import Device, Engine, ResolvedSoc, once_per_device


def in_list(each: Spent, engine: Engine, soc: ResolvedSoc, *, first: bool, last: bool) -> Spent:
    """Return what an operator takes among those that its engine goes through by itself.

    The host starts the first one and hears of the end of the last one.

    Args:
        each: what it takes alone.
        engine: runs it.
        soc: the chip.
        first: the host starts it.
        last: the engine goes on with nothing.
    """
    assert each.busy is not None
    start, finish, _ = driver_cycles(soc)
    cycles = working = of_host(each.busy.cycles, engine, soc)
    cycles += start + crossing_cycles(engine, soc) if first else 0
    cycles += finish if last else goes_on_cycles(engine, soc)
    bound = Bound.START if cycles >= 2 * working else each.busy.bound
    return Spent(cycles=cycles, bound=bound, busy=each.busy)


def goes_on_cycles(engine: Engine, soc: ResolvedSoc) -> int:
    """Return what an engine takes for the command that goes on with another list."""
    width = min(engine.params.get("data_bytes", LINK_BYTES), engine.constants_width or LINK_BYTES)
    fetching = engine.constants_latency + -(-LINK_BYTES // width)
    return of_host(GOES_ON_CYCLES + fetching, engine, soc)


def joint_saving(device: Device, soc: ResolvedSoc) -> int:
    """Return what the host saves where a device goes on by itself; 0 if it never does."""
    if not (isinstance(device, Engine) and links(emitter_of(device))):
        return 0
    return _saving(device, soc)


@once_per_device
def _saving(engine: Engine, soc: ResolvedSoc) -> int:
    start, finish, _ = driver_cycles(soc)
    between = drive_cycles(BETWEEN_CYCLES, soc.host_cpu, soc)
    return start + finish + between - goes_on_cycles(engine, soc)
