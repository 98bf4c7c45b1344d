# SPDX-License-Identifier: Apache-2.0
"""Which bytes of an entry's buffers hold something, step by step."""

from collections.abc import Iterable

from atoll.ir.tir import Entry


class Written:
    """The buffers, and parts of buffers, that were written so far."""

    def __init__(self, entry: Entry) -> None:
        """Begin with nothing."""
        self._entry = entry
        self._spans: dict[str, list[tuple[int, int]]] = {}

    def add(self, names: Iterable[str]) -> None:
        """Let all bytes of some buffers or parts be written."""
        for name in names:
            if name in self._entry.sizes:
                spans = self._spans.setdefault(self._entry.storage(name), [])
                spans.append(self._entry.extent(name))
                spans.sort()

    def __contains__(self, name: str) -> bool:
        """Tell whether each byte of a buffer or part is written."""
        reached, end = self._entry.extent(name)
        for since, until in self._spans.get(self._entry.storage(name), ()):
            if since <= reached:
                reached = max(reached, until)
        return name in self._entry.sizes and reached >= end
