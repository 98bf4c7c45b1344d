# SPDX-License-Identifier: Apache-2.0
"""The engine's software model copies rows, and reports errors as the hardware does."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from atoll.resolve import load_soc
from atoll_sim.engines.interface import BusFault, Outcome
from atoll_sim.engines.ripple.descriptor import Descriptor
from atoll_sim.engines.ripple.model import RippleModel

LIST = 0x100
COPY = Descriptor(
    source=0x205, destination=0x403, row_bytes=9, rows=3, source_pitch=11, destination_pitch=17
)
SIZE = 0x800


class Memory:
    """Bytes from address 0; some of them answer SLVERR."""

    def __init__(self, seed: int = 0, broken: int = -1) -> None:
        self.data = bytearray(Random(seed).randbytes(SIZE))
        self.broken = broken

    def _check(self, address: int, size: int) -> None:
        if not 0 <= address <= SIZE - size:
            raise BusFault(address, decode=True)
        if self.broken in range(address, address + size):
            raise BusFault(self.broken, decode=False)

    def read(self, address: int, size: int) -> bytes:
        self._check(address, size)
        return bytes(self.data[address : address + size])

    def write(self, address: int, data: bytes) -> None:
        self._check(address, len(data))
        self.data[address : address + len(data)] = data


def run(memory: Memory, *commands: Descriptor, count: int | None = None, at: int = LIST) -> Outcome:
    listed = b"".join(command.encode() for command in commands)
    memory.data[at : at + len(listed)] = listed
    (dma,) = load_soc(str(Path(__file__).parents[2] / "data" / "islands_dma.yaml")).dmas
    return RippleModel(dma).run(memory, at, len(commands) if count is None else count)


def test_p6_the_model_writes_the_rows_and_nothing_else() -> None:
    memory = Memory()
    assert run(memory, COPY, replace(COPY, destination=0x600, rows=1)) == Outcome(0, 0, 2)
    expected = bytearray(Memory().data)
    expected[LIST : LIST + 128] = memory.data[LIST : LIST + 128]
    for row, to in ((0, 0x403), (1, 0x414), (2, 0x425), (0, 0x600)):
        start = 0x205 + 11 * row
        expected[to : to + 9] = expected[start : start + 9]
    assert memory.data == expected


def test_p6_the_model_writes_plane_after_plane() -> None:
    memory = Memory()
    planes = replace(COPY, more_planes=1, source_plane=0x100, destination_plane=0x200)
    assert run(memory, planes) == Outcome(0, 0, 1)
    expected = bytearray(Memory().data)
    expected[LIST : LIST + 64] = memory.data[LIST : LIST + 64]
    for plane in (0, 1):
        for row in (0, 1, 2):
            start = 0x205 + 11 * row + 0x100 * plane
            to = 0x403 + 0x11 * row + 0x200 * plane
            expected[to : to + 9] = expected[start : start + 9]
    assert memory.data == expected


@pytest.mark.parametrize(
    ("broken", "changes", "outcome"),
    [
        (0x20B, {}, Outcome(1, 0x208, 1)),
        (0x415, {}, Outcome(3, 0x410, 1)),
        (-1, {"source": SIZE}, Outcome(2, SIZE, 1)),
        (-1, {"destination": SIZE}, Outcome(4, SIZE, 1)),
        (-1, {"opcode": 2}, Outcome(5, LIST + 64, 1)),
        (-1, {"version": 2}, Outcome(5, LIST + 64, 1)),
        (-1, {"row_bytes": 0}, Outcome(6, LIST + 64, 1)),
        (-1, {"rows": 0}, Outcome(6, LIST + 64, 1)),
        (-1, {"check_flipped": 1}, Outcome(9, LIST + 64, 1)),
        (-1, {"reserved_9": bytes(27) + b"\1"}, Outcome(6, LIST + 64, 1)),
    ],
)
def test_p6_the_model_stops_at_errors(
    broken: int, changes: dict[str, int], outcome: Outcome
) -> None:
    legal = replace(COPY, source=0x300, destination=0x700, rows=1)
    assert run(Memory(broken=broken), legal, replace(COPY, **changes)) == outcome  # type: ignore[arg-type]


def test_p6_lists_that_cannot_begin() -> None:
    assert run(Memory(), COPY, at=LIST + 32) == Outcome(7, LIST + 32, 0)
    assert run(Memory(), COPY, count=0) == Outcome(6, LIST, 0)
    assert run(Memory(), COPY, count=65536) == Outcome(6, LIST, 0)
