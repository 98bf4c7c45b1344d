# SPDX-License-Identifier: Apache-2.0
"""How long reef is busy with an operator, and what it moves for it."""

from collections import Counter
from collections.abc import Mapping
from itertools import chain
from math import ceil, prod
from typing import NamedTuple

from atoll.ir.busy import Bound
from atoll.resolve.soc import Engine
from atoll.utils.remember import Alike, remember
from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES
from atoll_sim.engines.reef.channel_blocks import (
    Block,
    Places,
    block_of,
    changing_of,
    computing_of,
    moving_of,
    windows_of,
)
from atoll_sim.engines.reef.geometry import Geometry
from atoll_sim.engines.reef.loads import (
    ARRIVAL_CYCLES,
    BURST_BEATS,
    DRAIN_CYCLES,
    TAIL_CYCLES,
    Constants,
    Pixels,
    beside,
    read_cycles,
)
from atoll_sim.engines.reef.packing import LINE_ROWS, PARAMETER_BYTES
from atoll_sim.engines.reef.places import narrower

START_CYCLES, NEXT_CYCLES = 42, 30
"""Of the first command, and of each further one, beside its fetch."""
DENSE_DELAY, TAPS_DELAY, LINES_DELAY = 11, 8, 14
"""From a beat's request until what is made of it asks to be written, of a memory that answers in a
cycle: of a convolution, single taps, and lines. The gap between two sets has made up for some of
that of taps."""


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


def _instance(shape: Geometry, npu: Engine, commands: int, places: Places) -> Alike:
    """Return all that the effort of an operator depends on; fractions take long to hash."""
    reads = npu.constants_width, npu.constants_latency, npu.constants_wait, npu.workspace_width
    sign = shape, commands, npu.constants_latency, npu.bus_cycles.as_integer_ratio()
    return Alike(sign, dict(npu.params), reads, places)


@remember(_instance, most=4096)
def effort_of(shape: Geometry, npu: Engine, commands: int, places: Places) -> Effort:
    """Predict busy cycles from array steps and from the bytes that nothing hides.

    A set of blocks of output channels, see `reef_loader.sv`, takes no less than the array, and no
    less than the memory for the beats that it reads and writes one after the other. Parameters and
    weights of the next set are read meanwhile, where there is space for them, see `loads`.
    Otherwise each set reads its own first. Weights that do not fit on chip are read again for every
    pixel. Commands beside one for each sample read parameters and weights again.

    Args:
        shape: the operator.
        npu: the instance.
        commands: that it takes, 0 for one for each sample.
        places: of the activations.
    """
    groups = _sets(shape, npu)
    loads = _loads(shape, npu, len(groups[0]))
    samples, port = shape.samples, npu.params["data_bytes"]
    again, count = max(samples, commands), prod(shape.output[:2])
    known = {width: block_of(shape, npu, width, places) for width in {*chain(*groups)}}
    sets = [[known[width] for width in widths] for widths in groups]
    blocks = sum(map(len, sets))
    repeated = samples * count if loads.each_pixel else again
    loading = blocks * (again * loads.once + repeated * loads.each_pixel)
    cycles = start_cycles(npu) + (again - 1) * (NEXT_CYCLES + fetch_cycles(npu))
    cycles += again * (_fill_cycles(shape) + len(sets[0]) * loads.once)
    following, firsts = (*map(len, groups[1:]), 0), (True, *[False] * (len(groups) - 1))
    alike, computing = Counter(zip(groups, following, firsts, strict=True)), 0
    for (widths, coming, first), number in alike.items():
        members = [known[width] for width in widths]
        if coming and loads.ahead:
            pixels = _pixels(members, shape, npu, samples / again, places, first=first)
            taken = beside(pixels, _constants(loads, coming))
        else:
            taken = samples / again * max(computing_of(members), moving_of(members, npu))
            taken += coming * loads.once + DRAIN_CYCLES * bool(coming)
        weights = samples * count * loads.each_pixel * len(members)
        cycles += number * (ceil(again * taken) + weights)
        computing += number * computing_of(members)
    return Effort(
        cycles=cycles,
        parts={
            Bound.COMPUTE: samples * computing,
            Bound.READ: ceil(samples * sum(members[0].reading for members in sets)),
            Bound.WRITE: ceil(samples * sum(each.writing for members in sets for each in members)),
            Bound.WEIGHTS: loading,
        },
        read_bytes=ceil(samples * sum(members[0].read_beats for members in sets)) * port,
        weight_bytes=ceil(blocks * repeated * shape.block_bytes(npu) * loads.share),
        parameter_bytes=again * blocks * npu.params["output_lanes"] * PARAMETER_BYTES,
    )


