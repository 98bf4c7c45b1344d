# SPDX-License-Identifier: Apache-2.0
"""What a right core does in each part of the program: accesses of the probe, and results."""

from collections.abc import Iterator, Sequence

from atoll.records import dataclass
from atoll_sim.core_test.layout import PROBE, PROBE_SIZE, Part, stored_value


@dataclass(frozen=True, slots=True)
class Access:
    """A load or a store of `size` bytes; `value` is what a store writes."""

    address: int
    size: int
    value: int | None = None

    def __str__(self) -> str:
        what = "load" if self.value is None else f"store of {self.value:#x}"
        return f"{what}, {self.size} B at {self.address:#010x}"


def probe_accesses() -> Iterator[Access]:
    """Yield every access of the probe by `Part.LOADS_AND_STORES`, in order."""
    for size in (1, 2, 4):
        for address in range(PROBE, PROBE + PROBE_SIZE, size):
            yield Access(address, size, stored_value(address, size))
            yield from (Access(address, size), Access(address, size))


def results(part: Part, lines: Sequence[int]) -> Iterator[int]:
    """Yield what the program reports in a part that ends, `lines` being those it waits for."""
    if part is Part.LOADS_AND_STORES:
        for size in (1, 2, 4):
            for address in range(PROBE, PROBE + PROBE_SIZE, size):
                value = stored_value(address, size)
                sign = value >> (8 * size - 1)
                yield value
                yield (value - sign * 2 ** (8 * size)) % 2**32
    elif part is Part.INTERRUPTS:
        yield from (1 for _ in lines)
        yield from (0, 0)
    else:
        yield 0
