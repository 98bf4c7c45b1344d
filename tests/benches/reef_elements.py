# SPDX-License-Identifier: Apache-2.0
"""ADD and MUL on reef, against exact integers: alone, among other commands, with faults."""

from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

import cocotb
from tests.benches.reef_checks import (
    BAD_CHECK,
    BAD_FIELD,
    BAD_OPCODE,
    DECODE,
    SLAVE,
    ends_well,
    refuses,
    stops_at,
)
from tests.benches.reef_golden import rounded_once
from tests.benches.reef_program import Program
from tests.benches.reef_random import random_layer
from tests.benches.reef_system import System, parameter, prepare

from atoll_sim.engines.reef.descriptor import Opcode
from atoll_sim.engines.reef.elements import ElementDescriptor, ElementOpcode


@dataclass(frozen=True, slots=True)
class Elements:
    """Two operands and a command without addresses."""

    first: bytes
    second: bytes
    command: ElementDescriptor

    def result(self) -> bytes:
        """Return what comes of each pair."""
        return bytes(self._one(*pair) & 0xFF for pair in zip(self.first, self.second, strict=True))

    def _one(self, first: int, second: int) -> int:
        c = self.command
        left = signed(first, 8) - c.first_zero_point
        right = signed(second, 8) - c.second_zero_point
        if c.opcode == ElementOpcode.ADD:
            scaled = scale(left << 20, c.first_multiplier, c.first_shift)
            total = signed(scaled + scale(right << 20, c.second_multiplier, c.second_shift), 32)
        else:
            total = left * right
        result = rounded_once if c.flags else scale
        value = result(total, c.result_multiplier, c.result_shift) + c.output_zero_point
        return max(c.activation_min, min(c.activation_max, value))


def signed(value: int, bits: int) -> int:
    """Return the lowest bits of a number as one with a sign."""
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def scale(value: int, multiplier: int, shift: int) -> int:
    """Scale with two roundings; the first one takes halves up, the second one away from zero."""
    product = Fraction(signed(value << max(shift, 0), 32) * multiplier, 1 << 31)
    high = min(int((product + Fraction(1, 2)).__floor__()), (1 << 31) - 1)
    size = int((Fraction(abs(high), 1 << max(-shift, 0)) + Fraction(1, 2)).__floor__())
    return -size if high < 0 else size


def random_elements(random: Random, opcode: ElementOpcode, most: int = 300) -> Elements:
    """Make operands of random length; many results are inside the range of int8.

    Half of the products are rounded once.
    Of some additions the scaled operands are so small that each rounding shows in the result.
    """
    count = random.choice((1, 2, random.randint(1, 40), random.randint(1, most)))
    add = opcode is ElementOpcode.ADD
    low, high = sorted(random.choices((-128, -128, -20, 0, 60, 127, 127), k=2))
    multipliers = [random.choice((1 << 30, random.randrange(1 << 30, 1 << 31))) for _ in range(3)]
    shifts = [random.choice((0, -1, -random.randrange(8))) for _ in range(2)]
    result = random.choice((-17, -18, -19, -20)) if add else random.choice((-5, -6, -7, -8))
    if add and random.random() < 0.2:
        shifts = [-random.randrange(18, 28) for _ in range(2)]
        result = random.choice((0, 1, 2))
    elif random.random() < 0.15:
        multipliers = [random.choice((0, 1, (1 << 31) - 1)) for _ in range(3)]
        shifts = [random.choice((0, -30, -31)) for _ in range(2)]
        result = random.choice((-31, -30, 0, 1, 29, 30))
    command = ElementDescriptor(
        opcode=opcode,
        first_address=0,
        output_address=0,
        second_address=0,
        second_address_again=0,
        elements=count,
        first_multiplier=multipliers[0] if add else 0,
        second_multiplier=multipliers[1] if add else 0,
        result_multiplier=multipliers[2],
        first_shift=shifts[0] if add else 0,
        second_shift=shifts[1] if add else 0,
        result_shift=result,
        first_zero_point=random.randint(-128, 127),
        second_zero_point=random.randint(-128, 127),
        output_zero_point=random.randint(-128, 127),
        flags=0 if add else random.getrandbits(1),
        activation_min=low,
        activation_max=high,
    )
    return Elements(random.randbytes(count), random.randbytes(count), command)


def place(program: Program, made: Elements, **changes: int) -> None:
    """Append a command; the result sometimes lies over an operand, or both operands are one."""
    random, result = program.random, made.result()
    first = program.load(made.first, program.tensor_alignment)
    second = program.load(made.second, program.tensor_alignment)
    over = random.choice((None, None, first, second))
    output = program.place(len(result), program.tensor_alignment) if over is None else over
    program.expected[output] = result
    addresses = {"first_address": first, "second_address": second}
    addresses |= {"second_address_again": second, "output_address": output}
    program.commands.append(replace(made.command, **{**addresses, **changes}).encode())


