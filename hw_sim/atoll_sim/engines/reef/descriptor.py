"""One command of the reef accelerator as 64 bytes; docs/reef.md is the contract."""

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct

from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES, with_check

DESCRIPTOR_VERSION = 1

# Words 0; 1 to 4; 5 to 10; 11; 12; 13 to 15.
_LAYOUT = Struct("<BBH 4I 12H 4b 2H 3I")
assert _LAYOUT.size == DESCRIPTOR_BYTES


class Opcode(IntEnum):
    """What a command computes."""

    CONV_2D = 1
    DEPTHWISE_CONV_2D = 2
    FULLY_CONNECTED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """The fields of one command.

    Benches also use it to make illegal commands, so it checks nothing but that each value
    fits its bits (`struct.error` otherwise).
    """

    opcode: int
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
    input_row_pitch: int
    weight_block_bytes: int
    kernel_row_bytes: int
    version: int = DESCRIPTOR_VERSION
    check_flipped: int = 0
    reserved_12: int = 0

    def encode(self) -> bytes:
        """Return the 64 bytes that the accelerator reads."""
        fields = _LAYOUT.pack(
            self.opcode,
            self.version,
            0,
            self.input_address,
            self.output_address,
            self.weights_address,
            self.parameters_address,
            self.in_height,
            self.in_width,
            self.in_channels,
            self.out_channels,
            self.out_height,
            self.out_width,
            self.kernel_height,
            self.kernel_width,
            self.stride_down,
            self.stride_across,
            self.pad_top,
            self.pad_left,
            self.input_zero_point,
            self.output_zero_point,
            self.activation_min,
            self.activation_max,
            self.depth_multiplier,
            self.reserved_12,
            self.input_row_pitch,
            self.weight_block_bytes,
            self.kernel_row_bytes,
        )
        return with_check(fields, self.check_flipped)
