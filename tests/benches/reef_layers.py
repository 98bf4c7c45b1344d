# SPDX-License-Identifier: Apache-2.0
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
        (35_712, 427_200, 178_309),
    ),
    "first 3x3 3 to 16 on 32x32": Measured(
        Shape(
            opcode=Opcode.CONV_2D,
            image=(32, 32, 3),
            channels=16,
            output=(32, 32),
            kernel=(3, 3),
            pad=(1, 1),
            joined=True,
        ),
        (8_625, 40_068, 9_544),
    ),
    "pointwise 64 to 64 on 25x5": Measured(
        Shape(opcode=Opcode.CONV_2D, image=(25, 5, 64), channels=64, output=(25, 5)),
        (8_233, 33_040, 8_484),
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
        (40_797, 81_513, 20_447),
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
        (2_111, 6_084, 1_611),
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
        (9_372, 27_775, 7_059),
    ),
    "weights that just fit on chip": Measured(
        Shape(opcode=Opcode.CONV_2D, image=(4, 4, 1024), channels=8, output=(4, 4)),
        (3_135, 24_639, 20_563),
    ),
    "dense 640 to 128": Measured(
        Shape(opcode=Opcode.FULLY_CONNECTED, image=(1, 1, 640), channels=128, output=(1, 1)),
        (12_108, 15_423, 6_548),
    ),
}
