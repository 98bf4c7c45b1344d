# SPDX-License-Identifier: Apache-2.0
"""The table of a core's protection unit."""

from collections.abc import Sequence

from atoll.resolve.protection import mpu, pmp
from atoll.resolve.protection.area import Area, areas_of
from atoll.resolve.protection.entry import Entry
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll.resolve.specs import ProtectionUnit


def table_of(soc: ResolvedSoc, cpu: Cpu) -> tuple[Entry, ...]:
    """Return the entries that let `cpu` do what it may and nothing else; none if it is off."""
    unit = cpu.spec.protection
    if not cpu.protected or unit is None:
        return ()
    return entries_of(unit, areas_of(soc, cpu, unit.granule), cpu.instructions.bits)


def entries_of(unit: ProtectionUnit, areas: Sequence[Area], bits: int) -> tuple[Entry, ...]:
    """Return the entries that open `areas`, which are in order and apart, and nothing else.

    Args:
        unit: the hardware.
        areas: by address.
        bits: of an address.
    """
    if unit.unit == "pmp":
        return pmp.entries(areas, bits)
    return mpu.entries_v7(areas, unit.granule) if unit.unit == "mpu_v7" else mpu.entries_v8(areas)
