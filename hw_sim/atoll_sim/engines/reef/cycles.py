# SPDX-License-Identifier: Apache-2.0
"""How long reef is busy with an operator, and what it moves for it."""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from itertools import chain
from math import ceil, prod
from typing import NamedTuple

from atoll.ir.busy import Bound
from atoll.records import dataclass
from atoll.resolve.soc import Engine
from atoll.utils.remember import remember
from atoll_sim.engines.reef.channel_blocks import (
    Block,
    Work,
    blocks_of,
    computing_of,
    moving_of,
    windows_of,
    work_of,
)
from atoll_sim.engines.reef.geometry import Geometry
from atoll_sim.engines.reef.loads import (
    ARRIVAL_CYCLES,
    BURST_BEATS,
    DRAIN_CYCLES,
    QUEUE_BEATS,
    QUEUE_RUNS,
    TAIL_CYCLES,
    Constants,
    Pixels,
    beside,
)
from atoll_sim.engines.reef.packing import LINE_ROWS, PARAMETER_BYTES
from atoll_sim.engines.reef.places import Places, Port

START_CYCLES, NEXT_CYCLES = 42, 30
"""Of the first command, and of each further one, beside its fetch."""
DENSE_DELAY, TAPS_DELAY, LINES_DELAY = 11, 8, 14
"""From a beat's request until what is made of it asks to be written, of a memory that answers in a
cycle: of a convolution, single taps, and lines. The gap between two sets has made up for some of
that of taps."""
FLOWS_AT_HAND = 4096
"""Operators at places, of which a process keeps what does not depend on constants."""


class Effort(NamedTuple):
    """What an operator takes.

    Attributes:
        cycles: busy.
        parts: cycles that each part needs by itself.
        read_bytes: of the input, in whole beats, with all repetitions; the others likewise.
    """

    cycles: int
    parts: Mapping[Bound, int]
    read_bytes: int
    weight_bytes: int
    parameter_bytes: int


class _Flow(NamedTuple):
    """What an operator takes beside its constants.

    Attributes:
        pixels: of each of its sets that are alike.
        reading: cycles of the port for a sample.
        writing: likewise.
    """

    pixels: list[Pixels]
    reading: float
    writing: float


class _Set(NamedTuple):
    """Sets that are alike.

    Attributes:
        widths: output channels of each block.
        coming: blocks of the next set, 0 if there is none.
        first: of its command.
        number: how many there are.
        computing: cycles of array and requantisers.
        written: beats.
        beats: of the constants of the next set.
        bursts: that bring them; each run begins one.
    """

    widths: tuple[int, ...]
    coming: int
    first: bool
    number: int
    computing: int
    written: float
    beats: int
    bursts: int


