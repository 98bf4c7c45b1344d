# SPDX-License-Identifier: Apache-2.0
"""The tables of the cores' protection units as C headers, for start-up code of the user's own."""

from collections.abc import Mapping

from atoll.bsp.protection_table import protection_setup
from atoll.records import dataclass
from atoll.resolve.protection.table import table_of
from atoll.resolve.soc import Cpu
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.render import render

_COLUMNS = {
    "pmp": ("pmpcfg, a byte for each entry", "pmpaddr"),
    "mpu_v7": ("MPU_RBAR", "MPU_RASR"),
    "mpu_v8": ("MPU_RBAR", "MPU_RLAR"),
}
"""What the two words of an entry are written to, by unit."""


@dataclass(frozen=True, slots=True)
class _Row:
    """An entry: its two words, what it lets through and why."""

    words: tuple[int, int]
    span: str
    what: str


def protection_files(board: Board) -> Mapping[str, Entry]:
    """Return ``include/atoll_protection_<core>.h`` of each core that is protected."""
    return {
        f"include/atoll_protection_{core.name}.h": generated_entry(_header(board, core))
        for core in board.cores
        if table_of(board.soc, core)
    }


def _header(board: Board, core: Cpu) -> str:
    unit = core.spec.protection
    assert unit is not None, "a core with a table has a unit"
    rows = [
        _Row(
            (each.words[0], each.words[1]),
            f"{each.begin:#010x} to {max(each.begin, each.end - 1):#010x} {each.access}",
            each.what,
        )
        for each in table_of(board.soc, core)
    ]
    attributes = protection_setup(board.soc, core)["attributes"]
    columns = _COLUMNS[unit.unit]
    values = {"unit": unit, "rows": rows, "columns": columns, "attributes": attributes}
    return render("protection.h", board, core=core, **values)
