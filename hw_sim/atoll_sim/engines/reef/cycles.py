"""How long reef is busy with an operator, and what it moves for it."""

from collections.abc import Mapping
from math import ceil, gcd, prod
from typing import NamedTuple

from atoll.ir.busy import Bound
from atoll.resolve.soc import Engine
from atoll_sim.engines.reef.geometry import Geometry
from atoll_sim.engines.reef.packing import LINE_ROWS, PARAMETER_BYTES
from atoll_sim.engines.reef.runs import Run, average, beginnings, inside

START_CYCLES = 60
CHANGE_CYCLES = 2
"""Of the port, for each pixel that is written to another memory than its input is in."""
PARTED_CYCLES = 2
"""Of the port, for each run of several beats that is written, where a pixel is read in one."""
READ_AHEAD, UNDER_WAY = 8, 3
"""Beats that are read ahead of the array, and pixels between the array and the memory."""


class Places(NamedTuple):
    """Where the activations of an operator are.

    Attributes:
        read: bytes per cycle from the memory of its input, 0 where nobody knows yet.
        written: likewise of its output.
        apart: these are two memories.
    """

    read: int = 0
    written: int = 0
    apart: bool = False


UNKNOWN = Places()


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


def effort_of(shape: Geometry, npu: Engine, commands: int = 0, places: Places = UNKNOWN) -> Effort:
    """Predict busy cycles from array steps and from the bytes that nothing hides.

    Each block of output channels first reads its parameters and, if they fit on chip, its weights;
    otherwise every pixel reads them again. From the second block on, each pixel that is written
    while they are read has the port change between two memories. A pixel takes one array step for
    each kernel row and chunk of input lanes (depthwise: each tap), and no less than the memory
    takes for the beats that it reads and writes one after the other, and a cycle for as many
    channels as there are requantisers.
    Commands beside one for each sample read parameters and weights again.

    Args:
        shape: the operator.
        npu: the instance.
        commands: that it takes, 0 for one for each sample.
        places: of the activations.
    """
    lanes, channels = npu.params["output_lanes"], shape.output[2]
    widths = [min(lanes, channels - first) for first in range(0, channels, lanes)]
    known = {width: _block(shape, npu, width, places) for width in {*widths}}
    blocks = [known[width] for width in widths]
    loads = _loads(shape, npu)
    again, pixels = max(shape.samples, commands), prod(shape.output[:2])
    repeated = shape.samples * pixels if loads.each_pixel else again
    loading = len(blocks) * (again * loads.once + repeated * loads.each_pixel)
    changes = npu.constants_wait * _changes(shape, npu, loads, blocks[0])
    computing = sum(
        max(block.computing, ceil(block.moving + (changes if number else 0)))
        for number, block in enumerate(blocks)
    )
    samples = shape.samples
    port = npu.params["data_bytes"]
    return Effort(
        cycles=again * (START_CYCLES + _filling(shape)) + loading + samples * computing,
        parts={
            Bound.COMPUTE: samples * sum(block.computing for block in blocks),
            Bound.READ: ceil(samples * sum(block.reading for block in blocks)),
            Bound.WRITE: ceil(samples * sum(block.writing for block in blocks)),
            Bound.WEIGHTS: loading,
        },
        read_bytes=ceil(samples * sum(block.read_beats for block in blocks)) * port,
        weight_bytes=len(blocks) * repeated * shape.block_bytes(npu),
        parameter_bytes=again * len(blocks) * lanes * PARAMETER_BYTES,
    )


class _Loads(NamedTuple):
    """Cycles of reading constants: once for each block of channels, and for each pixel of it.

    Attributes:
        beats: of the port, of what is read once.
    """

    once: int
    each_pixel: int
    beats: int


