# SPDX-License-Identifier: Apache-2.0
"""Moves of rows on reef: as they are, through a table, of a value; among others, with faults."""

from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

import cocotb
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
from tests.benches.reef_program import Program
from tests.benches.reef_random import random_layer
from tests.benches.reef_system import System, parameter, prepare

from atoll_sim.engines.reef.descriptor import Opcode
from atoll_sim.engines.reef.elements import ElementOpcode
from atoll_sim.engines.reef.moves import FILLED, MAPPED, MoveDescriptor

WAYS = {"moved": 0, "mapped": MAPPED, "filled": FILLED}


@dataclass(frozen=True, slots=True)
class Rows:
    """Where the rows of a move begin, counted from the first byte of all of them.

    Attributes:
        counts: from the innermost on.
        pitches: bytes from one to the next; 0 or more.
        size: bytes of a row.
    """

    counts: tuple[int, int, int]
    pitches: tuple[int, int, int]
    size: int

    @property
    def starts(self) -> list[int]:
        """Where each row begins, in order."""
        inner, middle, outer = (
            [at * pitch for at in range(count)]
            for count, pitch in zip(self.counts, self.pitches, strict=True)
        )
        return [a + b + c for c in outer for b in middle for a in inner]

    @property
    def steps(self) -> tuple[int, int, int]:
        """How far it is from each last row to the next one, as commands say it."""
        starts = [*self.starts, 0]
        rows, planes = self.counts[0], self.counts[0] * self.counts[1]
        steps = (starts[at] - starts[at - 1] if at < len(starts) - 1 else 7 for at in (1, rows))
        first, second = steps
        third = starts[planes] - starts[planes - 1] if planes < len(starts) - 1 else 9
        return (first if rows > 1 else 5, second if self.counts[1] > 1 else 6, third)

    @property
    def span(self) -> int:
        """Bytes from the first to behind the last."""
        return max(self.starts) + self.size


def random_rows(random: Random, size: int, counts: tuple[int, int, int], together: bool) -> Rows:
    """Choose how rows lie that do not overlap, with gaps or without."""
    extent, pitches = size, []
    for count in counts:
        pitches.append(extent + (0 if together else random.choice((0, 1, 3, 8, 16))))
        extent = pitches[-1] * count
    return Rows(counts, (pitches[0], pitches[1], pitches[2]), size)


def place_move(program: Program, way: int, most: int = 60, **changes: int) -> None:
    """Append a move; rows may be read again and again, and the result may lie over the source."""
    random = program.random
    size = random.choice((1, 2, 8, random.randint(1, 20), random.randint(1, most)))
    counts = (random.choice((1, 1, 5)), random.choice((1, 3)), random.choice((1, 1, 2)))
    source, output = (random_rows(random, size, counts, random.random() < 0.5) for _ in range(2))
    if random.random() < 0.2:
        source = replace(source, pitches=(0, *source.pitches[1:]))
    data, table = random.randbytes(source.span), random.randbytes(256)
    rows = [data[at : at + size] for at in source.starts]
    if way == MAPPED:
        rows = [bytes(table[each] for each in row) for row in rows]
    value = random.randrange(256) if way == FILLED else 0
    if way == FILLED:
        rows = [bytes([value]) * size for _ in rows]
    base = program.load(data, program.tensor_alignment) if way != FILLED else -1
    over = way != FILLED and source == output and random.random() < 0.7
    target = base if over else program.place(output.span, program.tensor_alignment)
    for at, row in zip(output.starts, rows, strict=True):
        program.expected[target + at] = row
    base = target if way == FILLED else base
    at = program.load(table, 16) if way == MAPPED else base
    fields = zip(("", "_plane", "_space"), source.steps, output.steps, strict=True)
    command = MoveDescriptor(
        source_address=base,
        output_address=target,
        table_address=at,
        table_address_again=changes.get("table_address", at),
        row_bytes=size,
        rows=counts[0],
        planes=counts[1],
        spaces=counts[2],
        flags=way,
        value=value,
        **{
            f"{side}{name}_step": step & 0xFFFF_FFFF
            for name, *both in fields
            for side, step in zip(("source", "output"), both, strict=True)
            if side == "output" or way != FILLED
        },
    )
    program.commands.append(replace(command, **changes).encode())


@cocotb.test()
@cocotb.parametrize(way=list(WAYS), rest=[(0, 0), (0, 240), (60, 60), (200, 200)])
async def moves_what_rows_say(dut: Any, way: str, rest: tuple[int, int]) -> None:
    """Random commands give the right bytes and touch no others, also where writes take long."""
    system, random = await prepare(dut, f"{way} {rest}", *rest)
    for _ in range(parameter("Operators", 12)):
        program = system.program(random)
        place_move(program, WAYS[way])
        await ends_well(system, program)


