# SPDX-License-Identifier: Apache-2.0
"""Why every buffer of a network is where it is, and every operator runs where it runs."""

from dataclasses import field
from typing import Any

from atoll.api.notebook import Row, html_table
from atoll.records import dataclass
from atoll.report.explain_text import Explanation as Story
from atoll.report.explain_text import decisions_json


@dataclass(frozen=True, slots=True)
class Explanation:
    """A network on a chip: its buffers, its operators, and the reasons.

    Attributes:
        soc: the chip.
        network: its name.
        buffers: the names of all buffers.
        notes: what is slower than it might be, and what an NPU's compiler did not take.
    """

    soc: str
    network: str
    buffers: tuple[str, ...]
    notes: tuple[str, ...]
    _story: Story = field(repr=False)

    def rows(self) -> list[Row]:
        """Return each buffer with its place and the rule that put it there.

        What only a run knows is None, such as the size of a buffer that the heap gives.
        """
        names = ("name", "what", "size_bytes", "place", "offset_bytes", "address", "rule")
        return [{name: each.as_json()[name] for name in names} for each in self._story.buffers]

    def operator_rows(self) -> list[Row]:
        """Return each operator with its device, the reason, and why no other device runs it."""
        return decisions_json(self._story.decisions)

    def text(self, buffer: str | None = None, columns: int | None = None) -> str:
        """Return what ``atoll explain`` prints, of all buffers, or of those of a name or a pattern.

        Raises:
            UsageError: E028; there is no such buffer.
        """
        return self._story.text(buffer, columns)

    def operators_text(self, columns: int | None = None) -> str:
        """Return what each device does, as ``atoll explain --operators`` prints it."""
        return self._story.operators_text(columns)

    def scopes_text(self) -> str:
        """Return the scope of each operator and tensor, as ``atoll explain --scopes`` prints it."""
        return self._story.scopes.text()

    def to_json(self, buffer: str | None = None) -> dict[str, Any]:
        """Return what ``atoll explain --json`` prints.

        Raises:
            UsageError: E028; there is no such buffer.
        """
        return self._story.as_json(buffer)

    def _repr_html_(self) -> str:
        title = f"{self.network} on {self.soc}"
        operators = html_table(f"{title}: operators", self.operator_rows(), self.notes)
        return html_table(f"{title}: buffers", self.rows()) + operators


def to_explanation(story: Story) -> Explanation:
    """Return an explanation as callers see it."""
    names = tuple(name for each in story.buffers for name in (each.name, *each.views))
    return Explanation(story.soc, story.model, names, story.notes, story)
