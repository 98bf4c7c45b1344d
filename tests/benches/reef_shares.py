# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX on reef, against the operator's reference: alone, among other commands, with faults."""

from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import cocotb
import numpy as np
from tests.benches.reef_checks import (
    BAD_CHECK,
    BAD_FIELD,
    BAD_OPCODE,
    DECODE,
    MISALIGNED,
    SLAVE,
    ends_well,
    refuses,
    stops_in_rows,
)
from tests.benches.reef_elements import place, random_elements
from tests.benches.reef_moves import WAYS, place_move
from tests.benches.reef_program import Program
from tests.benches.reef_random import random_layer
from tests.benches.reef_system import System, parameter, prepare

from atoll.ops.quantization import rdbp, srdhm
from atoll.ops.reductions.softmax import exponentials, input_scaling, reciprocal
from atoll_sim.engines.reef.descriptor import Opcode
from atoll_sim.engines.reef.elements import ElementOpcode
from atoll_sim.engines.reef.shares import ShareDescriptor

SCALES = (2.0**-20, 0.004, 0.02, 0.1, 0.3, 2.0, 1e6)


def shares(data: bytes, values: int, scale: float) -> tuple[bytes, bytes]:
    """Return the table for inputs of a scale, and what rows of so many values become."""
    rows = np.frombuffer(data, np.int8).astype(np.int64).reshape(-1, values)
    table = exponentials(*input_scaling(scale))
    powers = table[rows.max(axis=1, keepdims=True) - rows]
    inverse, exponent = reciprocal(rdbp(powers, 12).sum(axis=1, keepdims=True))
    made = np.minimum(rdbp(srdhm(inverse, powers), exponent + 23), 255) - 128
    return table.astype("<i4").tobytes(), made.astype(np.int8).tobytes()


def place_shares(program: Program, most: int = 60, **changes: int) -> None:
    """Append a command; the result may lie over the source."""
    random = program.random
    values, rows = random.choice((1, 2, 10, random.randint(1, most))), random.choice((1, 1, 2, 5))
    low, high = sorted(random.choices(range(-128, 128), k=2))
    data = bytes(random.randint(low, high) & 0xFF for _ in range(values * rows))
    table, result = shares(data, values, random.choice(SCALES))
    source = program.load(data, program.tensor_alignment)
    over = random.random() < 0.4
    output = source if over else program.place(len(result), program.tensor_alignment)
    program.expected[output] = result
    at = program.load(table, 16)
    command = ShareDescriptor(
        source_address=source,
        output_address=output,
        table_address=at,
        table_address_again=changes.get("table_address", at),
        values=values,
        rows=rows,
    )
    program.commands.append(replace(command, **changes).encode())


@cocotb.test()
@cocotb.parametrize(rest=[(0, 0), (0, 240), (60, 60), (200, 200)])
async def makes_what_the_reference_says(dut: Any, rest: tuple[int, int]) -> None:
    """Random commands give the right bytes and touch no others, also where writes take long."""
    system, random = await prepare(dut, f"{rest}", *rest)
    for _ in range(parameter("Operators", 6)):
        program = system.program(random)
        program.tensor_alignment = random.choice((1, 16))
        for most in (20, 60, 60, 400):
            place_shares(program, most)
        await ends_well(system, program)


ROWS: dict[str, tuple[bytes, int, tuple[float, ...]]] = {
    "one value": (bytes([129]), 1, SCALES[:4]),
    "every distance": (bytes(range(256)), 256, SCALES[:4]),
    "the longest row": (bytes(4095), 4095, SCALES[:4]),
    "terms that are rounded up to the least": (bytes([127] + [255] * 4094), 4095, (0.1055,)),
    "sums of two, some of which need all steps": (
        bytes(value for second in range(256) for value in (127, second)),
        2,
        (0.02, 0.03),
    ),
}
"""Values, of how many a row is made, and scales."""


