"""Typical layers, and the cycles that instances of reef take for them."""

from dataclasses import dataclass

from tests.benches.reef_golden import Shape

from atoll_sim.engines.reef.descriptor import Opcode

Instance = tuple[int, int, int, int, int]
"""Input lanes, output lanes, bytes of a beat, weight rows, latency of the memory."""

DEFAULT: Instance = (8, 8, 8, 128, 1)
SMALL: Instance = (4, 4, 8, 16, 3)
WIDE: Instance = (4, 16, 16, 16, 7)
INSTANCES = (DEFAULT, SMALL, WIDE)


@dataclass(frozen=True, slots=True)
class Measured:
    """A layer, and its cycles on each of `INSTANCES` with a memory that answers every cycle."""

    shape: Shape
    cycles: tuple[int, int, int]


LAYERS = {
    "conv 3x3 16 to 16 on 32x32": Measured(
        Shape(
            opcode=Opcode.CONV_2D,
            image=(32, 32, 16),
            channels=16,
            output=(32, 32),
            kernel=(3, 3),
            pad=(1, 1),
        ),
        (35_705, 427_215, 178_298),
    ),
    "pointwise 64 to 64 on 25x5": Measured(
        Shape(opcode=Opcode.CONV_2D, image=(25, 5, 64), channels=64, output=(25, 5)),
        (8_681, 32_687, 8_376),
    ),
    "depthwise 3x3 on 48x48x16": Measured(
        Shape(
            opcode=Opcode.DEPTHWISE_CONV_2D,
            image=(48, 48, 16),
            channels=16,
            output=(48, 48),
            kernel=(3, 3),
            pad=(1, 1),
        ),
        (40_773, 81_489, 20_427),
    ),
    "depthwise 3x3 64 channels on 25x5 by lines": Measured(
        Shape(
            opcode=Opcode.DEPTHWISE_CONV_2D,
            image=(25, 5, 64),
            channels=64,
            output=(25, 5),
            kernel=(3, 3),
            pad=(1, 1),
            lines=True,
        ),
        (2_179, 6_069, 1_592),
    ),
    "depthwise 3x3 on 48x48x16 by lines": Measured(
        Shape(
            opcode=Opcode.DEPTHWISE_CONV_2D,
            image=(48, 48, 16),
            channels=16,
            output=(48, 48),
            kernel=(3, 3),
            pad=(1, 1),
            lines=True,
        ),
        (9_340, 27_760, 7_047),
    ),
    "weights that just fit on chip": Measured(
        Shape(opcode=Opcode.CONV_2D, image=(4, 4, 1024), channels=8, output=(4, 4)),
        (3_129, 24_639, 20_552),
    ),
    "dense 640 to 128": Measured(
        Shape(opcode=Opcode.FULLY_CONNECTED, image=(1, 1, 640), channels=128, output=(1, 1)),
        (11_817, 15_663, 6_585),
    ),
}
