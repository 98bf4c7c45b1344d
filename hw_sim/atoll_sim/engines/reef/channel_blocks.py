# SPDX-License-Identifier: Apache-2.0
"""What one block of output channels takes of reef's array and of its port."""

from collections.abc import Mapping
from math import ceil, gcd, prod
from typing import NamedTuple

from atoll.resolve.soc import Engine
from atoll.utils.remember import remember
from atoll_sim.engines.reef.geometry import Geometry
from atoll_sim.engines.reef.packing import LINE_ROWS
from atoll_sim.engines.reef.places import BEATS_UNDER_WAY, Places
from atoll_sim.engines.reef.runs import Run, average, beginnings, inside


class Work(NamedTuple):
    """What one block of output channels is, however fast clocks and memories are.

    Attributes:
        steps: cycles of the array that each block of a set takes.
        feeding: cycles in which steps come, once for a set.
        joined: steps are queued, so that the array need not wait for one.
        scaling: cycles of the requantisers.
        read_beats: of the port.
        write_beats: likewise.
        run: beats that are read in a row.
        width: output channels.
        step: bytes from one channel to another at which a block may begin.
    """

    steps: float
    feeding: float
    joined: bool
    scaling: int
    read_beats: float
    write_beats: float
    run: float
    width: int
    step: int


class Block(NamedTuple):
    """What a block takes of the memories.

    Attributes:
        reading: cycles, once for a set.
        writing: likewise.
    """

    work: Work
    reading: float
    writing: float


class Moving(NamedTuple):
    """What a set takes of the port.

    Attributes:
        reading: cycles.
        cycles: of all.
        alone: beats that are written one after the other, with none between them that is read.
    """

    reading: float
    cycles: float
    alone: float


def computing_of(members: list[Work]) -> int:
    """Return the cycles of array and requantisers for a set."""
    steps, first = sum(block.steps for block in members), members[0]
    waiting = 0 if first.joined else first.feeding - first.steps
    array = ceil(max(steps + waiting, first.feeding))
    return max(array, sum(block.scaling for block in members))


def moving_of(members: list[Block], written: float, ahead: float, places: Places) -> Moving:
    """Return what a set takes of the port; a memory that is known reads or writes at a time.

    Reads and writes take turns beat by beat as long as both ask, so in two memories the port
    changes for each beat of those that are fewer. Pixels wait on chip, hence reads always ask, but
    the first ones come before anything is written.

    Args:
        members: blocks of the set.
        written: their beats.
        ahead: beats that are read before any is written.
        places: of the activations.
    """
    reading, read, writing = members[0].reading, members[0].work.read_beats, 0.0
    for each in members:
        writing += each.writing
    if not places.takes_turns:
        return Moving(reading, max(reading, writing), 0.0)
    answered = places.written.waiting(writing / written)
    if not places.change:
        waiting = places.waiting * read + answered * written
        return Moving(reading, max(reading + writing, waiting), 0.0)
    changes = min(max(0.0, read - ahead), written)
    single, under_way = places.reading_alone * read, BEATS_UNDER_WAY * changes
    reading = single + max(0.0, 1 - under_way / read) * (reading - single)
    writing += max(0.0, written - under_way) * max(0.0, answered - writing / written)
    return Moving(reading, reading + writing + places.change * changes, written - changes)


def blocks_of(works: Mapping[int, Work], pixels: int, places: Places) -> Mapping[int, Block]:
    """Return what blocks of so many pixels take of the memories."""
    reading, written, port = places.reading, places.written, places.size
    return {
        width: Block(
            work,
            work.read_beats * reading,
            pixels * written.writing_run(work.width, work.step, work.write_beats / pixels, port),
        )
        for width, work in works.items()
    }


def work_of(shape: Geometry, npu: Engine, width: int) -> Work:
    """Return what a block of `width` output channels is."""
    params = npu.params
    pixels, scalers = prod(shape.output[:2]), min(params["requantisers"], params["output_lanes"])
    steps, feeding, read, run = (
        _pointwise(shape, npu, width)
        if shape.depthwise
        else _dense(shape, params["data_bytes"], params["input_lanes"])
    )
    written = _channels(width, shape.output[2], npu)
    return Work(
        steps=steps,
        feeding=feeding,
        joined=shape.joined,
        scaling=pixels * -(-width // scalers),
        read_beats=read,
        write_beats=pixels * written.beats,
        run=run,
        width=width,
        step=gcd(shape.output[2], params["output_lanes"]),
    )


def _pointwise(shape: Geometry, npu: Engine, width: int) -> tuple[float, float, float, float]:
    """Return steps, likewise, and beats read, where each output channel has one of the input."""
    beats = _channels(width, shape.input[2], npu).beats
    if shape.lines:
        columns = npu.params["input_lanes"] // LINE_ROWS
        steps = prod(shape.output[:2]) * -(-shape.kernel[1] // columns)
        return steps, steps, prod(shape.seen) * beats, beats
    rows, columns = (sum(map(len, each)) for each in windows_of(shape))
    return rows * columns, rows * columns, rows * columns * beats, 0


@remember(lambda *given: given, most=4096)
def _dense(shape: Geometry, beat: int, lanes: int) -> tuple[float, float, float, float]:
    """Return steps of a block, cycles in which they come, and beats that are read for them."""
    depth = shape.input[2]
    rows, columns = windows_of(shape)
    runs = [
        average(
            len(seen) * depth, beginnings(shape.input[1] * depth, beat, seen.start * depth), lanes
        )
        for seen in columns
        if seen
    ]
    count = sum(map(len, rows))
    feeding, beats = (count * sum(each[at] for each in runs) for at in (1, 0))
    run = beats / (count * len(runs))
    sizes = [len(seen) * depth for seen in columns]
    if shape.joined:
        return (
            sum(-(-len(seen) * size // lanes) for seen in rows for size in sizes),
            feeding,
            beats,
            run,
        )
    return count * sum(-(-size // lanes) for size in sizes), feeding, beats, run


def windows_of(shape: Geometry) -> tuple[list[range], list[range]]:
    """Return what each row and column of windows has inside of the image; no more is read."""
    rows, columns = (
        inside(*each)
        for each in zip(
            shape.output[:2], shape.kernel, shape.stride, shape.pad, shape.input[:2], strict=True
        )
    )
    return rows, columns


def _channels(width: int, channels: int, npu: Engine) -> Run:
    """Return what `width` of the channels of any pixel take."""
    lanes, beat = npu.params["output_lanes"], npu.params["data_bytes"]
    return average(width, beginnings(gcd(channels, lanes), beat), lanes)
