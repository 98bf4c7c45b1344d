# SPDX-License-Identifier: Apache-2.0
"""Whether the tools that Atoll needs are there and work."""

from dataclasses import field
from typing import Any

from atoll.api.notebook import Row, html_table
from atoll.bsp.doctor import Check, diagnose
from atoll.diagnostics.shown import printable_lines
from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was looked for on this machine."""

    _checks: tuple[Check, ...] = field(repr=False)

    @property
    def ok(self) -> bool:
        """All that is required works."""
        return all(each.ok for each in self._checks if each.required)

    def rows(self) -> list[Row]:
        """Return the tools: ``name``, ``ok``, ``found``, ``remedy``, ``required``."""
        return [{**each.as_json()} for each in self._checks]

    def text(self) -> str:
        """Return what ``atoll doctor`` prints."""
        return printable_lines("\n".join(map(str, self._checks))) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll doctor --json`` prints."""
        return {"ok": self.ok, "checks": self.rows()}

    def _repr_html_(self) -> str:
        return html_table("tools", self.rows())


def doctor() -> Diagnosis:
    """Check the tools that Atoll needs; each one that is missing comes with what to install."""
    return Diagnosis(diagnose())