@cocotb.test()
@cocotb.parametrize(opcode=list(ElementOpcode), rest=[(0, 0), (0, 240), (60, 60), (200, 200)])
async def computes_what_exact_integers_say(
    dut: Any, opcode: ElementOpcode, rest: tuple[int, int]
) -> None:
    """Random commands give the right bytes and touch no others, also where writes take long."""
    system, random = await prepare(dut, f"{opcode} {rest}", *rest)
    for _ in range(parameter("Operators", 8)):
        program = system.program(random)
        place(program, random_elements(random, opcode))
        await ends_well(system, program)


@cocotb.test()
@cocotb.parametrize(rest=[0, 120])
async def works_among_other_commands(dut: Any, rest: int) -> None:
    """Commands over elements and over windows alternate in one list."""
    system, random = await prepare(dut, f"{rest}", rest)
    program = system.program(random)
    for opcode in Opcode:
        program.add(random_layer(random, opcode, 5))
        place(program, random_elements(random, random.choice(list(ElementOpcode))))
    await ends_well(system, program)


@cocotb.test()
@cocotb.parametrize(region=["first", "second", "output"], response=[SLAVE, DECODE])
async def stops_at_a_fault(dut: Any, region: str, response: int) -> None:
    """An error answer ends the list, with code and address; the next list runs as ever."""
    system, random = await prepare(dut, f"{region} {response}")
    elements = random_elements(random, ElementOpcode.ADD)
    long = replace(elements.command, elements=200)
    program = system.program(random)
    program.tensor_alignment = system.beat
    places = [program.load(random.randbytes(200), system.beat) for _ in range(2)]
    places.append(program.place(200, system.beat))
    program.expected[places[2]] = bytes(200)
    command = replace(
        long,
        first_address=places[0],
        second_address=places[1],
        second_address_again=places[1],
        output_address=places[2],
    )
    program.commands.append(command.encode())
    beats = range(0, 200 - system.beat, system.beat)
    victim = places[("first", "second", "output").index(region)] + random.choice(beats)
    again = system.program(random)
    place(again, random_elements(random, ElementOpcode.MUL))
    writes = region == "output"
    await stops_at(system, program, (victim, response), writes=writes, again=again)


ILLEGAL: dict[str, tuple[int, dict[str, int]]] = {
    **{
        f"reserved {word}": (BAD_FIELD, {f"reserved_{word}": 1}) for word in (9, 10, *range(12, 16))
    },
    "reserved bits of word 11": (BAD_FIELD, {"flags": 2}),
    "another second operand": (BAD_FIELD, {"second_address_again": 1}),
    "no element": (BAD_FIELD, {"elements": 0}),
    "empty activation range": (BAD_FIELD, {"activation_min": 5, "activation_max": 4}),
    **{f"result shift {value}": (BAD_FIELD, {"result_shift": value}) for value in (31, -32)},
    "version": (BAD_OPCODE, {"version": 2}),
    "check": (BAD_CHECK, {"check_flipped": 1}),
}
ILLEGAL_BY_OPCODE: dict[ElementOpcode, dict[str, tuple[int, dict[str, int]]]] = {
    ElementOpcode.ADD: {
        f"{name} {value}": (BAD_FIELD, {name: value})
        for name, values in {
            "first_shift": (1, -32),
            "second_shift": (1, -32),
            "first_multiplier": (-1,),
            "second_multiplier": (-(2**31),),
            "flags": (1,),
        }.items()
        for value in values
    },
    ElementOpcode.MUL: {
        name: (BAD_FIELD, {name: 1})
        for name in ("first_shift", "second_shift", "first_multiplier", "second_multiplier")
    },
}


@cocotb.test()
@cocotb.parametrize(opcode=list(ElementOpcode))
async def refuses_illegal_commands(dut: Any, opcode: ElementOpcode) -> None:
    """A field out of its range ends the list at that command."""
    system, random = await prepare(dut, f"{opcode}")

    def placed(program: Program, **changes: int) -> None:
        place(program, random_elements(random, opcode, 20), **changes)

    await refuses(system, random, placed, {**ILLEGAL, **ILLEGAL_BY_OPCODE[opcode]})


@cocotb.test()
async def keeps_the_port_busy(dut: Any) -> None:
    """With a memory that answers soon, an operand's step takes a cycle and little more."""
    random = Random(cocotb.RANDOM_SEED)
    system = System(dut)
    await system.start(0)
    program = system.program(random)
    program.tensor_alignment = 16
    elements = random_elements(random, ElementOpcode.ADD)
    command = replace(elements.command, elements=2048)
    place(program, Elements(random.randbytes(2048), random.randbytes(2048), command))
    ending = await ends_well(system, program)
    steps = 2 * 2048 // parameter("InputLanes", 8)
    dut._log.info(f"2048 elements in {ending.cycles} cycles, {steps} steps")
    # Answers that take many cycles delay bursts as short as those of turns.
    each = 1.2 if parameter("Latency", 1) < 10 else 2
    assert steps < ending.cycles < each * steps + 100
