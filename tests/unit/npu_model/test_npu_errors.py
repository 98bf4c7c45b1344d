# SPDX-License-Identifier: Apache-2.0
"""Each illegal command and each bus error ends the list with its code, and nothing is written."""

from dataclasses import replace
from typing import Any

import pytest

from atoll.resolve.soc import AcceleratorSpec, Npu, Registers
from atoll_sim.engines.common.decode import ErrorCode
from atoll_sim.engines.interface import BusFault, Outcome
from atoll_sim.engines.reef.decode import Command
from atoll_sim.engines.reef.descriptor import Descriptor, Opcode
from atoll_sim.engines.reef.model import ReefModel

INPUT, OUTPUT, WEIGHTS, TABLE, LIST = 0x103, 0x205, 0x300, 0x500, 0x600
SIZE = 0x800

# 4x4x4 -> 4x4x8, kernel 3x3: one block of 8 lanes, 3 rows of ceil(12 / 8) = 2 chunks.
LEGAL = Descriptor(
    opcode=Opcode.CONV_2D,
    input_address=INPUT,
    output_address=OUTPUT,
    weights_address=WEIGHTS,
    parameters_address=TABLE,
    in_height=4,
    in_width=4,
    in_channels=4,
    out_channels=8,
    out_height=4,
    out_width=4,
    kernel_height=3,
    kernel_width=3,
    stride_down=1,
    stride_across=1,
    pad_top=1,
    pad_left=1,
    input_zero_point=-3,
    output_zero_point=5,
    activation_min=-128,
    activation_max=127,
    depth_multiplier=1,
    input_row_pitch=16,
    weight_block_bytes=3 * 2 * 64,
    kernel_row_bytes=12,
)
DEPTHWISE = replace(
    LEGAL,
    opcode=Opcode.DEPTHWISE_CONV_2D,
    depth_multiplier=2,
    kernel_row_bytes=3,
    weight_block_bytes=80,
)
DENSE = replace(
    LEGAL,
    opcode=Opcode.FULLY_CONNECTED,
    in_height=1,
    out_height=1,
    kernel_height=1,
    kernel_width=1,
    pad_top=0,
    pad_left=0,
    kernel_row_bytes=4,
    weight_block_bytes=64,
)
COUNTS = (
    "in_height",
    "in_width",
    "in_channels",
    "out_channels",
    "out_height",
    "out_width",
    "kernel_height",
    "kernel_width",
    "stride_down",
    "stride_across",
    "depth_multiplier",
    "input_row_pitch",
    "weight_block_bytes",
    "kernel_row_bytes",
)
PARAMS = {
    "input_lanes": 8,
    "output_lanes": 8,
    "weight_rows": 64,
    "line_columns": 64,
    "vector": 1,
    "requantisers": 16,
    "data_bytes": 8,
}


class Memory:
    """Bytes from 0 to SIZE; a hole in it answers `decode` or not."""

    def __init__(self, hole: range = range(0), decode: bool = True) -> None:
        self.data = bytearray(SIZE)
        self.hole = hole
        self.decode = decode
        self.writes = 0

    def read(self, address: int, size: int) -> bytes:
        self._check(address, size)
        return bytes(self.data[address : address + size])

    def write(self, address: int, data: bytes) -> None:
        self._check(address, len(data))
        self.writes += 1
        self.data[address : address + len(data)] = data

    def _check(self, address: int, size: int) -> None:
        first = max(address, self.hole.start)
        if first < min(address + size, self.hole.stop):
            raise BusFault(first, self.decode)
        if address + size > SIZE:
            raise BusFault(max(address, SIZE), True)


def model() -> ReefModel:
    spec = AcceleratorSpec(
        name="reef",
        operators=(),
        registers={},
        rtl_module="reef",
        rtl_sources=(),
        emitter="",
        model="",
        driver="command_list",
        asynchronous=True,
    )
    return ReefModel(
        Npu(
            name="npu",
            kind="npu",
            device_type=12,
            device_id=0,
            ordinal=1,
            clock=1,
            spec=spec,
            params=PARAMS,
            registers=Registers(origin=0, size=4096),
            irq=0,
            runs=(),
        )
    )


def run(*commands: Descriptor, memory: Memory | None = None, address: int = LIST) -> Outcome:
    memory = memory or Memory()
    encoded = b"".join(command.encode() for command in commands)
    memory.data[address : address + len(encoded)] = encoded
    return model().run(memory, address, len(commands))


@pytest.mark.parametrize("command", [LEGAL, DEPTHWISE, DENSE], ids=["conv", "dw", "fc"])
def test_legal_commands_run(command: Descriptor) -> None:
    assert run(command) == Outcome(0, 0, 1)


@pytest.mark.parametrize("change", [{"opcode": 0}, {"opcode": 8}, {"version": 0}, {"version": 2}])
def test_unknown_opcode_or_version(change: dict[str, int]) -> None:
    assert run(replace(LEGAL, **change)) == Outcome(5, LIST, 0)