def _pixels(
    members: list[Block],
    shape: Geometry,
    npu: Engine,
    share: float,
    places: Places,
    *,
    first: bool,
) -> Pixels:
    """Return what the pixels of a set take, of which a command computes a share."""
    overlapping = shape.stride[0] < shape.kernel[0]
    count, block = prod(shape.output[:2]), members[0]
    written = sum(each.write_beats for each in members)
    later = max(0, places.read.latency - 1) + float(places.read.crossing)
    delay = LINES_DELAY if shape.lines else TAPS_DELAY if shape.depthwise else DENSE_DELAY
    turn = aside = 0.0
    if npu.constants_wait:
        turn = npu.constants_latency + max(1, places.read.latency)
        aside = (
            npu.constants_latency + max(1, places.written.latency) - changing_of(members) / written
        )
    step, filled = block.read_beats / count, 0.0
    if shape.lines:
        filled = min(_fill_cycles(shape), prod(shape.seen) - 1) * block.run
        step = (block.read_beats - filled) / max(1, count - _last_windows(shape))
    return Pixels(
        computing=share * computing_of(members),
        moving=share * moving_of(members, npu),
        reading=share * block.reading,
        read=share * block.read_beats,
        written=share * written,
        run=block.run or 1,
        pixels=share * count,
        step=step,
        delay=delay + later + filled * block.reading / block.read_beats,
        arrival=ARRIVAL_CYCLES + later,
        kept=LINE_ROWS * shape.seen[1] * block.run if shape.lines else 0,
        tail=TAIL_CYCLES * (shape.depthwise and (overlapping or not shape.lines)),
        first=first,
        turn=turn,
        aside=max(0.0, aside),
    )


def _last_windows(shape: Geometry) -> int:
    """Return the windows, by lines, of the rows that only begin when all of the input is there."""
    complete = -(-(shape.seen[0] - shape.kernel[0] + shape.pad[0]) // shape.stride[0])
    return shape.output[1] * max(0, shape.output[0] - 1 - complete)


def _constants(loads: "_Loads", blocks: int) -> Constants:
    """Return what the constants of a set of so many blocks take; each run begins a burst."""
    return Constants(
        cycles=blocks * loads.once,
        beats=blocks * sum(loads.runs),
        bursts=sum(-(-blocks * run // BURST_BEATS) for run in loads.runs),
        asking=loads.asking,
    )


def start_cycles(npu: Engine) -> int:
    """Return what a command takes beside its sets."""
    return START_CYCLES + fetch_cycles(npu)


def fetch_cycles(npu: Engine) -> int:
    """Return the cycles until a command is there."""
    return npu.constants_latency + -(-DESCRIPTOR_BYTES // narrower(npu.constants_width, npu))


def _widths(shape: Geometry, npu: Engine) -> list[int]:
    """Return the output channels of each block."""
    lanes, channels = npu.params["output_lanes"], shape.output[2]
    return [min(lanes, channels - first) for first in range(0, channels, lanes)]


def _sets(shape: Geometry, npu: Engine) -> list[tuple[int, ...]]:
    """Return the output channels of each block of each set: one, or a pair."""
    widths, rows = _widths(shape, npu), _rows(shape, npu)
    most = npu.params["weight_rows"]
    fits = 4 * rows <= most or (len(widths) <= 2 and 2 * rows <= most)
    size = 2 if fits and not shape.depthwise else 1
    return [tuple(widths[first : first + size]) for first in range(0, len(widths), size)]


def _rows(shape: Geometry, npu: Engine) -> int:
    """Return the rows of weights that a block fills."""
    return -(-shape.block_bytes(npu) // (npu.params["input_lanes"] * npu.params["output_lanes"]))


class _Loads(NamedTuple):
    """Cycles of reading constants: once for each block of channels, and for each pixel of it.

    Attributes:
        runs: beats of the port of each run that is read once.
        asking: cycles in which the port asks for a beat.
        ahead: while the set before is computed.
        share: of the weights that are read each time.
    """

    once: int
    each_pixel: int
    runs: tuple[int, ...]
    asking: float
    ahead: bool
    share: float = 1.0


def _loads(shape: Geometry, npu: Engine, blocks: int) -> _Loads:
    """Return what the constants take, where a set has so many blocks."""
    params, port = npu.params, npu.params["data_bytes"]
    lanes = params["output_lanes"]
    weights, table = shape.block_bytes(npu), lanes * PARAMETER_BYTES
    rows, most = _rows(shape, npu) * blocks, params["weight_rows"]
    width = narrower(npu.constants_width, npu)
    asking = float(port / width)
    parameters, filled = (read_cycles(size, width, npu) for size in (table, weights))
    if rows > most:
        share = _inside_share(shape)
        return _Loads(parameters, ceil(filled * share), (-(-table // port),), asking, True, share)
    runs = -(-table // port), -(-weights // port)
    return _Loads(parameters + filled, 0, runs, asking, 2 * rows <= most)


def _inside_share(shape: Geometry) -> float:
    """Return the share of the weights that all windows read.

    It is that of rows inside the image, from the first tap to the last one inside.
    """
    rows, columns = windows_of(shape)
    taps = sum(
        seen.stop - at * shape.stride[1] + shape.pad[1] for at, seen in enumerate(columns) if seen
    )
    return sum(map(len, rows)) * taps / prod((*shape.output[:2], *shape.kernel))


def _fill_cycles(shape: Geometry) -> int:
    """Return the cycles until the first window's pixels are there."""
    if not shape.lines:
        return 0
    rows, columns = (max(0, k - 1 - pad) for k, pad in zip(shape.kernel, shape.pad, strict=True))
    return min(rows * shape.seen[1] + columns, prod(shape.seen))
