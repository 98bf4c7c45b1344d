# SPDX-License-Identifier: Apache-2.0
"""How long reef is busy with an operator, and what it moves for it."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import ceil, prod
from typing import NamedTuple

from atoll.ir.busy import Bound
from atoll.resolve.soc import Engine
from atoll.utils.remember import Alike, remember
from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES
from atoll_sim.engines.reef.channel_blocks import (
    Block,
    Moving,
    Places,
    block_of,
    computing_of,
    moving_cycles,
    moving_of,
    windows_of,
)
from atoll_sim.engines.reef.geometry import Geometry
from atoll_sim.engines.reef.loads import DRAIN_CYCLES, TAIL_CYCLES, Pixels, beside, read_cycles
from atoll_sim.engines.reef.packing import PARAMETER_BYTES
from atoll_sim.engines.reef.places import narrower

START_CYCLES, NEXT_CYCLES = 42, 30
"""Of the first command, and of each further one, beside its fetch."""


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


class _Sets(NamedTuple):
    """Sets of blocks of output channels that take the same.

    Attributes:
        number: of them.
        following: blocks of the set that comes next.
        first: of its command.
        members: by their places among the blocks that differ.
        computing: cycles of array and requantisers.
    """

    number: int
    following: int
    first: bool
    members: tuple[int, ...]
    computing: int


class _Outline(NamedTuple):
    """What an operator is to an instance, however fast its memories are.

    Attributes:
        blocks: those that differ.
        sets: likewise.
        firsts: the first block of each set, by its place among those that differ.
        written: all blocks, likewise.
        pixels: of an image.
        fill: cycles until the first window's pixels are there.
        tail: cycles at the end of a set in which nothing of the next one is read.
        weights: bytes of a block's weights, and `table` of its parameters.
        share: of weights that are read for each pixel; 0 if they are read once.
        ahead: constants are read while the set before is computed.
    """

    blocks: tuple[Block, ...]
    sets: tuple[_Sets, ...]
    firsts: tuple[int, ...]
    written: tuple[int, ...]
    pixels: int
    fill: int
    tail: int
    weights: int
    table: int
    share: float
    ahead: bool


def _outline_key(shape: Geometry, npu: Engine) -> Hashable:
    return shape, tuple(npu.params.items())


@remember(_outline_key, most=2048)
def _outline(shape: Geometry, npu: Engine) -> _Outline:
    params = npu.params
    lanes, channels, most = params["output_lanes"], shape.output[2], params["weight_rows"]
    widths = [min(lanes, channels - first) for first in range(0, channels, lanes)]
    weights = shape.block_bytes(npu)
    rows = -(-weights // (params["input_lanes"] * lanes))
    fits = 4 * rows <= most or (len(widths) <= 2 and 2 * rows <= most)
    size = 2 if fits and not shape.depthwise else 1
    distinct = tuple(dict.fromkeys(widths))
    blocks = tuple(block_of(shape, npu, width) for width in distinct)
    places = [distinct.index(width) for width in widths]
    groups = [tuple(places[first : first + size]) for first in range(0, len(places), size)]
    following, firsts = (*map(len, groups[1:]), 0), (True, *[False] * (len(groups) - 1))
    alike = Counter(zip(groups, following, firsts, strict=True)).items()
    filled, overlapping = rows * len(groups[0]), shape.stride[0] < shape.kernel[0]
    return _Outline(
        blocks=blocks,
        sets=tuple(
            _Sets(number, coming, first, members, computing_of([blocks[n] for n in members]))
            for (members, coming, first), number in alike
        ),
        firsts=tuple(members[0] for members in groups),
        written=tuple(places),
        pixels=prod(shape.output[:2]),
        fill=_fill_cycles(shape),
        tail=TAIL_CYCLES * (overlapping or not shape.lines),
        weights=weights,
        table=lanes * PARAMETER_BYTES,
        share=_inside_share(shape) if filled > most else 0.0,
        ahead=filled > most or 2 * filled <= most,
    )


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
    outline, port = _outline(shape, npu), npu.params["data_bytes"]
    loads, samples, count = _loads(outline, npu), shape.samples, outline.pixels
    again, blocks = max(samples, commands), len(outline.written)
    moving = [moving_of(block, port, places) for block in outline.blocks]
    repeated = samples * count if loads.each_pixel else again
    loading = blocks * (again * loads.once + repeated * loads.each_pixel)
    fetching = fetch_cycles(npu)
    cycles = START_CYCLES + fetching + (again - 1) * (NEXT_CYCLES + fetching)
    cycles += again * (outline.fill + len(outline.sets[0].members) * loads.once)
    for each in outline.sets:
        pixels = _pixels(each, outline, moving, npu, samples / again, depthwise=shape.depthwise)
        constants = each.following * loads.once
        if outline.ahead:
            taken = beside(pixels, constants, each.following * loads.beats, npu)
        else:
            drain = DRAIN_CYCLES * bool(each.following)
            taken = max(pixels.computing, pixels.moving) + constants + drain
        weights = samples * count * loads.each_pixel * len(each.members)
        cycles += each.number * (ceil(again * taken) + weights)
    reading, writing = ([each[part] for each in moving] for part in (0, 1))
    beats = [block.read_beats for block in outline.blocks]
    return Effort(
        cycles=cycles,
        parts={
            Bound.COMPUTE: samples * sum(each.number * each.computing for each in outline.sets),
            Bound.READ: ceil(samples * sum(map(reading.__getitem__, outline.firsts))),
            Bound.WRITE: ceil(samples * sum(map(writing.__getitem__, outline.written))),
            Bound.WEIGHTS: loading,
        },
        read_bytes=ceil(samples * sum(map(beats.__getitem__, outline.firsts))) * port,
        weight_bytes=ceil(blocks * repeated * outline.weights * (outline.share or 1.0)),
        parameter_bytes=again * blocks * npu.params["output_lanes"] * PARAMETER_BYTES,
    )


def _pixels(
    sets: _Sets,
    outline: _Outline,
    moving: Sequence[Moving],
    npu: Engine,
    share: float,
    *,
    depthwise: bool,
) -> Pixels:
    """Return what the pixels of a set take, of which a command computes a share."""
    members = [outline.blocks[number] for number in sets.members]
    moved, first = [moving[number] for number in sets.members], members[0]
    return Pixels(
        computing=share * sets.computing,
        moving=share * moving_cycles(moved, npu, together=first.together),
        read=share * first.read_beats,
        written=share * sum(block.write_beats for block in members),
        run=first.run,
        depthwise=depthwise,
        tail=outline.tail,
        first=sets.first,
    )


def start_cycles(npu: Engine) -> int:
    """Return what a command takes beside its sets."""
    return START_CYCLES + fetch_cycles(npu)


def fetch_cycles(npu: Engine) -> int:
    """Return the cycles until a command is there."""
    whole, part = narrower(npu.constants_width, npu).as_integer_ratio()
    return npu.constants_latency + -(-DESCRIPTOR_BYTES * part // whole)


class _Loads(NamedTuple):
    """Cycles of reading constants: once for each block of channels, and for each pixel of it.

    Attributes:
        beats: of the port, of what is read once.
    """

    once: int
    each_pixel: int
    beats: int


def _loads(outline: _Outline, npu: Engine) -> _Loads:
    """Return what constants take; of weights, none are read for taps outside of the image."""
    port, width = npu.params["data_bytes"], narrower(npu.constants_width, npu)
    parameters, filled = (
        read_cycles(size, width, npu) for size in (outline.table, outline.weights)
    )
    beats = -(-outline.table // port)
    if outline.share:
        return _Loads(parameters, ceil(filled * outline.share), beats)
    return _Loads(parameters + filled, 0, beats - (-outline.weights // port))


def _inside_share(shape: Geometry) -> float:
    """Return the share of the taps of all windows that lie inside the image."""
    taps = (sum(map(len, each)) for each in windows_of(shape))
    return prod(taps) / prod((*shape.output[:2], *shape.kernel))


def _fill_cycles(shape: Geometry) -> int:
    """Return the cycles until the first window's pixels are there."""
    if not shape.lines:
        return 0
    rows, columns = (max(0, k - 1 - pad) for k, pad in zip(shape.kernel, shape.pad, strict=True))
    return min(rows * shape.seen[1] + columns, prod(shape.seen))