@pytest.mark.parametrize("command", [LEGAL, DEPTHWISE, DENSE], ids=["conv", "dw", "fc"])
@pytest.mark.parametrize("field", COUNTS)
def test_no_count_may_be_zero(command: Descriptor, field: str) -> None:
    change: dict[str, Any] = {field: 0}
    assert run(replace(command, **change)) == Outcome(6, LIST, 0)


@pytest.mark.parametrize(
    ("command", "change"),
    [
        (LEGAL, {"flags": 0x8000}),
        (LEGAL, {"pad_top": 3}),
        (LEGAL, {"pad_left": 3}),
        (LEGAL, {"activation_min": 5, "activation_max": 4}),
        (LEGAL, {"activation_min": 0, "activation_max": -1}),
        (LEGAL, {"depth_multiplier": 2}),
        (DEPTHWISE, {"depth_multiplier": 3}),
        (DEPTHWISE, {"out_channels": 7}),
        (DENSE, {"in_height": 2}),
        (DENSE, {"kernel_width": 2}),
        (DENSE, {"kernel_height": 2}),
        (DENSE, {"stride_down": 2}),
        (DENSE, {"stride_across": 2}),
        (DENSE, {"depth_multiplier": 2}),
        (LEGAL, {"kernel_row_bytes": 13}),
        (DEPTHWISE, {"kernel_row_bytes": 12}),
        (DENSE, {"kernel_row_bytes": 5}),
    ],
)
def test_fields_outside_their_range(command: Descriptor, change: dict[str, int]) -> None:
    assert run(replace(command, **change)) == Outcome(6, LIST, 0)


@pytest.mark.parametrize("command", [LEGAL, DEPTHWISE, DENSE], ids=["conv", "dw", "fc"])
def test_a_wrong_check_stops_what_is_legal_otherwise(command: Descriptor) -> None:
    for bit in range(16):
        assert run(replace(command, check_flipped=1 << bit)) == Outcome(9, LIST, 0)


@pytest.mark.parametrize("command", [LEGAL, DEPTHWISE, DENSE], ids=["conv", "dw", "fc"])
def test_no_flipped_bit_goes_unnoticed(command: Descriptor) -> None:
    good = command.encode()
    assert Command.from_bytes(good).error(PARAMS) is ErrorCode.NONE
    for bit in range(8 * len(good)):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        assert Command.from_bytes(bytes(bad)).error(PARAMS) is not ErrorCode.NONE


@pytest.mark.parametrize("change", [{"activation_min": 4, "activation_max": 4}, {"pad_top": 2}])
def test_the_edge_of_a_range_belongs_to_it(change: dict[str, int]) -> None:
    assert run(replace(LEGAL, **change)) == Outcome(0, 0, 1)


@pytest.mark.parametrize("field", ["weights_address", "parameters_address"])
@pytest.mark.parametrize("by", [1, 4, 8])
def test_misaligned_constants(field: str, by: int) -> None:
    change: dict[str, Any] = {field: getattr(LEGAL, field) + by}
    assert run(replace(LEGAL, **change)) == Outcome(7, LIST, 0)


@pytest.mark.parametrize("by", [1, 16, 32])
def test_misaligned_list(by: int) -> None:
    assert run(LEGAL, address=LIST + by) == Outcome(7, LIST + by, 0)


@pytest.mark.parametrize("count", [0, 0x10000])
def test_list_count_outside_its_range(count: int) -> None:
    assert model().run(Memory(), LIST, count) == Outcome(6, LIST, 0)


def test_an_error_stops_the_list_after_the_commands_before_it() -> None:
    memory = Memory()
    assert run(LEGAL, replace(LEGAL, opcode=9), LEGAL, memory=memory) == Outcome(5, LIST + 64, 1)
    assert memory.writes == 1


@pytest.mark.parametrize(("decode", "read", "write"), [(False, 1, 3), (True, 2, 4)])
@pytest.mark.parametrize(
    ("first", "is_write"),
    [
        (LIST + 0x24, False),
        (INPUT + 0x1D, False),
        (LEGAL.weights_address + 0x101, False),
        (TABLE + 0x7F, False),
        (OUTPUT + 0x66, True),
    ],
    ids=["command", "input", "weights", "parameters", "output"],
)
def test_bus_errors_name_the_beat(
    first: int, is_write: bool, decode: bool, read: int, write: int
) -> None:
    memory = Memory(range(first, first + 1), decode)
    expected = Outcome(write if is_write else read, first - first % 8, 0)
    assert run(LEGAL, memory=memory) == expected
    assert memory.writes == 0


@pytest.mark.parametrize(
    "untouched",
    [INPUT - 1, INPUT + 64, TABLE + 128, LEGAL.weights_address + 384, LIST + 64, OUTPUT + 128],
)
def test_bytes_beside_the_buffers_are_not_touched(untouched: int) -> None:
    assert run(LEGAL, memory=Memory(range(untouched, untouched + 1))) == Outcome(0, 0, 1)


def test_rows_are_read_at_the_pitch() -> None:
    memory = Memory(range(INPUT + 16, INPUT + 32))
    assert run(replace(LEGAL, input_row_pitch=32), memory=memory) == Outcome(0, 0, 1)