@cocotb.test()
@cocotb.parametrize(name=list(ROWS))
async def takes_rows_of_any_length(dut: Any, name: str) -> None:
    """The longest rows, with the least and the greatest sums, and what is computed finely."""
    random = Random(cocotb.RANDOM_SEED)
    system = System(dut)
    await system.start()
    data, values, scales = ROWS[name]
    for scale in scales:
        program = system.program(random)
        table, result = shares(data, values, scale)
        source, at = program.load(data, 1), program.load(table, 16)
        output = program.place(len(data), 1)
        program.expected[output] = result
        command = ShareDescriptor(
            source_address=source,
            output_address=output,
            table_address=at,
            table_address_again=at,
            values=values,
            rows=len(data) // values,
        )
        program.commands.append(command.encode())
        await ends_well(system, program)


@cocotb.test()
@cocotb.parametrize(rest=[0, 120])
async def works_among_other_commands(dut: Any, rest: int) -> None:
    """Shares, moves, commands over elements and over windows alternate in one list."""
    system, random = await prepare(dut, f"{rest}", rest)
    program = system.program(random)
    for way, opcode in zip(WAYS.values(), Opcode, strict=True):
        place_move(program, way)
        place_shares(program)
        program.add(random_layer(random, opcode, 5))
        place_shares(program)
        place(program, random_elements(random, random.choice(list(ElementOpcode))))
    await ends_well(system, program)


@cocotb.test()
@cocotb.parametrize(region=["source", "table", "output"], response=[SLAVE, DECODE])
async def stops_at_a_fault(dut: Any, region: str, response: int) -> None:
    """An error answer ends the list, with code and address; the next list runs as ever."""
    command = partial(ShareDescriptor, values=48, rows=5)
    await stops_in_rows(dut, (region, response), command, 1024, place_shares)


ILLEGAL: dict[str, tuple[int, dict[str, int]]] = {
    **{f"reserved {word}": (BAD_FIELD, {f"reserved_{word}": 1}) for word in range(6, 16)},
    **{f"high bits of {word}": (BAD_FIELD, {f"reserved_{word}": 1 << 31}) for word in (7, 10, 13)},
    "flags": (BAD_FIELD, {"reserved_7": 1 << 16}),
    "another table": (BAD_FIELD, {"table_address_again": 1}),
    "table off by 8": (MISALIGNED, {"table_address": 0x2000_0008}),
    "no values": (BAD_FIELD, {"values": 0}),
    "too many values": (BAD_FIELD, {"values": 4096}),
    "no rows": (BAD_FIELD, {"rows": 0}),
    "version": (BAD_OPCODE, {"version": 2}),
    "check": (BAD_CHECK, {"check_flipped": 1}),
}


@cocotb.test()
async def refuses_illegal_commands(dut: Any) -> None:
    """A field out of its range ends the list at that command."""
    random = Random(cocotb.RANDOM_SEED)
    system = System(dut)
    await system.start(30)

    def placed(program: Program, **changes: int) -> None:
        place_shares(program, 20, **changes)

    await refuses(system, random, placed, ILLEGAL)


MEASURED = ((1, 2), (1, 12), (1, 1000), (50, 12))
"""Rows, and values of each."""


@cocotb.test()
@cocotb.parametrize(size=list(MEASURED))
async def takes_a_value_in_three_cycles(dut: Any, size: tuple[int, int]) -> None:
    """With a memory that answers soon, a value takes a cycle each of three times."""
    random = Random(cocotb.RANDOM_SEED)
    system = System(dut)
    await system.start()
    rows, values = size
    program = system.program(random)
    table, result = shares(data := random.randbytes(rows * values), values, 0.1)
    source, at = program.load(data, 16), program.load(table, 16)
    output = program.place(len(data), 16)
    program.expected[output] = result
    command = ShareDescriptor(
        source_address=source,
        output_address=output,
        table_address=at,
        table_address_again=at,
        values=values,
        rows=rows,
    )
    program.commands.append(command.encode())
    ending = await ends_well(system, program)
    steps = 3 * rows * values
    dut._log.info(f"{rows} rows of {values}: {ending.cycles} cycles, {steps} steps")
    assert steps < ending.cycles < steps + 60 * rows + 250