@cocotb.test()
@cocotb.parametrize(rest=[0, 120])
async def works_among_other_commands(dut: Any, rest: int) -> None:
    """Moves, commands over elements and over windows alternate in one list."""
    system, random = await prepare(dut, f"{rest}", rest)
    program = system.program(random)
    for way, opcode in zip(WAYS.values(), Opcode, strict=True):
        place_move(program, way)
        program.add(random_layer(random, opcode, 5))
        place_move(program, way)
        place(program, random_elements(random, random.choice(list(ElementOpcode))))
    await ends_well(system, program)


@cocotb.test()
@cocotb.parametrize(region=["source", "table", "output"], response=[SLAVE, DECODE])
async def stops_at_a_fault(dut: Any, region: str, response: int) -> None:
    """An error answer ends the list, with code and address; the next list runs as ever."""
    rows = {"row_bytes": 48, "rows": 5, "source_step": 48, "output_step": 48}
    command = partial(MoveDescriptor, flags=MAPPED, **rows)
    await stops_in_rows(dut, (region, response), command, 256, partial(place_move, way=MAPPED))


ILLEGAL: dict[str, tuple[int, dict[str, int]]] = {
    **{f"reserved {word}": (BAD_FIELD, {f"reserved_{word}": 1}) for word in (14, 15)},
    "another table": (BAD_FIELD, {"table_address_again": 1}),
    **{f"no {name}": (BAD_FIELD, {name: 0}) for name in ("row_bytes", "rows", "planes", "spaces")},
    **{f"flag {bit}": (BAD_FIELD, {"flags": 1 << bit}) for bit in range(2, 8)},
    "mapped and filled": (BAD_FIELD, {"flags": 3}),
    "version": (BAD_OPCODE, {"version": 2}),
    "check": (BAD_CHECK, {"check_flipped": 1}),
}
STEPS = ("source_address", "source_step", "source_plane_step", "source_space_step")
ILLEGAL_BY_WAY: dict[str, dict[str, tuple[int, dict[str, int]]]] = {
    "moved": {"a table": (BAD_FIELD, {"table_address": 16}), "a value": (BAD_FIELD, {"value": 1})},
    "mapped": {
        "table off by 8": (MISALIGNED, {"table_address": 0x2000_0008}),
        "a value": (BAD_FIELD, {"value": 1}),
    },
    "filled": {
        "a table": (BAD_FIELD, {"table_address": 16}),
        **{name: (BAD_FIELD, {name: 1}) for name in STEPS},
    },
}


@cocotb.test()
@cocotb.parametrize(way=list(WAYS))
async def refuses_illegal_commands(dut: Any, way: str) -> None:
    """A field out of its range ends the list at that command."""
    system, random = await prepare(dut, f"{way}")

    def placed(program: Program, **changes: int) -> None:
        place_move(program, WAYS[way], 20, **changes)

    await refuses(system, random, placed, {**ILLEGAL, **ILLEGAL_BY_WAY[way]})


MEASURED = {"one row": (1, 2048), "many rows": (64, 32), "narrow rows": (128, 8)}
"""Rows, and bytes of each."""

SOON = 9
"""Cycles of a memory's latency for which reef asks ahead."""

WAITS = 12
"""How often it waits for the latency beyond that; there are up to 128 bursts."""


@cocotb.test()
@cocotb.parametrize(way=list(WAYS), name=list(MEASURED))
async def keeps_the_port_busy(dut: Any, way: str, name: str) -> None:
    """With a memory that answers soon, half a step takes a cycle, however short rows are."""
    random = Random(cocotb.RANDOM_SEED)
    system = System(dut)
    await system.start(0)
    rows, size = MEASURED[name]
    program = system.program(random)
    data, table = random.randbytes(rows * size), bytes(range(256))
    output = program.place(rows * (size + 16), 16)
    source = program.load(data, 16) if way != "filled" else output
    table_address = program.load(table, 16) if way == "mapped" else source
    for row in range(rows):
        part = data[row * size :][:size] if way != "filled" else bytes(size)
        program.expected[output + row * (size + 16)] = part
    command = MoveDescriptor(
        source_address=source,
        output_address=output,
        table_address=table_address,
        table_address_again=table_address,
        flags=WAYS[way],
        row_bytes=size,
        rows=rows,
        source_step=size if way != "filled" else 0,
        output_step=size + 16,
    )
    program.commands.append(command.encode())
    ending = await ends_well(system, program)
    steps = rows * -(-size // (parameter("InputLanes", 8) // 2))
    dut._log.info(f"{name} {way}: {ending.cycles} cycles, {steps} half steps")
    latency = parameter("Latency", 2)
    waits = latency * WAITS if latency > SOON else 0
    assert steps < ending.cycles < 1.05 * steps + 100 + waits
