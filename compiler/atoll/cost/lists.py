# SPDX-License-Identifier: Apache-2.0
"""What the host saves where an engine goes from one operator to the next by itself."""

from atoll.cost.core_costs import drive_cycles
from atoll.cost.data.picorv32 import BETWEEN_CYCLES
from atoll.cost.engines import driver_cycles, goes_on_cycles
from atoll.resolve.engine_parts import emitter_of, links
from atoll.resolve.soc import Device, Engine, ResolvedSoc, once_per_device


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