@dataclass(frozen=True, eq=False)
class Sets:
    """The sets of an operator on an instance, however fast clocks and memories are."""

    shape: Geometry
    npu: Engine

    @cached_property
    def pixels(self) -> int:
        """Pixels of the output."""
        return prod(self.shape.output[:2])

    @cached_property
    def rows(self) -> int:
        """Rows of weights that a block fills."""
        lanes = self.npu.params["input_lanes"] * self.npu.params["output_lanes"]
        return -(-self.weight_bytes // lanes)

    @cached_property
    def weight_bytes(self) -> int:
        """Of a block."""
        return self.shape.block_bytes(self.npu)

    @cached_property
    def table_bytes(self) -> int:
        """Parameters of a block."""
        return self.npu.params["output_lanes"] * PARAMETER_BYTES

    @cached_property
    def fit(self) -> bool:
        """Whether the weights of a set fit on chip."""
        return self.rows * len(self.widths[0]) <= self.npu.params["weight_rows"]

    @cached_property
    def ahead(self) -> bool:
        """Whether constants are read while the set before is computed."""
        return not self.fit or 2 * self.rows * len(self.widths[0]) <= self.npu.params["weight_rows"]

    @cached_property
    def share(self) -> float:
        """The share of the weights that is read each time."""
        return 1.0 if self.fit else self.inside_share

    @cached_property
    def runs(self) -> tuple[int, ...]:
        """Beats of the port of each run of constants of a block that is read once."""
        sizes = (self.table_bytes, self.weight_bytes) if self.fit else (self.table_bytes,)
        return tuple(-(-size // self.npu.params["data_bytes"]) for size in sizes)

    @cached_property
    def delay(self) -> int:
        """Cycles from a beat's request until what is made of it asks to be written."""
        by_taps = TAPS_DELAY if self.shape.depthwise else DENSE_DELAY
        return LINES_DELAY if self.shape.lines else by_taps

    @cached_property
    def tail(self) -> int:
        """Cycles at the end of a set in which nothing of the next one is read."""
        shape = self.shape
        overlapping = shape.stride[0] < shape.kernel[0]
        return TAIL_CYCLES if shape.depthwise and (overlapping or not shape.lines) else 0

    @cached_property
    def widths(self) -> list[tuple[int, ...]]:
        """Output channels of each block of each set: one, or a pair."""
        lanes, channels = self.npu.params["output_lanes"], self.shape.output[2]
        widths = [min(lanes, channels - first) for first in range(0, channels, lanes)]
        rows, most = self.rows, self.npu.params["weight_rows"]
        fits = 4 * rows <= most or (len(widths) <= 2 and 2 * rows <= most)
        size = 2 if fits and not self.shape.depthwise else 1
        return [tuple(widths[first : first + size]) for first in range(0, len(widths), size)]

    @cached_property
    def works(self) -> Mapping[int, Work]:
        """Blocks by their output channels."""
        widths = {*chain(*self.widths)}
        return {width: work_of(self.shape, self.npu, width) for width in widths}

    @cached_property
    def alike(self) -> list[_Set]:
        """The sets, those together that are alike."""
        groups = self.widths
        following, firsts = (*map(len, groups[1:]), 0), (True, *[False] * (len(groups) - 1))
        found = []
        for each, number in Counter(zip(groups, following, firsts, strict=True)).items():
            works = [self.works[width] for width in each[0]]
            written = sum(work.write_beats for work in works)
            runs = [each[1] * run for run in self.runs]
            coming = each[1] * sum(self.runs), sum(-(-run // BURST_BEATS) for run in runs)
            found.append(_Set(*each, number, computing_of(works), written, *coming))
        return found

    @cached_property
    def blocks(self) -> int:
        """Of all sets."""
        return sum(map(len, self.widths))

    @cached_property
    def read_beats(self) -> float:
        """Of all sets."""
        return sum(self.works[widths[0]].read_beats for widths in self.widths)

    @cached_property
    def fill_cycles(self) -> int:
        """Cycles until the first window's pixels are there."""
        shape = self.shape
        if not shape.lines:
            return 0
        pairs = zip(shape.kernel, shape.pad, strict=True)
        rows, columns = (max(0, k - 1 - pad) for k, pad in pairs)
        return min(rows * shape.seen[1] + columns, prod(shape.seen))

    @cached_property
    def most_filled(self) -> int:
        """Pixels by lines that come before the first window's last one."""
        return min(self.fill_cycles, prod(self.shape.seen) - 1) if self.shape.lines else 0

    @cached_property
    def later_windows(self) -> int:
        """Windows, but by lines of the rows that only begin when all of the input is there."""
        shape = self.shape
        if not shape.lines:
            return self.pixels
        complete = -(-(shape.seen[0] - shape.kernel[0] + shape.pad[0]) // shape.stride[0])
        last = shape.output[1] * max(0, shape.output[0] - 1 - complete)
        return max(1, self.pixels - last)

    @cached_property
    def kept_pixels(self) -> int:
        """Pixels that are kept on chip beside the queue, as lines."""
        return LINE_ROWS * self.shape.seen[1] if self.shape.lines else 0

    @cached_property
    def inside_share(self) -> float:
        """The share of the weights that all windows read.

        It is that of rows inside the image, from the first tap to the last one inside.
        """
        shape = self.shape
        rows, columns = windows_of(shape)
        taps = sum(
            seen.stop - at * shape.stride[1] + shape.pad[1]
            for at, seen in enumerate(columns)
            if seen
        )
        return sum(map(len, rows)) * taps / prod((*shape.output[:2], *shape.kernel))


@remember(lambda shape, npu: (shape, *npu.params.items()), most=4096)
def sets_of(shape: Geometry, npu: Engine) -> Sets:
    """Return the sets of an operator: the same ones for the same lanes."""
    return Sets(shape, npu)


def effort_of(sets: Sets, commands: int, port: Port, places: Places) -> Effort:
    """Return as `_effort_of`, at hand for operators that are alike."""
    known, key = port.known, (sets, commands, places)
    if key not in known:
        known[key] = _effort_of(sets, commands, port, places)
    found: Effort = known[key]
    return found


def _effort_of(sets: Sets, commands: int, port: Port, places: Places) -> Effort:
    """Predict busy cycles from array steps and from the bytes that nothing hides.

    A set of blocks of output channels, see `reef_loader.sv`, takes no less than the array, and no
    less than the memory for the beats that it reads and writes one after the other. Parameters and
    weights of the next set are read meanwhile, where there is space for them, see `loads`.
    Otherwise each set reads its own first. Weights that do not fit on chip are read again for every
    pixel. Commands beside one for each sample read parameters and weights again.

    Args:
        sets: of the operator.
        commands: that it takes, 0 for one for each sample.
        port: that reads its constants.
        places: of the activations.
    """
    samples, blocks, count = sets.shape.samples, sets.blocks, sets.pixels
    once, each_pixel = _loading_cycles(sets, port)
    again, fetching = max(samples, commands), port.fetch_cycles
    flow, turns = _flow_of(sets, again, places), (port.turn(places.read), port.turn(places.written))
    repeated = samples * count if each_pixel else again
    loading = blocks * (again * once + repeated * each_pixel)
    cycles = START_CYCLES + fetching + (again - 1) * (NEXT_CYCLES + fetching)
    cycles += again * (sets.fill_cycles + len(sets.widths[0]) * once)
    computing = 0
    for each, pixels in zip(sets.alike, flow.pixels, strict=True):
        if each.coming and sets.ahead:
            coming = each.coming * once, each.beats, each.bursts, port.asking
            taken = beside(pixels, Constants(*coming, *turns))
        else:
            taken = pixels.working + (each.coming * once + DRAIN_CYCLES * bool(each.coming))
        weights = samples * count * each_pixel * len(each.widths)
        cycles += each.number * (ceil(again * taken) + weights)
        computing += each.number * each.computing
    return Effort(
        cycles=cycles,
        parts={
            Bound.COMPUTE: samples * computing,
            Bound.READ: ceil(samples * flow.reading),
            Bound.WRITE: ceil(samples * flow.writing),
            Bound.WEIGHTS: loading,
        },
        read_bytes=ceil(samples * sets.read_beats) * port.size,
        weight_bytes=ceil(blocks * repeated * sets.weight_bytes * sets.share),
        parameter_bytes=again * blocks * sets.table_bytes,
    )


def _ahead(sets: Sets, block: Block, places: Places) -> float:
    """Return the beats that a set reads before it writes elsewhere, if no other is under way."""
    if not places.change:
        return 0.0
    work, delay = block.work, sets.delay + places.later
    room = min(QUEUE_BEATS, QUEUE_RUNS * (work.run or 1)) + sets.kept_pixels * work.run
    beats = sets.most_filled * work.run + delay * work.read_beats / block.reading
    return min(room, beats)


@remember(lambda *given: given, most=FLOWS_AT_HAND)
def _flow_of(sets: Sets, again: int, places: Places) -> _Flow:
    """Return what an operator takes beside its constants, wherever these are."""
    known, share = blocks_of(sets.works, sets.pixels, places), sets.shape.samples / again
    return _Flow(
        pixels=[_pixels(known, each, sets, share, places) for each in sets.alike],
        reading=sum(known[widths[0]].reading for widths in sets.widths),
        writing=sum(known[width].writing for widths in sets.widths for width in widths),
    )


def _pixels(
    known: Mapping[int, Block], of: _Set, sets: Sets, share: float, places: Places
) -> Pixels:
    """Return what the pixels of a set take, of which a command computes a share."""
    members, written = [known[width] for width in of.widths], of.written
    block, alone = members[0], of.first or not (of.coming and sets.ahead)
    work, ahead = block.work, _ahead(sets, block, places) if alone else 0.0
    moving = moving_of(members, written, ahead, places)
    filled = sets.most_filled * work.run
    return Pixels(
        computing=share * of.computing,
        moving=share * moving.cycles,
        reading=share * moving.reading,
        read=share * work.read_beats,
        written=share * written,
        run=work.run or 1,
        pixels=share * sets.pixels,
        step=(work.read_beats - filled) / sets.later_windows,
        delay=sets.delay + places.later + filled * moving.reading / work.read_beats,
        arrival=ARRIVAL_CYCLES + places.later,
        kept=sets.kept_pixels * work.run,
        tail=sets.tail,
        first=of.first,
        alone=moving.alone,
        change=places.change,
    )


def _loading_cycles(sets: Sets, port: Port) -> tuple[int, int]:
    """Return the cycles of reading constants: once for each block, and for each pixel of it."""
    parameters, filled = port.read_cycles(sets.table_bytes), port.read_cycles(sets.weight_bytes)
    if sets.fit:
        return parameters + filled, 0
    return parameters, ceil(filled * sets.share)


def start_cycles(port: Port) -> int:
    """Return what a command takes beside its sets."""
    return START_CYCLES + port.fetch_cycles