def _loads(shape: Geometry, npu: Engine) -> _Loads:
    params, port = npu.params, npu.params["data_bytes"]
    lanes, width = params["output_lanes"], _narrower(npu.constants_width, npu)
    weights, table = shape.block_bytes(npu), lanes * PARAMETER_BYTES
    resident = weights <= params["weight_rows"] * params["input_lanes"] * lanes
    parameters, reading = -(-table // width), -(-weights // width)
    if resident:
        return _Loads(parameters + reading, 0, -(-table // port) - (-weights // port))
    return _Loads(parameters, reading, -(-table // port))


class _Block(NamedTuple):
    """What one block of output channels takes.

    Attributes:
        computing: cycles of the array, or of the requantisers.
        reading: cycles of the memory.
        writing: likewise.
        changing: cycles of changes between the memories of input and output.
        read_beats: of the port.
    """

    computing: int
    reading: float
    writing: float
    changing: int
    read_beats: float

    @property
    def moving(self) -> float:
        """Cycles of the memory, which does one of both at a time."""
        return self.reading + self.writing + self.changing


def _block(shape: Geometry, npu: Engine, width: int, places: Places) -> _Block:
    """Return what a block of `width` output channels takes."""
    params, port = npu.params, npu.params["data_bytes"]
    read_width, written_width = (
        _narrower(each or npu.workspace_width, npu) for each in (places.read, places.written)
    )
    pixels, scalers = prod(shape.output[:2]), min(params["requantisers"], params["output_lanes"])
    steps, read = _pointwise(shape, npu, width) if shape.depthwise else _dense(shape, npu)
    written = _channels(width, shape.output[2], npu)
    beat = -(-min(port, width) // written_width)
    parted = written.parted * PARTED_CYCLES if read <= pixels else 0
    return _Block(
        computing=max(ceil(steps), pixels * -(-width // scalers)),
        reading=read * -(-port // read_width),
        writing=pixels * (written.beats * beat + parted),
        changing=CHANGE_CYCLES * pixels if places.apart else 0,
        read_beats=read,
    )


def _pointwise(shape: Geometry, npu: Engine, width: int) -> tuple[float, float]:
    """Return steps, and beats that are read, where each output channel has one of the input."""
    beats = _channels(width, shape.input[2], npu).beats
    if shape.lines:
        columns = npu.params["input_lanes"] // LINE_ROWS
        steps = prod(shape.output[:2]) * -(-shape.kernel[1] // columns)
        return steps, prod(shape.seen) * beats
    rows, columns = (sum(map(len, each)) for each in _inside(shape))
    return rows * columns, rows * columns * beats


def _dense(shape: Geometry, npu: Engine) -> tuple[float, float]:
    """Return steps, and beats that are read, where each output channel has all of the input."""
    beat, lanes, depth = npu.params["data_bytes"], npu.params["input_lanes"], shape.input[2]
    rows, columns = _inside(shape)
    runs = [
        average(
            len(seen) * depth, beginnings(shape.input[1] * depth, beat, seen.start * depth), lanes
        )
        for seen in columns
        if seen
    ]
    count = sum(map(len, rows))
    return count * sum(each.steps for each in runs), count * sum(each.beats for each in runs)


def _inside(shape: Geometry) -> tuple[list[range], list[range]]:
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


def _filling(shape: Geometry) -> int:
    """Return the cycles until the first window's pixels are there."""
    if not shape.lines:
        return 0
    rows, columns = (max(0, k - 1 - pad) for k, pad in zip(shape.kernel, shape.pad, strict=True))
    return min(rows * shape.seen[1] + columns, prod(shape.seen))


def _changes(shape: Geometry, npu: Engine, loads: _Loads, block: _Block) -> int:
    """Return how often the next block's constants are interrupted by a pixel that is written.

    Those are written meanwhile of which all has been read. By lines, two rows more are still to be
    computed when the last pixel of a block has been read, unless windows go on by several rows. No
    more are written than the array makes meanwhile.
    """
    pixels, rows = prod(shape.output[:2]), 0
    if shape.lines and shape.stride[0] == 1:
        rows = 2 * shape.output[1]
    ahead = UNDER_WAY + int(READ_AHEAD * pixels / block.read_beats)
    made = (loads.once + 2 * npu.constants_wait) * pixels // block.computing
    return min(loads.beats, pixels + 1, rows + ahead, made + 1)


def _narrower(memory: int, npu: Engine) -> int:
    port = npu.params["data_bytes"]
    return min(port, memory or port)
