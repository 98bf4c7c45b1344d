# SPDX-License-Identifier: Apache-2.0
"""The chip's memories as arrays of the host, at the chip's addresses."""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from atoll.records import dataclass
from atoll.resolve.memory_views import addresses_of, on_bus
from atoll.resolve.soc import Access, Device, ResolvedSoc
from atoll_sim.chip.plan import merge_spans
from atoll_sim.engines.interface import BusFault
from atoll_sim.protocol.records import AccessKind
from atoll_sim.shadow.memory import WIDEST
from atoll_sim.trace.simulation import Touched


@dataclass(frozen=True, slots=True)
class Accessed:
    """Bytes that a master read or wrote.

    Attributes:
        beat: most bytes of one access; at most `WIDEST`.
    """

    master: str
    kind: AccessKind
    span: range
    beat: int = WIDEST


PAGE = 4096
"""The array of a memory begins at a multiple of so many bytes, and has a multiple of them."""


class HostMemory:
    """Every memory of a chip as far as it lies below 4 GiB, zero at first."""

    def __init__(self, soc: ResolvedSoc) -> None:
        lows = (memory.low for memory in soc.memories)
        self._arrays = [(low.start, low.stop, _pages(len(low))) for low in lows if low]

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes, which lie in one memory."""
        offset, array = self._find(address, size)
        return array[offset : offset + size].tobytes()

    def write(self, address: int, data: bytes) -> None:
        """Store `data` in one memory."""
        offset, array = self._find(address, len(data))
        array[offset : offset + len(data)] = np.frombuffer(data, dtype=np.uint8)

    def pointer(self, address: int) -> int:
        """Return the address at the host of a byte of the chip."""
        offset, array = self._find(address, 1)
        return int(array.ctypes.data) + offset

    def parts(self, span: range) -> Iterator[range]:
        """Yield what of a span of whole pages lies in memories; their last pages count whole."""
        for origin, _, array in self._arrays:
            part = range(max(span.start, origin), min(span.stop, origin + len(array)))
            if part:
                yield part

    def _find(self, address: int, size: int) -> tuple[int, NDArray[np.uint8]]:
        for origin, end, array in self._arrays:
            if origin <= address and address + size <= end:
                return address - origin, array
        raise BusFault(address, decode=True)


class Bytes(Protocol):
    """Memories, or what somebody sees of them; each access is of one memory."""

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes."""
        ...

    def write(self, address: int, data: bytes) -> None:
        """Store `data`."""
        ...


class DeviceBus:
    """`HostMemory` as one device sees and reaches it; remembers what it touched, as on the bus.

    Attributes:
        memory: what it sees.
    """

    def __init__(self, memory: Bytes, soc: ResolvedSoc, device: Device) -> None:
        self.memory = memory
        self._device = device
        self._on_bus = partial(on_bus, soc, device.name)
        self._windows = tuple(
            (seen.start, seen.stop, access)
            for window, access in soc.windows(device)
            for span in (range(window.origin, window.origin + window.size),)
            for seen in addresses_of(soc, device.name, span)
        )
        self._accessed: list[Accessed] = []

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes.

        Raises:
            BusFault: the device does not reach all of them.
        """
        self._allow(address, size, writes=False)
        at = self._on_bus(address)
        self._touch(AccessKind.READ, at, size)
        return self.memory.read(at, size)

    def write(self, address: int, data: bytes) -> None:
        """Store `data`.

        Raises:
            BusFault: the device does not reach all of it.
        """
        self._allow(address, len(data), writes=True)
        at = self._on_bus(address)
        self._touch(AccessKind.WRITE, at, len(data))
        self.memory.write(at, data)

    def recent(self) -> tuple[Accessed, ...]:
        """Return the accesses since the last call of `take_touched`, in order."""
        return tuple(self._accessed)

    def take_touched(self) -> tuple[Touched, ...]:
        """Return what was touched since the last call."""
        by_kind: dict[AccessKind, list[range]] = defaultdict(list)
        for each in self._accessed:
            by_kind[each.kind].append(each.span)
        touched = tuple(
            Touched(
                master=self._device.name,
                kind=kind,
                accesses=len(spans),
                transferred=sum(map(len, spans)),
                spans=merge_spans(spans),
            )
            for kind, spans in by_kind.items()
        )
        self._accessed = []
        return touched

    def _touch(self, kind: AccessKind, address: int, size: int) -> None:
        self._accessed.append(Accessed(self._device.name, kind, range(address, address + size)))

    def _allow(self, address: int, size: int, *, writes: bool) -> None:
        """Walk the windows as the firewall does; two that adjoin count as one."""
        end = address + size
        while address < end:
            reached = max(
                (
                    last
                    for first, last, access in self._windows
                    if first <= address < last and not (writes and access is Access.READ)
                ),
                default=None,
            )
            if reached is None:
                raise BusFault(address, decode=True)
            address = reached


class Kept:
    """Memory that can be read; what is written is kept apart.

    Attributes:
        written: bytes by address.
    """

    def __init__(self, memory: HostMemory) -> None:
        self._memory = memory
        self.written: dict[int, bytes] = {}

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes."""
        return self._memory.read(address, size)

    def write(self, address: int, data: bytes) -> None:
        """Keep `data`."""
        self.written[address] = data


def _pages(size: int) -> NDArray[np.uint8]:
    whole = -(-size // PAGE) * PAGE
    array = np.zeros(whole + PAGE, dtype=np.uint8)
    first = -int(array.ctypes.data) % PAGE
    return array[first : first + whole]
