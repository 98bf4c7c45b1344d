# SPDX-License-Identifier: Apache-2.0
"""Faults on the bus and illegal commands end a list; the next list runs as ever."""

from random import Random
from typing import Any

import cocotb
from tests.benches.list_checks import FAILED
from tests.benches.reef_checks import BAD_CHECK, BAD_FIELD, BAD_OPCODE, DECODE, MISALIGNED, SLAVE
from tests.benches.reef_golden import Layer, Shape
from tests.benches.reef_program import Program
from tests.benches.reef_random import make_layer
from tests.benches.reef_system import LIST_ADDRESS, LIST_COUNT, System, prepare

from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES
from atoll_sim.engines.reef.descriptor import Opcode

REGIONS = ("input", "weights", "table", "list", "output")


def small_layer(random: Random, opcode: Opcode) -> Layer:
    """Make an operator that reads each byte of its tensors and is of two blocks or more."""
    if opcode is Opcode.FULLY_CONNECTED:
        dense = Shape(opcode=opcode, image=(1, 2, 40), channels=18, output=(1, 2))
        return make_layer(random, dense)
    channels = 17 if opcode is Opcode.DEPTHWISE_CONV_2D else 3
    shape = Shape(
        opcode=opcode,
        image=(4, 5, channels),
        channels=17,
        output=(4, 5),
        kernel=(3, 3),
        pad=(1, 1),
    )
    return make_layer(random, shape)


async def expect_clean(system: System, random: Random) -> None:
    """Run a legal list and insist on its results."""
    program = system.program(random)
    program.add(small_layer(random, Opcode.CONV_2D))
    program.finish()
    assert (await system.run(program)).clean
    assert system.outputs(program)


