# SPDX-License-Identifier: Apache-2.0
"""One command of the reef accelerator as 64 bytes; docs/reef.md is the contract."""

from enum import IntEnum, IntFlag
from struct import Struct
from typing import ClassVar

from atoll.records import dataclass
from atoll_sim.engines.common import encode


class Opcode(IntEnum):
    """What a command computes."""

    CONV_2D = 1
    DEPTHWISE_CONV_2D = 2
    FULLY_CONNECTED = 3


class Flag(IntFlag):
    """How a command is computed."""

    UNIFORM = 1
    LINES = 2
    JOINED = 4
    GREATEST = 8
    ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor(encode.Descriptor):
    """The fields of one command, as docs/reef.md lists them."""

    # Words 0; 1 to 4; 5 to 10; 11; 12; 13 to 15.
    layout: ClassVar[Struct] = Struct("<BBH 4I 12H 4b 2H 3I")
    input_address: int
    output_address: int
    weights_address: int
    parameters_address: int
    in_height: int
    in_width: int
    in_channels: int
    out_channels: int
    out_height: int
    out_width: int
    kernel_height: int
    kernel_width: int
    stride_down: int
    stride_across: int
    pad_top: int
    pad_left: int
    input_zero_point: int
    output_zero_point: int
    activation_min: int
    activation_max: int
    depth_multiplier: int
    flags: int = 0
    input_row_pitch: int
    weight_block_bytes: int
    kernel_row_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(encode.Descriptor):
    """The fields of a command that goes on with another list."""

    # Words 0; 1 and 2; 3 to 15.
    layout: ClassVar[Struct] = Struct("<BBH 2I 52x")
    opcode: int = 6
    address: int
    count: int
