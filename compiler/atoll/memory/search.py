# SPDX-License-Identifier: Apache-2.0
"""Exact search: decide whether the buffers of a pool fit into a number of bytes.

`search_python` defines it. `search.c` is the same search as machine code, for more than a few
nodes; the answers are the same.
"""

from dataclasses import replace

from atoll.memory.packing import Packing
from atoll.memory.search_native import NativeSearch, is_compiled, machine_code
from atoll.memory.search_python import PythonSearch
from atoll.memory.search_tables import Found, Status, Steps, Strategy, tables_of

_COLD = 400
"""Nodes that are interpreted before anything is compiled: small problems end earlier."""

_LOOK = 32
"""Nodes that are interpreted between two looks at the clock, and if it is compiled already."""


class Search:
    """Searches one packing, for one capacity at a time."""

    def __init__(self, packing: Packing) -> None:
        """Prepare for any capacity."""
        self._packing = packing
        self._tables = tables_of(packing)
        self._native: NativeSearch | None = None
        self._cold = _COLD

    def fits(self, capacity: int, strategy: Strategy, more: Steps) -> Found:
        """Look for offsets with which no member ends above `capacity`.

        Args:
            capacity: bytes.
            strategy: how to branch.
            more: how far to go on.
        """
        found = self._search(capacity, strategy, more)
        members = self._packing.members
        offsets = {members[place]: offset for place, offset in found.offsets.items()}
        return replace(found, offsets=offsets)

    def _search(self, capacity: int, strategy: Strategy, more: Steps) -> Found:
        """Search in Python; begin again as machine code if that takes long and can be had."""
        if self._native is not None:
            return self._native.run(capacity, strategy, more)
        slow = PythonSearch(self._tables, capacity, strategy)
        cold = min(self._cold, _LOOK) if self._cold > _LOOK and is_compiled() else self._cold
        found = slow.run(lambda done: max(0, min(more(done), cold - done, _LOOK)))
        self._cold -= found.nodes
        if found.status is not Status.RUNNING or not more(found.nodes):
            return found
        if (call := machine_code()) is None:
            return slow.run(lambda done: min(more(done), _LOOK))
        self._native = NativeSearch(self._tables, call)
        return self._native.run(capacity, strategy, more)
