"""How long reef is busy with an operator."""

from math import ceil, gcd
from typing import NamedTuple

from atoll.resolve.soc import Engine
from atoll_sim.engines.reef.geometry import Geometry
from atoll_sim.engines.reef.packing import LINE_ROWS, PARAMETER_BYTES

START_CYCLES = 60


def busy_cycles(shape: Geometry, npu: Engine, commands: int = 0) -> int:
    """Predict busy cycles from array steps and from the bytes that nothing hides.

    Each block of output channels first reads its parameters and, if they fit on chip, its weights;
    otherwise every pixel reads them again. A pixel takes one array step for each kernel row and
    chunk of input lanes (depthwise: each tap), and no less than the memory takes for the beats that
    it reads and writes one after the other, and a cycle for as many channels as there are
    requantisers.
    Commands beside one for each sample read parameters and weights again. Within 15 % of what
    benches/reef_layers.py has measured.

    Args:
        shape: the operator.
        npu: the instance.
        commands: that it takes, 0 for one for each sample.
    """
    loads, blocks = _loads(shape, npu), _blocks(shape, npu)
    pixels = shape.output[0] * shape.output[1]
    scalers = min(npu.params["requantisers"], npu.params["output_lanes"])
    steps, reading = _steps(shape, npu), _reading(shape, npu)
    computing = sum(
        max(
            steps,
            pixels * -(-width // scalers),
            ceil(reading + pixels * _beats(width, shape.output[2], npu)),
        )
        for width in blocks
    )
    again = shape.samples + max(0, commands - shape.samples)
    setting_up = again * (START_CYCLES + len(blocks) * loads.once)
    return setting_up + shape.samples * (computing + len(blocks) * pixels * loads.each_pixel)


class _Loads(NamedTuple):
    """Cycles of reading constants: once for each block of channels, and for each pixel of it."""

    once: int
    each_pixel: int


def _loads(shape: Geometry, npu: Engine) -> _Loads:
    params = npu.params
    lanes, width = params["output_lanes"], _narrower(npu.constants_width, npu)
    weights = shape.block_bytes(npu)
    resident = weights <= params["weight_rows"] * params["input_lanes"] * lanes
    parameters = -(-lanes * PARAMETER_BYTES // width)
    reading = -(-weights // width)
    return _Loads(parameters + reading, 0) if resident else _Loads(parameters, reading)


def _steps(shape: Geometry, npu: Engine) -> int:
    """Count the cycles of the array for a block."""
    if shape.lines:
        columns = npu.params["input_lanes"] // LINE_ROWS
        return shape.output[0] * shape.output[1] * -(-shape.kernel[1] // columns)
    rows, columns = _inside(shape)
    if shape.depthwise:
        return rows * columns
    return rows * shape.output[1] * -(-shape.kernel_row // npu.params["input_lanes"])


def _reading(shape: Geometry, npu: Engine) -> float:
    """Count the cycles of the memory for what a block reads."""
    rows, columns = shape.seen if shape.lines else _inside(shape)
    if shape.depthwise:
        return rows * columns * _beats(npu.params["output_lanes"], shape.input[2], npu)
    return rows * shape.output[1] * _beats(shape.kernel_row, shape.input[2], npu)


def _inside(shape: Geometry) -> tuple[int, int]:
    """Count the rows of the kernel that lie inside the image over all rows of pixels, and columns.

    What lies outside is not read.
    """
    rows, columns = (
        sum(
            max(0, min(extent, at * stride - pad + taps) - max(0, at * stride - pad))
            for at in range(places)
        )
        for places, taps, stride, pad, extent in zip(
            shape.output[:2], shape.kernel, shape.stride, shape.pad, shape.input[:2], strict=True
        )
    )
    return rows, columns


def _beats(size: int, channels: int, npu: Engine) -> float:
    """Return the cycles of the memory, on average, for a run that begins at any pixel.

    A beat that the run begins or ends in is moved whole. Runs of a block begin at multiples of its
    channels.
    """
    beat = _narrower(npu.workspace_width, npu)
    return (
        1 + (size - gcd(channels, size, beat)) / beat
        if size % beat or channels % beat
        else size / beat
    )


def _blocks(shape: Geometry, npu: Engine) -> list[int]:
    """Return the channels of each block."""
    lanes, channels = npu.params["output_lanes"], shape.output[2]
    return [min(lanes, channels - first) for first in range(0, channels, lanes)]


def _narrower(memory: int, npu: Engine) -> int:
    port = npu.params["data_bytes"]
    return min(port, memory or port)
