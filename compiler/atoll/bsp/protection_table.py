# SPDX-License-Identifier: Apache-2.0
"""The table of a core's protection unit, as its start-up code loads it."""

from collections.abc import Mapping, Sequence

from atoll.resolve.protection import mpu, pmp
from atoll.resolve.protection.record import RECORD_SIZE
from atoll.resolve.protection.table import table_of
from atoll.resolve.soc import Cpu, ResolvedSoc


def protection_rows(soc: ResolvedSoc, core: Cpu) -> Sequence[tuple[str, Sequence[int]]]:
    """Return what each entry of the table in start-up code opens, and its words there.

    Of PMP these are the addresses; what they open is in the code that sets the configuration.
    """
    unit = core.spec.protection
    first = 1 if unit and unit.unit == "pmp" else 0
    return tuple(
        (f"{entry.access} {entry.form}: {entry.what}", entry.words[first:])
        for entry in table_of(soc, core)
    )


def protection_setup(soc: ResolvedSoc, core: Cpu) -> Mapping[str, object]:
    """Return what the templates of start-up code are told: entries with words, and what is shared.

    Entries are pairs of what they open and the words of their registers; none if the unit is off.
    """
    table, unit = table_of(soc, core), core.spec.protection
    opened = tuple(entry.area for entry in table if entry.area)
    is_pmp = unit is not None and unit.unit == "pmp"
    return {
        "protection": protection_rows(soc, core),
        "rights": pmp.rights(table, core.instructions.bits) if is_pmp else {},
        "attributes": mpu.attributes_v8(opened) if unit and unit.unit == "mpu_v8" else None,
        "record_size": RECORD_SIZE,
    }
