# SPDX-License-Identifier: Apache-2.0
"""Places of a description that say nothing usable, so that checks pass over them."""

from dataclasses import dataclass

from atoll.description.tree import Key


@dataclass(frozen=True, slots=True)
class Gaps:
    """Keys whose values are missing or refused; a model holds something arbitrary there."""

    keys: frozenset[Key] = frozenset()

    def knows(self, *key: str) -> bool:
        """Tell whether the value at `key`, with all around and below it, is as it was written."""
        return not any(gap[: len(key)] == key[: len(gap)] for gap in self.keys)

    def has(self, *key: str) -> bool:
        """Tell whether there is any value at `key`, be it with gaps below it."""
        return not any(gap == key[: len(gap)] for gap in self.keys)

    def whole(self, table: str) -> bool:
        """Tell whether all entries of the top-level mapping `table` are at hand."""
        return not any(
            gap[:1] == (table,) and len(gap) <= len((table, "name")) for gap in self.keys
        )
