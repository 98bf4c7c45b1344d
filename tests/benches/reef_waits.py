# SPDX-License-Identifier: Apache-2.0
"""What reef waits for: each counter grows in the situation that is made for it, and no other."""

from random import Random
from typing import Any, NamedTuple

import cocotb
from tests.benches.reef_golden import Shape
from tests.benches.reef_random import make_layer
from tests.benches.reef_system import WAIT_READ, WAIT_WEIGHTS, WAIT_WRITE, System, parameter

from atoll_sim.engines.reef.descriptor import Opcode

READ, WRITE, WEIGHTS = 0, 1, 2
INPUT, CONSTANTS, EVERYTHING = slice(0, 1), slice(1, 3), slice(0, 3)
"""Of the places that a program loads data to."""
RESTING = 240
"""Chance in 256."""


class Waited(NamedTuple):
    """What an operator took.

    Attributes:
        waits: cycles that it waited to read, to write, and for weights.
    """

    cycles: int
    waits: tuple[int, int, int]


async def prepare(dut: Any) -> System:
    """Start the system with a memory that answers in every cycle."""
    system = System(dut)
    await system.start()
    return system


async def ended(
    system: System, shape: Shape, slow: slice | None = None, write_rest: int = 0
) -> Waited:
    """Return what an operator took, some of whose places in memory are slow."""
    dut, random = system.dut, Random(cocotb.RANDOM_SEED)
    dut.u_memory.write_rest.value = write_rest
    program = system.program(random)
    program.tensor_alignment = 16
    program.add(make_layer(random, shape))
    places = list(program.image.items())[slow] if slow else []
    program.finish()
    words = {
        byte // system.beat % system.words
        for address, data in places
        for byte in range(address, address + len(data))
    }
    for word in words:
        dut.u_memory.slow[word].value = 1
    ending = await system.run(program)
    for word in words:
        dut.u_memory.slow[word].value = 0
    assert ending.clean
    assert system.outputs(program)
    read, write, weights = [
        await system.read(each) for each in (WAIT_READ, WAIT_WRITE, WAIT_WEIGHTS)
    ]
    assert ending.stalls == read + weights <= ending.cycles
    return Waited(ending.cycles, (read, write, weights))


def grown(plain: Waited, other: Waited, counter: int) -> None:
    """Insist that the time lost is nearly all in one counter."""
    lost = other.cycles - plain.cycles
    assert lost > plain.cycles // 2
    more = [b - a for a, b in zip(plain.waits, other.waits, strict=True)]
    assert more[counter] > 0.8 * lost, more
    assert all(each < 0.1 * lost for at, each in enumerate(more) if at != counter), more


def pointwise(blocks: int = 1) -> Shape:
    """Return an operator of so many blocks of channels, whose weights fit on chip."""
    channels = blocks * parameter("OutputLanes", 8)
    return Shape(opcode=Opcode.CONV_2D, image=(12, 12, 16), channels=channels, output=(12, 12))


@cocotb.test()
async def input_is_waited_for(dut: Any) -> None:
    """A slow memory of the input keeps the array waiting to read."""
    system = await prepare(dut)
    for blocks in (1, 6):
        shape = pointwise(blocks)
        grown(await ended(system, shape), await ended(system, shape, INPUT), READ)


@cocotb.test()
async def a_blocked_write_is_waited_for(dut: Any) -> None:
    """Results that nobody takes are waited for; the array has its data."""
    system, shape = await prepare(dut), pointwise()
    grown(await ended(system, shape), await ended(system, shape, write_rest=RESTING), WRITE)


@cocotb.test()
async def weights_are_waited_for(dut: Any) -> None:
    """Constants in a slow memory are waited for, once for all pixels or again for each of them."""
    system = await prepare(dut)
    lanes, rows = parameter("OutputLanes", 8), parameter("WeightRows", 128)
    for most in (rows // 2, rows + 2):
        depth = most * parameter("InputLanes", 8)
        shape = Shape(
            opcode=Opcode.FULLY_CONNECTED, image=(1, 2, depth), channels=lanes, output=(1, 2)
        )
        grown(await ended(system, shape), await ended(system, shape, CONSTANTS), WEIGHTS)


@cocotb.test()
async def one_thing_is_missing_at_a_time(dut: Any) -> None:
    """Where all is slow, a cycle counts as waiting for input or for weights."""
    system, channels = await prepare(dut), 12 * parameter("OutputLanes", 8)
    opcode = Opcode.FULLY_CONNECTED
    shape = Shape(opcode=opcode, image=(1, 2, 64), channels=channels, output=(1, 2))
    plain, slow = await ended(system, shape), await ended(system, shape, EVERYTHING)
    for counter in (READ, WEIGHTS):
        assert slow.waits[counter] > plain.waits[counter] + 100
    assert slow.waits[WRITE] <= plain.waits[WRITE]


@cocotb.test()
async def counters_begin_with_their_list(dut: Any) -> None:
    """A start clears them."""
    system, shape = await prepare(dut), pointwise()
    first = await ended(system, shape)
    for slow in (INPUT, CONSTANTS):
        await ended(system, shape, slow, write_rest=RESTING)
    assert await ended(system, shape) == first
