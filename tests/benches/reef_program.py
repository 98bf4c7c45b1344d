# SPDX-License-Identifier: Apache-2.0
"""Lists of commands and their data, laid out in memory."""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random

from tests.benches.reef_golden import Layer

from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES
from atoll_sim.engines.reef.descriptor import Link

ORIGIN = 0x2000_0000


@dataclass(slots=True)
class Program:
    """A list of operators laid out in memory.

    Attributes:
        tensor_alignment: of the inputs and outputs.
        image: what the memory holds at the start, by byte address.
        expected: what the outputs must be, by byte address.
        count: commands of the list that is started.
        total: commands of all lists, links included.
    """

    random: Random
    input_lanes: int
    output_lanes: int
    next_address: int = ORIGIN
    tensor_alignment: int = 1
    image: dict[int, bytes] = field(default_factory=dict)
    expected: dict[int, bytes] = field(default_factory=dict)
    commands: list[bytes] = field(default_factory=list)
    list_address: int = 0
    count: int = 0
    total: int = 0

    def place(self, size: int, alignment: int) -> int:
        """Reserve bytes at the next multiple of `alignment`, after a random gap."""
        gap = self.random.choice((0, 0, 1, 3, 8, 17, 50))
        address = -(-(self.next_address + gap) // alignment) * alignment
        self.next_address = address + size
        return address

    def load(self, data: bytes, alignment: int) -> int:
        """Place `data` in memory and return its address."""
        address = self.place(len(data), alignment)
        self.image[address] = data
        return address

    def add(self, layer: Layer, **changes: int) -> None:
        """Append an operator; `changes` replace fields of its descriptor."""
        weights, table = layer.packed(self.input_lanes, self.output_lanes)
        blocks = -(-layer.shape.channels // self.output_lanes)
        block_bytes = len(weights) // blocks
        if layer.shape.uniform:
            weights, table = weights[:block_bytes], table[: len(table) // blocks]
        result = layer.result().tobytes()
        addresses = (
            self.load(layer.x.tobytes(), self.tensor_alignment),
            self.place(len(result), self.tensor_alignment),
            self.load(weights, 16),
            self.load(table, 16),
        )
        self.expected[addresses[1]] = result
        command = layer.descriptor(addresses, block_bytes)
        self.commands.append(replace(command, **changes).encode())

    def finish(self, lists: int = 1) -> None:
        """Place the commands, as so many lists that lie anywhere and go on with each other."""
        cuts = sorted(self.random.sample(range(1, len(self.commands)), lists - 1))
        parts = [self.commands[a:b] for a, b in pairwise((0, *cuts, len(self.commands)))]
        counts = [len(part) + 1 for part in parts[:-1]] + [len(parts[-1])]
        order = self.random.sample(range(lists), lists)
        found = {at: self.place(counts[at] * DESCRIPTOR_BYTES, DESCRIPTOR_BYTES) for at in order}
        places = [found[number] for number in range(lists)]
        for number, part in enumerate(parts[:-1]):
            part.append(Link(address=places[number + 1], count=counts[number + 1]).encode())
        self.image |= {at: b"".join(part) for at, part in zip(places, parts, strict=True)}
        self.list_address, self.count, self.total = places[0], counts[0], sum(counts)
