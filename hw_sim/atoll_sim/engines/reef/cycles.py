"""How long reef is busy with an operator."""

from typing import NamedTuple

from atoll.resolve.soc import Engine
from atoll_sim.engines.reef.geometry import Geometry
from atoll_sim.engines.reef.packing import PARAMETER_BYTES

START_CYCLES = 100


def busy_cycles(shape: Geometry, npu: Engine, commands: int = 0) -> int:
    """Predict busy cycles from array steps and from the bytes that nothing hides.

    Each block of output channels first reads its parameters and, if they fit on chip, its weights;
    otherwise every pixel reads them again. A pixel takes one array step for each kernel row and
    chunk of input lanes (depthwise: each tap), more of them where the memory delivers less than a
    step needs, and at least one cycle for each channel, which is what requantisation takes.
    Commands beside one for each sample read parameters and weights again. Within a tenth of what
    benches/reef_layers.py has measured.

    Args:
        shape: the operator.
        npu: the instance.
        commands: that it takes, 0 for one for each sample.
    """
    blocks, loads = _blocks(shape, npu), _loads(shape, npu)
    pixels = shape.output[0] * shape.output[1]
    steps = _steps(shape, npu)
    computing = sum(pixels * max(steps, width) for width in blocks)
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
    """Count the cycles of one pixel of a block in the array."""
    chunk = 1 if shape.depthwise else npu.params["input_lanes"]
    needed = npu.params["output_lanes"] if shape.depthwise else chunk
    waiting = -(-needed // _narrower(npu.workspace_width, npu))
    return shape.kernel[0] * -(-shape.kernel_row // chunk) * waiting


def _blocks(shape: Geometry, npu: Engine) -> list[int]:
    """Return the channels of each block."""
    lanes, channels = npu.params["output_lanes"], shape.output[2]
    return [min(lanes, channels - first) for first in range(0, channels, lanes)]


def _narrower(memory: int, npu: Engine) -> int:
    port = npu.params["data_bytes"]
    return min(port, memory or port)
