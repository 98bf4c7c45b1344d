"""How long reef is busy with an operator, and what it moves for it."""

from collections.abc import Mapping
from math import ceil, gcd, prod
from typing import NamedTuple

from atoll.ir.busy import Bound
from atoll.resolve.soc import Engine
from atoll_sim.engines.reef.geometry import Geometry
from atoll_sim.engines.reef.packing import LINE_ROWS, PARAMETER_BYTES
from atoll_sim.engines.reef.runs import Run, average, beginnings, inside

START_CYCLES, NEXT_CYCLES = 60, 40
"""Of the first command, and of each further one."""
CHANGE_CYCLES = 2
"""Of the port, for each pixel that is written to another memory than its input is in."""
BURST_BEATS, DRAIN_CYCLES = 16, 40
"""Beats of a burst of constants; from the last pixel's steps until its set has left."""
BEATS_UNDER_WAY, TURN_CYCLES = 8, 3
"""Beats that a port asks for before the first is there; what it takes longer than memory waits."""
SET_CYCLES = 8
"""From the last constants of a set to the first of the next but one, beside its steps."""


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

    A set of blocks of output channels, see `reef_loader.sv`, takes no less than the array, and no
    less than the memory for the beats that it reads and writes one after the other. Parameters and
    weights of the next set are read meanwhile, where there is space for them: they cost what the
    memory has no time for. Where they lie in another memory than activations, the port changes
    between both for each burst of them. Otherwise each set reads its own first. Weights that do not
    fit on chip are read again for every pixel. Commands beside one for each sample read parameters
    and weights again.

    Args:
        shape: the operator.
        npu: the instance.
        commands: that it takes, 0 for one for each sample.
        places: of the activations.
    """
    loads, samples, port = _loads(shape, npu), shape.samples, npu.params["data_bytes"]
    again, pixels = max(samples, commands), prod(shape.output[:2])
    known = {width: _block(shape, npu, width, places) for width in {*_widths(shape, npu)}}
    sets = [[known[width] for width in widths] for widths in _sets(shape, npu)]
    blocks = sum(map(len, sets))
    repeated = samples * pixels if loads.each_pixel else again
    loading = blocks * (again * loads.once + repeated * loads.each_pixel)
    cycles = START_CYCLES + (again - 1) * NEXT_CYCLES
    cycles += again * (_filling(shape) + len(sets[0]) * loads.once)
    following = [*map(len, sets[1:]), 0]
    for members, coming in zip(sets, following, strict=True):
        computing, moving = _computing(members), _moving(members, npu)
        if loads.ahead:
            changes = 2 * _bursts(shape, min(coming * loads.beats, moving))
            load = again * (coming * loads.once + npu.constants_wait * changes)
            load += again * SET_CYCLES * bool(coming)
            cycles += max(samples * computing, ceil(samples * moving) + load)
        else:
            cycles += samples * max(computing, ceil(moving))
            cycles += again * (coming * loads.once + DRAIN_CYCLES * bool(coming))
        cycles += samples * pixels * loads.each_pixel * len(members)
    return Effort(
        cycles=cycles,
        parts={
            Bound.COMPUTE: samples * sum(map(_computing, sets)),
            Bound.READ: ceil(samples * sum(members[0].reading for members in sets)),
            Bound.WRITE: ceil(samples * sum(each.writing for members in sets for each in members)),
            Bound.WEIGHTS: loading,
        },
        read_bytes=ceil(samples * sum(members[0].read_beats for members in sets)) * port,
        weight_bytes=ceil(blocks * repeated * shape.block_bytes(npu) * loads.share),
        parameter_bytes=again * blocks * npu.params["output_lanes"] * PARAMETER_BYTES,
    )


def _bursts(shape: Geometry, beats: float) -> int:
    """Return how often constants come between pixels, never where taps are read one by one."""
    return 0 if shape.depthwise and not shape.lines else ceil(beats / BURST_BEATS)


def _widths(shape: Geometry, npu: Engine) -> list[int]:
    """Return the output channels of each block."""
    lanes, channels = npu.params["output_lanes"], shape.output[2]
    return [min(lanes, channels - first) for first in range(0, channels, lanes)]


def _sets(shape: Geometry, npu: Engine) -> list[list[int]]:
    """Return the output channels of each block of each set: one, or a pair."""
    widths, rows = _widths(shape, npu), _rows(shape, npu)
    most = npu.params["weight_rows"]
    fits = 4 * rows <= most or (len(widths) <= 2 and 2 * rows <= most)
    size = 2 if fits and not shape.depthwise else 1
    return [widths[first : first + size] for first in range(0, len(widths), size)]


def _rows(shape: Geometry, npu: Engine) -> int:
    """Return the rows of weights that a block fills."""
    return -(-shape.block_bytes(npu) // (npu.params["input_lanes"] * npu.params["output_lanes"]))


class _Loads(NamedTuple):
    """Cycles of reading constants: once for each block of channels, and for each pixel of it.

    Attributes:
        beats: of the port, of what is read once.
        ahead: while the set before is computed.
        share: of the weights that are read each time; none are for taps outside of the image.
    """

    once: int
    each_pixel: int
    beats: int
    ahead: bool
    share: float = 1.0


def _loads(shape: Geometry, npu: Engine) -> _Loads:
    params, port = npu.params, npu.params["data_bytes"]
    lanes = params["output_lanes"]
    weights, table = shape.block_bytes(npu), lanes * PARAMETER_BYTES
    rows, most = _rows(shape, npu) * len(_sets(shape, npu)[0]), params["weight_rows"]
    parameters, reading = (_reading(size, npu) for size in (table, weights))
    if rows > most:
        share = _seen(shape)
        return _Loads(parameters, ceil(reading * share), -(-table // port), True, share)
    beats = -(-table // port) - (-weights // port)
    return _Loads(parameters + reading, 0, beats, 2 * rows <= most)


def _seen(shape: Geometry) -> float:
    """Return the share of the taps of all windows that lie inside the image."""
    taps = (sum(map(len, each)) for each in _inside(shape))
    return prod(taps) / prod((*shape.output[:2], *shape.kernel))


def _reading(size: int, npu: Engine) -> int:
    """Return the cycles in which constants come: so many beats at most are under way at a time."""
    width, port = _narrower(npu.constants_width, npu), npu.params["data_bytes"]
    waiting = size * (npu.constants_wait + TURN_CYCLES)
    return max(-(-size // width), waiting // (BEATS_UNDER_WAY * port))


class _Block(NamedTuple):
    """What one block of output channels takes.

    Attributes:
        steps: cycles of the array that each block of a set takes.
        feeding: cycles in which steps come, once for a set.
        joined: steps are queued, so that the array need not wait for one.
        scaling: cycles of the requantisers.
        reading: cycles of the memory, once for a set.
        writing: likewise.
        changing: cycles of changes between the memories of input and output.
        read_beats: of the port.
    """

    steps: float
    feeding: float
    joined: bool
    scaling: int
    reading: float
    writing: float
    changing: int
    read_beats: float


def _computing(members: list[_Block]) -> int:
    """Return the cycles of array and requantisers for a set."""
    steps, first = sum(block.steps for block in members), members[0]
    waiting = 0 if first.joined else first.feeding - first.steps
    array = ceil(max(steps + waiting, first.feeding))
    return max(array, sum(block.scaling for block in members))


def _moving(members: list[_Block], npu: Engine) -> float:
    """Return the cycles of the memory for a set; one that is known reads or writes at a time."""
    reading = members[0].reading
    writing = sum(block.writing + block.changing for block in members)
    return reading + writing if npu.workspace_width else max(reading, writing)


def _block(shape: Geometry, npu: Engine, width: int, places: Places) -> _Block:
    """Return what a block of `width` output channels takes."""
    params, port = npu.params, npu.params["data_bytes"]
    read_width, written_width = (
        _narrower(each or npu.workspace_width, npu) for each in (places.read, places.written)
    )
    pixels, scalers = prod(shape.output[:2]), min(params["requantisers"], params["output_lanes"])
    steps, feeding, read = _pointwise(shape, npu, width) if shape.depthwise else _dense(shape, npu)
    written = _channels(width, shape.output[2], npu)
    beat = -(-min(port, width) // written_width)
    return _Block(
        steps=steps,
        feeding=feeding,
        joined=shape.joined,
        scaling=pixels * -(-width // scalers),
        reading=read * -(-port // read_width),
        writing=pixels * written.beats * beat,
        changing=CHANGE_CYCLES * pixels if places.apart else 0,
        read_beats=read,
    )


def _pointwise(shape: Geometry, npu: Engine, width: int) -> tuple[float, float, float]:
    """Return steps, likewise, and beats read, where each output channel has one of the input."""
    beats = _channels(width, shape.input[2], npu).beats
    if shape.lines:
        columns = npu.params["input_lanes"] // LINE_ROWS
        steps = prod(shape.output[:2]) * -(-shape.kernel[1] // columns)
        return steps, steps, prod(shape.seen) * beats
    rows, columns = (sum(map(len, each)) for each in _inside(shape))
    return rows * columns, rows * columns, rows * columns * beats


def _dense(shape: Geometry, npu: Engine) -> tuple[float, float, float]:
    """Return steps of a block, cycles in which they come, and beats that are read for them."""
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
    feeding, beats = (count * sum(each[at] for each in runs) for at in (1, 0))
    sizes = [len(seen) * depth for seen in columns]
    if shape.joined:
        return sum(-(-len(seen) * size // lanes) for seen in rows for size in sizes), feeding, beats
    return count * sum(-(-size // lanes) for size in sizes), feeding, beats


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


def _narrower(memory: int, npu: Engine) -> int:
    port = npu.params["data_bytes"]
    return min(port, memory or port)
