# SPDX-License-Identifier: Apache-2.0
"""What streams save and what they cost, for people and programs."""

from atoll.cost.basis import with_basis
from atoll.records import dataclass
from atoll.resolve.tables import Table
from atoll.stream.choose import Streaming


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamingStory:
    """A network with streams, or one that could have some.

    Attributes:
        streaming: the operators whose constants are copied ahead, or could be.
        cycles: of the network by estimate, from its first operator to its last.
        basis: what all cycles rest on.
    """

    streaming: Streaming
    cycles: int
    basis: str

    def as_json(self) -> dict[str, object]:
        """Return the story for programs.

        Cycles of operators are those in parts, with their channels brought together; copies take
        theirs beside what else is done. `direct_cycles` are those with constants where they lie,
        None if the operator cannot read them there, or the network does not fit so.
        """
        streaming = self.streaming
        return {
            "operators": [
                {
                    "operator": each.stream.operator,
                    "streamed": each.stream.operator in streaming.chosen,
                    "size_bytes": each.stream.size,
                    "source": each.stream.source,
                    "target": each.stream.target,
                    "mover": each.stream.mover,
                    "parts": each.stream.parts,
                    "copy_cycles": each.copying,
                    "cycles": each.cycles,
                    "direct_cycles": each.direct,
                }
                for each in streaming.possible
            ],
            "cycles": self.cycles,
            "direct_cycles": streaming.direct,
            "basis": self.basis,
        }

    def table(self) -> Table:
        """Return one line for each operator whose constants are, or could be, copied ahead."""
        direct = self.streaming.direct
        without = "does not fit without" if direct is None else f"{direct:,} cycles without"
        title = f"Constants copied ahead: {self.cycles:,} cycles by estimate, {without}"
        return Table(
            key="streaming",
            title=with_basis(title, self.basis),
            columns=(
                *("operator", "streamed", "bytes", "from", "to", "by", "parts", "copy cycles"),
                *("cycles", "direct cycles"),
            ),
            rows=tuple(
                (
                    each.stream.operator,
                    "yes" if each.stream.operator in self.streaming.chosen else "no",
                    each.stream.size,
                    each.stream.source,
                    each.stream.target,
                    each.stream.mover,
                    each.stream.parts,
                    each.copying,
                    each.cycles,
                    "-" if each.direct is None else each.direct,
                )
                for each in self.streaming.possible
            ),
        )
