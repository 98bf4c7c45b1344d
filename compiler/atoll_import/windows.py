# SPDX-License-Identifier: Apache-2.0
"""Pools that files name, and the memories that they are in."""

from collections.abc import Sequence
from dataclasses import replace

from atoll.description.fields import ADDRESS_SPACE, MAX_ENTRIES
from atoll_import.facts import Facts, LeftOut, Memory, PoolWindow

_ALIGNMENT = 16
_WIDTHS = (4, 8, 16)
"""What a memory of a description can move in a cycle, in bytes."""


def with_windows(facts: Facts) -> Facts:
    """Return what files say with a memory around each of their pools.

    A pool in no memory is a memory of its own; one that is partly in another, or that overlaps an
    earlier pool, is left out. Memories are as wide as their widest pool.
    """
    memories = [*facts.memories]
    windows: list[PoolWindow] = []
    left_out: list[LeftOut] = []
    for window in facts.windows:
        if why := _impossible(window, memories, windows):
            what = f"pool {window.name} at {window.origin:#x}"
            left_out.append(LeftOut(what, why, window.source))
            continue
        if window.width > _WIDTHS[-1]:
            why = f"a memory moves at most {_WIDTHS[-1]} B in a cycle"
            left_out.append(LeftOut(f"{window.width} B in a cycle", why, window.source))
            window = replace(window, width=_WIDTHS[-1])
        windows.append(window)
        place = next((at for at, each in enumerate(memories) if holds(each, window)), None)
        if place is None:
            memories.append(_memory_of(window))
        else:
            width = max(memories[place].width or _WIDTHS[0], _memory_width(window))
            memories[place] = replace(memories[place], width=width)
    return replace(
        facts,
        memories=tuple(memories),
        windows=tuple(windows),
        left_out=(*facts.left_out, *left_out),
    )


def holds(memory: Memory, window: PoolWindow) -> bool:
    """Tell whether a pool is in a memory, on the bus."""
    end = memory.origin + memory.size
    return not memory.space and memory.origin <= window.origin and window.end <= end


def _impossible(
    window: PoolWindow, memories: Sequence[Memory], earlier: Sequence[PoolWindow]
) -> str:
    """Say why a description can hold no such pool, or nothing."""
    if window.end > ADDRESS_SPACE:
        return "it ends beyond the address space of 32 bits"
    if window.origin % _ALIGNMENT or window.size % _ALIGNMENT:
        return f"its place or its size is no multiple of {_ALIGNMENT}"
    if other := next((each for each in earlier if _overlap(window, each)), None):
        return f"it overlaps '{other.name}' of {other.source}"
    inside = any(holds(each, window) for each in memories)
    near = (each for each in memories if not each.space and _partly(window, each))
    if not inside and (memory := next(near, None)):
        return f"a part of it is outside of '{memory.name}' of {memory.source}"
    full = len(memories) >= MAX_ENTRIES and not inside
    return f"a description has at most {MAX_ENTRIES} memories" if full else ""


def _overlap(one: PoolWindow, other: PoolWindow) -> bool:
    return one.origin < other.end and other.origin < one.end


def _partly(window: PoolWindow, memory: Memory) -> bool:
    return window.origin < memory.origin + memory.size and memory.origin < window.end


def _memory_of(window: PoolWindow) -> Memory:
    """Return a memory that a pool fills."""
    return Memory(
        name=window.memory,
        origin=window.origin,
        size=window.size,
        writable=window.writable,
        why="as its pool",
        width=_memory_width(window),
        source=window.source,
    )


def _memory_width(window: PoolWindow) -> int:
    return next(width for width in _WIDTHS if width >= window.width)
