"""The table of a core's protection unit, as its start-up code loads it."""

from collections.abc import Mapping

from atoll.resolve.protection import mpu, pmp
from atoll.resolve.protection.record import RECORD_SIZE
from atoll.resolve.protection.table import table_of
from atoll.resolve.soc import Cpu, ResolvedSoc


def protection_setup(soc: ResolvedSoc, core: Cpu) -> Mapping[str, object]:
    """Return what the templates of start-up code are told: entries with words, and what is shared.

    Entries are pairs of what they open and the words of their registers; none if the unit is off.
    """
    table, unit = table_of(soc, core), core.spec.protection
    whats = [f"{entry.access} {entry.form}: {entry.what}" for entry in table]
    opened = tuple(entry.area for entry in table if entry.area)
    is_pmp = unit is not None and unit.unit == "pmp"
    words = [entry.words[1:] if is_pmp else entry.words for entry in table]
    return {
        "protection": tuple(zip(whats, words, strict=True)),
        "rights": pmp.rights(table, core.instructions.bits) if is_pmp else {},
        "attributes": mpu.attributes_v8(opened) if unit and unit.unit == "mpu_v8" else None,
        "record_size": RECORD_SIZE,
    }
