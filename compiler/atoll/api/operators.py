# SPDX-License-Identifier: Apache-2.0
"""The operators that a network may have."""

from dataclasses import field
from typing import Any

from atoll.api.chips import SocSource, load_soc
from atoll.api.notebook import Row, html_table
from atoll.records import dataclass
from atoll.report.operators import SupportedOperator, operator_tables, supported_operators
from atoll.resolve.tables import Table, as_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Operators:
    """The operators that model files may have; of a chip also the devices that run each.

    Attributes:
        soc: the chip, None if no chip was named.
    """

    soc: str | None
    _found: tuple[SupportedOperator, ...] = field(repr=False)
    _tables: tuple[Table, ...] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """What TFLite files call them."""
        return tuple(each.operator for each in self._found)

    def rows(self) -> list[Row]:
        """Return the operators; `devices` has the limits of each device that runs one."""
        return [each.as_json() for each in self._found]

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll operators`` prints."""
        return as_text(self._tables, columns)

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll operators --json`` prints."""
        return {"soc": self.soc, "operators": self.rows()}

    def _repr_html_(self) -> str:
        return "".join(html_table(each.title, each.as_data()) for each in self._tables if each.rows)


def operators(soc: SocSource | None = None) -> Operators:
    """List the operators that a network may have.

    Args:
        soc: the chip, or what `load_soc` takes; its devices and their limits are listed then.

    >>> import atoll
    >>> "CONV_2D" in atoll.operators().names
    True
    """
    chip = None if soc is None else load_soc(soc)._resolved
    found = supported_operators(chip)
    tables = operator_tables(found, chip)
    return Operators(soc=chip.name if chip else None, _found=found, _tables=tables)
