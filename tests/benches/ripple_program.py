# SPDX-License-Identifier: Apache-2.0
"""Lists of copies and their data, laid out in memory, and the bench's hands."""

from dataclasses import dataclass, field
from itertools import product
from random import Random

from tests.benches.reef_program import ORIGIN

from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES
from atoll_sim.engines.ripple.descriptor import Descriptor

MARGIN = 64


@dataclass(slots=True)
class Copies:
    """A list of copies laid out in memory.

    Attributes:
        apart: bytes between any two areas at least.
        image: what the memory holds at the start, by byte address.
        expected: what the destinations must be, by byte address.
        commands: of the list, in order.
    """

    random: Random
    next_address: int = ORIGIN
    apart: int = 0
    image: dict[int, bytes] = field(default_factory=dict)
    expected: dict[int, bytes] = field(default_factory=dict)
    commands: list[Descriptor] = field(default_factory=list)
    list_address: int = 0

    @property
    def count(self) -> int:
        """Commands in the list."""
        return len(self.commands)

    @property
    def total(self) -> int:
        """The same: no list goes on with another."""
        return self.count

    def place(self, size: int, alignment: int = 1) -> int:
        """Reserve bytes at the next multiple of `alignment`, after a random gap."""
        address = self.next_address + self.apart + self.random.randrange(MARGIN)
        address = -(-address // alignment) * alignment
        self.next_address = address + size
        return address

    def add(self, row_bytes: int, rows: int = 1, planes: int = 1) -> Descriptor:
        """Append a copy of random bytes with random addresses and pitches."""
        pitches = [row_bytes + self.random.choice((0, 0, 1, 5, 8, 31)) for _ in range(2)]
        steps = [rows * pitch + self.random.choice((0, 1, 13)) for pitch in pitches]
        source = self.place(planes * steps[0])
        destination = self.place(planes * steps[1])
        for plane, row in product(range(planes), range(rows)):
            data = self.random.randbytes(row_bytes)
            self.image[source + plane * steps[0] + row * pitches[0]] = data
            self.expected[destination + plane * steps[1] + row * pitches[1]] = data
        command = Descriptor(
            source=source,
            destination=destination,
            row_bytes=row_bytes,
            rows=rows,
            source_pitch=pitches[0],
            destination_pitch=pitches[1],
            more_planes=planes - 1,
            source_plane=steps[0],
            destination_plane=steps[1],
        )
        self.commands.append(command)
        return command

    def add_at(self, source: int, destination: int, data: bytes) -> None:
        """Append a copy of one row between two addresses."""
        self.image[source] = self.expected[destination] = data
        self.commands.append(
            Descriptor(source=source, destination=destination, row_bytes=len(data))
        )

    def add_random(self) -> None:
        """Append a copy of random shape."""
        size = self.random.choice((1, 2, 7, 8, 9, 15, 16, 17, 31, 64, 100, 257))
        self.add(size, self.random.choice((1, 1, 2, 3, 9)), self.random.choice((1, 1, 2, 3)))

    def finish(self) -> "Copies":
        """Place the list itself."""
        data = b"".join(command.encode() for command in self.commands)
        self.list_address = self.place(len(data), DESCRIPTOR_BYTES)
        self.image[self.list_address] = data
        return self


def some_copies(random: Random, count: int) -> Copies:
    """Return a list of random copies."""
    copies = Copies(random)
    for _ in range(count):
        copies.add_random()
    return copies.finish()
