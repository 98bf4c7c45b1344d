# SPDX-License-Identifier: Apache-2.0
"""Copies on ripple: every alignment, random shapes, slow memories, order and speed."""

from dataclasses import replace
from typing import Any

import cocotb
from tests.benches.list_checks import expect_clean
from tests.benches.reef_system import parameter, prepare
from tests.benches.ripple_program import Copies, some_copies


@cocotb.test()
async def copies_from_and_to_every_alignment(dut: Any) -> None:
    """Each place in a beat is left for and reached from each other, with rows of any length."""
    system, random = await prepare(dut, "alignment")
    room = max(160, 5 * system.beat)
    for source in range(system.beat):
        copies = Copies(random)
        for destination in range(system.beat):
            data = random.randbytes(random.randrange(1, 4 * system.beat))
            copies.add_at(
                copies.place(room, 64) + source, copies.place(room, 64) + destination, data
            )
        await expect_clean(system, copies.finish())


@cocotb.test()
@cocotb.parametrize(rest=[0, 30, 200])
async def copies_random_shapes(dut: Any, rest: int) -> None:
    """Lists of two-dimensional copies write exactly the rows, whatever the memory's pace."""
    system, random = await prepare(dut, f"random {rest}", rest)
    for _ in range(parameter("Lists", 12)):
        await expect_clean(system, some_copies(random, random.randrange(1, 6)))


@cocotb.test()
async def crosses_pages(dut: Any) -> None:
    """Rows over the edges of 4 KiB pages arrive whole."""
    system, random = await prepare(dut, "pages")
    copies = Copies(random, next_address=0x2000_0F80)
    copies.add(9000)
    copies.add(4096, 3)
    await expect_clean(system, copies.finish())


@cocotb.test()
async def repeats_a_row(dut: Any) -> None:
    """A source pitch of 0 reads one row for all."""
    system, random = await prepare(dut, "repeat")
    copies = Copies(random)
    data, base = random.randbytes(21), copies.place(5 * 40)
    copies.add_at(copies.place(21), base, data)
    copies.commands = [replace(copies.commands[0], rows=5, destination_pitch=40)]
    copies.expected = {base + row * 40: data for row in range(5)}
    await expect_clean(system, copies.finish())


@cocotb.test()
async def moves_a_beat_per_cycle(dut: Any) -> None:
    """A long copy takes hardly more cycles than it has beats when the memory never rests.

    With turns it takes them twice, and waits for the memory once for each filling of the queue.
    """
    system, random = await prepare(dut, "speed", 0)
    copies = Copies(random)
    copies.add(4096)
    copies.finish()
    ending = await system.run(copies)
    assert ending.clean
    beats, latency = 4096 // system.beat, parameter("Latency", 1)
    turns = parameter("Turns", 1)
    waits = turns * (beats / 32) * (2 * latency + 8)
    assert ending.cycles < beats * (1.2 + turns) + waits + 60 + 6 * latency
    assert not turns or ending.cycles > beats * 2