def beat_of(program: Program, region: str, beat: int, random: Random) -> int:
    """Draw a beat of a region of a program of one operator that no other region has a part of."""
    spans = [range(at, at + len(data)) for at, data in program.image.items()]
    spans += [range(at, at + len(data)) for at, data in program.expected.items()]
    beats = [{at // beat * beat for at in span} for span in spans]
    own = beats.pop(REGIONS.index(region))
    return random.choice(sorted(own.difference(*beats)))


@cocotb.test()
@cocotb.parametrize(region=list(REGIONS), response=[SLAVE, DECODE], opcode=list(Opcode))
async def stops_at_a_fault(dut: Any, region: str, response: int, opcode: Opcode) -> None:
    """An error answer ends the list, with code and address, and nothing new is asked for."""
    system, random = await prepare(dut, f"{region} {response} {opcode}")
    program = system.program(random)
    program.add(small_layer(random, opcode))
    program.finish()
    victim = beat_of(program, region, system.beat, random)
    ending = await system.run(program, faults={victim: response})
    assert ending.status == FAILED
    assert ending.error == (3 if region == "output" else 1) + (response == DECODE)
    assert ending.fault_address == victim
    assert ending.completed == 0
    await expect_clean(system, random)


ILLEGAL: dict[str, tuple[int, dict[str, int]]] = {
    **{f"opcode {value}": (BAD_OPCODE, {"opcode": value}) for value in (0, 9, 255)},
    **{f"version {value}": (BAD_OPCODE, {"version": value}) for value in (0, 2)},
    **{
        f"{name} 0": (BAD_FIELD, {name: 0})
        for name in (
            *("in_height", "in_width", "in_channels", "out_channels", "out_height", "out_width"),
            *("kernel_height", "kernel_width", "stride_down", "stride_across"),
            *("depth_multiplier", "input_row_pitch", "weight_block_bytes", "kernel_row_bytes"),
        )
    },
    "reserved bits of word 12": (BAD_FIELD, {"flags": 32}),
    "joined rows of too many weights": (BAD_FIELD, {"flags": 4, "weight_block_bytes": 1 << 20}),
    "a convolution by lines": (BAD_FIELD, {"flags": 2}),
    "greatest of a convolution": (BAD_FIELD, {"flags": 8}),
    **{f"check bit {bit}": (BAD_CHECK, {"check_flipped": 1 << bit}) for bit in (0, 7, 15)},
    "padding as high as the kernel": (BAD_FIELD, {"pad_top": 3}),
    "padding as wide as the kernel": (BAD_FIELD, {"pad_left": 3}),
    "empty activation range": (BAD_FIELD, {"activation_min": 5, "activation_max": 4}),
    "multiplier of a convolution": (BAD_FIELD, {"depth_multiplier": 2}),
    "kernel row of a pixel too much": (BAD_FIELD, {"kernel_row_bytes": 12}),
    "weights off by 8": (MISALIGNED, {"weights_address": 0x2000_0008}),
    "table off by 1": (MISALIGNED, {"parameters_address": 0x2000_0001}),
}
ILLEGAL_DEPTHWISE: dict[str, tuple[int, dict[str, int]]] = {
    "one output channel too much": (BAD_FIELD, {"out_channels": 18}),
    "a multiplier too much": (BAD_FIELD, {"depth_multiplier": 2}),
    "kernel row counted in bytes": (BAD_FIELD, {"kernel_row_bytes": 3 * 17}),
    "joined rows of a depthwise kernel": (BAD_FIELD, {"flags": 4}),
    "greatest by lines": (BAD_FIELD, {"flags": 10}),
    "lines of too many columns": (BAD_FIELD, {"flags": 2, "in_width": 257}),
    "lines of a tall kernel": (BAD_FIELD, {"flags": 2, "kernel_height": 5}),
    "lines of a wide kernel": (BAD_FIELD, {"flags": 2, "kernel_width": 9, "kernel_row_bytes": 9}),
    "lines of too many weights": (BAD_FIELD, {"flags": 2, "weight_block_bytes": 1 << 20}),
}
ILLEGAL_DENSE: dict[str, tuple[int, dict[str, int]]] = {
    f"{name} 2": (BAD_FIELD, {name: 2, **more})
    for name, more in {
        "in_height": {},
        "kernel_height": {},
        "kernel_width": {"kernel_row_bytes": 80},
        "stride_down": {},
        "stride_across": {},
    }.items()
}
ILLEGAL_BY_OPCODE = {
    Opcode.CONV_2D: ILLEGAL,
    Opcode.DEPTHWISE_CONV_2D: ILLEGAL_DEPTHWISE,
    Opcode.FULLY_CONNECTED: ILLEGAL_DENSE,
}


@cocotb.test()
@cocotb.parametrize(opcode=list(Opcode))
async def refuses_illegal_commands(dut: Any, opcode: Opcode) -> None:
    """A field out of its range ends the list at that command; those before it are complete."""
    system, random = await prepare(dut, f"illegal {opcode}")
    for name, (code, changes) in ILLEGAL_BY_OPCODE[opcode].items():
        program = system.program(random)
        program.add(small_layer(random, Opcode.FULLY_CONNECTED))
        legal = dict(program.expected)
        program.add(small_layer(random, opcode), **changes)
        program.finish()
        program.expected = legal
        ending = await system.run(program)
        assert (ending.status, ending.error) == (FAILED, code), name
        assert ending.fault_address == program.list_address + DESCRIPTOR_BYTES, name
        assert ending.completed == 1, name
        assert system.outputs(program), name
    await expect_clean(system, random)


@cocotb.test()
async def refuses_lists_that_cannot_begin(dut: Any) -> None:
    """A misaligned list, an empty one and one of 65536 commands read nothing at all."""
    system, random = await prepare(dut, "lists")
    for offset, value, code in (
        *((LIST_ADDRESS, 0x2000_0000 + low, MISALIGNED) for low in (1, 16, 32)),
        *((LIST_COUNT, count, BAD_FIELD) for count in (0, 0x1_0000, 0xFFFF_FFFF)),
    ):
        program = system.program(random)
        program.list_address = value if offset == LIST_ADDRESS else 0x2000_0040
        program.count = value if offset == LIST_COUNT else 1
        ending = await system.run(program)
        assert (ending.status, ending.error) == (FAILED, code)
        assert ending.fault_address == program.list_address
        assert (ending.completed, ending.cycles) == (0, 0)
    await expect_clean(system, random)
