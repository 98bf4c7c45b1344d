# SPDX-License-Identifier: Apache-2.0
"""The workspace allocator of W2 in Python: what runtime/workspace.c does, for runs without it."""

from itertools import pairwise

from atoll.protocol import Status

ALIGNMENT = 16
"""Of every block, and of a heap itself."""

NOTE = 4
"""Bytes at the end of a heap that the allocator keeps for each live block."""

LARGEST_BLOCK = 2**31 - 1


class Heap:
    """A last-in, first-out allocator over `capacity` bytes."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity // ALIGNMENT * ALIGNMENT
        self._ends = [0]

    @property
    def blocks(self) -> int:
        """Number of live blocks."""
        return len(self._ends) - 1

    def allocate(self, size: int) -> int:
        """Return the offset of a new block of `size` bytes, or a negative code."""
        if size < 1:
            return Status.ARGUMENT
        begin = self._ends[-1]
        if begin + size + NOTE * (self.blocks + 1) > self._capacity:
            return Status.NO_MEMORY
        self._ends.append(begin + -(-size // ALIGNMENT) * ALIGNMENT)
        return begin

    def free(self, offset: int) -> int:
        """Give the latest block back; any other is refused and nothing changes."""
        starts = [begin for begin, _ in pairwise(self._ends)]
        if starts[-1:] != [offset]:
            return Status.ORDER
        self._ends.pop()
        return 0
