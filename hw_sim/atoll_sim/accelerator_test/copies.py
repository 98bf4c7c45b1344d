# SPDX-License-Identifier: Apache-2.0
"""Copies of a DMA engine alone: all lengths and alignments, borders of pages and memories."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Protocol

from atoll.ir.graph import Graph, Operator, Quantization, Tensor
from atoll.ops.registry import COPY
from atoll.place.capabilities import limit_obstacles
from atoll.records import dataclass
from atoll.resolve.engine_parts import emitter_of
from atoll.resolve.soc import Dma, Region, ResolvedSoc
from atoll_sim.chip.plan import beat_bytes
from atoll_sim.engines.interface import Outcome
from atoll_sim.host.memory import HostMemory
from atoll_sim.protocol.records import AccessKind
from atoll_sim.trace.simulation import Touched

LENGTHS = (
    *(1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129),
    *(255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 8192, 12288),
)
PAGE = 4096
ALIGNED = 16
"""Buffers begin at multiples of it; what lies in a part of one may begin anywhere."""

GUARD = 64
"""Bytes before and behind a destination that must stay."""


@dataclass(frozen=True, slots=True)
class Copy:
    """What is copied, as addresses on the bus."""

    source: int
    destination: int
    size: int

    def __str__(self) -> str:
        return f"{self.size} B from {self.source:#010x} to {self.destination:#010x}"


class Runner(Protocol):
    """Who plays the engine."""

    def run(self, npu: Dma, address: int, count: int) -> Outcome:
        """Run commands."""
        ...

    def take_touched(self) -> tuple[Touched, ...]:
        """Return what it touched since the last call."""
        ...


def draw_copies(soc: ResolvedSoc, dma: Dma, random: Random, *, aligned: bool) -> tuple[Copy, ...]:
    """Return a copy of each length, between memories in turn; those beyond a limit are left out.

    Args:
        soc: the chip.
        dma: the engine.
        random: decides where they lie.
        aligned: at multiples of `ALIGNED`; otherwise anywhere.
    """
    regions = {pool.region.memory: pool.region for pool in soc.pools}
    drawn = []
    for number, size in enumerate(LENGTHS):
        if any(limit_obstacles(*_operator(size), dma)):
            continue
        source, target = dma.moves[number % len(dma.moves)]
        places = [
            _place(regions[memory], size, random, number + turn, aligned=aligned)
            for turn, memory in enumerate((source, target))
        ]
        drawn.append(Copy(places[0], places[1], size))
    return tuple(drawn)


def _place(region: Region, size: int, random: Random, number: int, *, aligned: bool) -> int:
    """Return an address: at the begin of a region, at its end, over the end of a page, anywhere."""
    first, last = region.origin, region.origin + region.size - size
    pages = range(-(-first // PAGE) * PAGE + PAGE, last, PAGE)
    match number % 4:
        case 0:
            at = first + GUARD + random.randrange(ALIGNED)
        case 1:
            at = last
        case 2 if pages:
            at = random.choice(pages) - random.randrange(1, size + 1)
        case _:
            at = random.randrange(first, last + 1)
    return max(first, at // ALIGNED * ALIGNED) if aligned else min(max(at, first), last)


def try_copies(
    copies: Sequence[Copy],
    soc: ResolvedSoc,
    dma: Dma,
    runner: Runner,
    memory: HostMemory,
    random: Random,
) -> Iterator[str]:
    """Have an engine make copies one after the other, and yield what is wrong with each."""
    commands = next(pool.region for pool in soc.pools if pool.region.memory == "flash")
    at = commands.origin
    for copy in copies:
        data = _commands(copy, dma)
        source = random.randbytes(copy.size)
        region = next(p.region for p in soc.pools if _holds(p.region, copy.destination))
        low = max(region.origin, copy.destination - GUARD)
        high = min(region.origin + region.size, copy.destination + copy.size + GUARD)
        before = random.randbytes(high - low)
        memory.write(low, before)
        memory.write(copy.source, source)
        place = at if not _meets(copy.source, copy.size, at, len(data)) else at + 2**15
        memory.write(place, data)
        runner.take_touched()
        outcome = runner.run(dma, place, max(1, len(data) // 64))
        if outcome.error:
            ended = f"ends with error {outcome.error} at {outcome.fault_address:#010x}"
            yield f"device {dma.name}, {copy}: {ended} (A12)"
            continue
        begin = copy.destination - low
        right = before[:begin] + source + before[begin + copy.size :]
        got = memory.read(low, high - low)
        if got != right:
            wrong = next(
                n for n, pair in enumerate(zip(got, right, strict=True)) if len({*pair}) > 1
            )
            what = "of the result" if begin <= wrong < begin + copy.size else "outside the result"
            yield (
                f"device {dma.name}, {copy}: byte {wrong - begin} {what} is {got[wrong]:#04x}, not"
                f" {right[wrong]:#04x} (A12)"
            )
        yield from _strays(copy, range(place, place + len(data)), dma, runner.take_touched())


def _strays(copy: Copy, commands: range, dma: Dma, touched: Sequence[Touched]) -> Iterator[str]:
    """Yield accesses that the copy does not need: whole beats are read, bytes are written."""
    beat = max(beat_bytes(dma), 1)
    sources = [range(copy.source, copy.source + copy.size), commands]
    reads = [range(s.start // beat * beat, -(-s.stop // beat) * beat) for s in sources]
    writes = [range(copy.destination, copy.destination + copy.size)]
    for each in touched:
        if each.master != dma.name:
            continue
        allowed = writes if each.kind is AccessKind.WRITE else reads
        for span in each.spans:
            if not any(a.start <= span.start and span.stop <= a.stop for a in allowed):
                verb = "writes" if each.kind is AccessKind.WRITE else "reads"
                where = f"{span.start:#010x} to {span.stop - 1:#010x}"
                yield f"device {dma.name}, {copy}: it {verb} {where} (A12)"


def _commands(copy: Copy, dma: Dma) -> bytes:
    op, graph = _operator(copy.size)
    places = {"x": copy.source, "y": copy.destination}
    found: bytes = emitter_of(dma).call("encode", op, graph, dma, places.__getitem__, 1)
    return found


def _operator(size: int) -> tuple[Operator, Graph]:
    quantization = Quantization(scales=(1.0,), zero_points=(0,))
    tensors = tuple(
        Tensor(name=name, shape=(size,), dtype="int8", quantization=quantization) for name in "xy"
    )
    op = Operator(name="copy", kind=COPY, inputs=("x",), outputs=("y",), attributes={})
    return op, Graph("copy", tensors, (op,), ("x",), ("y",))


def _holds(region: Region, address: int) -> bool:
    return region.origin <= address < region.origin + region.size


def _meets(begin: int, size: int, other: int, other_size: int) -> bool:
    return begin < other + other_size and other < begin + size
