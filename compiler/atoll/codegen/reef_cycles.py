"""How long reef is busy with an operator."""

from atoll.codegen.reef_geometry import Geometry
from atoll.codegen.reef_packing import PARAMETER_BYTES
from atoll.resolve.soc import Engine

START_CYCLES = 100


def busy_cycles(shape: Geometry, npu: Engine) -> int:
    """Predict busy cycles from array steps and from the bytes that nothing hides.

    Each block of output channels first reads its parameters and, if they fit on chip, its weights;
    otherwise every pixel reads them again. A pixel takes one array step for each kernel row and
    chunk of input lanes (depthwise: each tap), and at least one cycle for each lane, which is what
    requantisation takes. Within a tenth of what benches/reef_layers.py has measured.
    """
    params = npu.params
    lanes, width = params["output_lanes"], params["data_bytes"]
    chunk = 1 if shape.depthwise else params["input_lanes"]
    steps = shape.kernel[0] * -(-shape.kernel_row // chunk)
    weights = shape.block_bytes(npu)
    resident = weights <= params["weight_rows"] * params["input_lanes"] * lanes
    pixels = shape.output[0] * shape.output[1]
    parameters = -(-lanes * PARAMETER_BYTES // width)
    loads = parameters + -(-weights // width) * (1 if resident else pixels)
    blocks = -(-shape.output[2] // lanes)
    return shape.samples * (START_CYCLES + blocks * (loads + pixels * max(steps, lanes)))
