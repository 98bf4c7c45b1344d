# SPDX-License-Identifier: Apache-2.0
"""Memories keep what they are given, in the time their description promises, in order."""

from random import Random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles
from tests.benches.bus import OKAY, SLAVE, Answer, BusMaster, Request, parameter, start

RAM, ROM = 0x2000_0000, 0x0000_0000
SIZE = 4096
ROM_LATENCY = 5
TIMEOUT = 128


async def two_masters(dut: Any) -> tuple[BusMaster, BusMaster]:
    """Leave reset with two idle masters."""
    dut.deaf_i.value = 0
    dut.mute_i.value = 0
    await start(dut, "a", "b")
    return BusMaster(dut, "a"), BusMaster(dut, "b")


def everything() -> int:
    """Return the enable bits of a whole beat."""
    return (1 << parameter("DataBytes")) - 1


def steps(enabled: int) -> int:
    """Return the words of the ram in which a beat has bytes."""
    word = parameter("WordBytes")
    return sum(
        bool(enabled >> at & (1 << word) - 1) for at in range(0, parameter("DataBytes"), word)
    )


def random_requests(random: Random, origin: int, count: int) -> list[Request]:
    """Return reads and writes of random bytes within half of a memory at `origin`."""
    width = parameter("DataBytes")
    return [
        Request(
            origin + width * random.randrange(SIZE // 2 // width),
            random.randrange(1, 1 << width),
            random.getrandbits(8 * width) if random.random() < 0.5 else None,
        )
        for _ in range(count)
    ]


def check(requests: list[Request], answers: list[Answer]) -> None:
    """Hold the answers against a dictionary of bytes."""
    shadow: dict[int, int] = {}
    for request, answer in zip(requests, answers, strict=True):
        assert answer.response == OKAY
        for lane in range(parameter("DataBytes")):
            at = request.address + lane
            if not request.enabled >> lane & 1:
                continue
            if request.data is not None:
                shadow[at] = request.data >> 8 * lane & 0xFF
            elif at in shadow:
                assert answer.data >> 8 * lane & 0xFF == shadow[at], f"at {at:#x}"


@cocotb.test()
async def remembers_every_byte(dut: Any) -> None:
    """Two masters write and read their halves of the ram at once, without a mix-up."""
    first, second = await two_masters(dut)
    random = Random(cocotb.RANDOM_SEED)
    low = random_requests(random, RAM, 400)
    high = random_requests(random, RAM + SIZE // 2, 400)
    other = cocotb.start_soon(second.run(high))
    check(low, await first.run(low))
    check(high, await other)


@cocotb.test()
async def takes_a_cycle_for_each_word(dut: Any) -> None:
    """A beat wider than a bank costs one cycle per word; the answer follows after the latency."""
    first, _ = await two_masters(dut)
    width = parameter("DataBytes")
    enables = [everything(), 1, 1 << width - 1, everything() & ~1, 0b11 << width // 2 - 1]
    requests = [Request(RAM + width * i, enables[i % 5]) for i in range(40)]
    answers = await first.run(requests)
    begun = 0
    for request, answer in zip(requests, answers, strict=True):
        begun += steps(request.enabled)
        assert answer.accepted == begun - 1
        assert answer.answered == answer.accepted + parameter("ReadLatency")


@cocotb.test()
async def shares_a_bank_fairly(dut: Any) -> None:
    """Two masters at one bank each get every other cycle; at two banks, every cycle."""
    first, second = await two_masters(dut)
    row = parameter("WordBytes") * parameter("NumBanks")
    for offset, share in ((0, 2), (parameter("WordBytes"), 2 if parameter("NumBanks") == 1 else 1)):
        width = parameter("DataBytes")
        enabled = (1 << parameter("WordBytes")) - 1
        beat, lane = divmod(offset, width)
        near = [Request(RAM + max(row, width) * (i % 4), enabled) for i in range(50)]
        far = [
            Request(RAM + max(row, width) * (i % 4) + beat * width, enabled << lane)
            for i in range(50)
        ]
        other = cocotb.start_soon(second.run(far))
        answers = await first.run(near)
        await other
        taken = answers[-1].accepted - answers[0].accepted + 1
        assert abs(taken - 50 * share) <= 2, f"{taken} cycles"


@cocotb.test()
async def refuses_writes_to_rom(dut: Any) -> None:
    """A write to the rom is answered with an error and changes nothing."""
    first, _ = await two_masters(dut)
    before = await first.read(ROM, everything())
    refused = await first.write(
        ROM, everything(), ~before.data & (1 << 8 * parameter("DataBytes")) - 1
    )
    after = await first.read(ROM, everything())
    assert (before.response, refused.response, after.response) == (OKAY, SLAVE, OKAY)
    assert before.data == after.data


@cocotb.test()
async def keeps_order_between_memories(dut: Any) -> None:
    """A slow answer is never overtaken by a fast one."""
    first, second = await two_masters(dut)
    random = Random(cocotb.RANDOM_SEED)
    requests = [
        Request(
            random.choice((RAM, ROM)) + parameter("DataBytes") * random.randrange(8), everything()
        )
        for _ in range(200)
    ]
    other = cocotb.start_soon(second.run(requests))
    answers = await first.run(requests)
    await other
    assert [a.answered for a in answers] == sorted({a.answered for a in answers})
    for request, answer in zip(requests, answers, strict=True):
        latency = parameter("ReadLatency") if request.address >= RAM else ROM_LATENCY
        assert answer.answered == answer.accepted + latency


@cocotb.test()
async def waits_for_a_slow_memory(dut: Any) -> None:
    """A memory that takes a beat in the last cycle before the time-out is only slow."""
    first, second = await two_masters(dut)
    dut.deaf_i.value = 1
    wait = cocotb.start_soon(first.write(RAM, everything(), 5))
    await ClockCycles(dut.clk_i, TIMEOUT - steps(everything()))
    dut.deaf_i.value = 0
    assert (await wait).response == OKAY
    assert (await second.read(RAM, everything())).data == 5


@cocotb.test()
@cocotb.parametrize(fault=["deaf_i", "mute_i"])
async def gives_a_silent_memory_up(dut: Any, fault: str) -> None:
    """What a memory owes, and all that is asked of it later, are errors; the other one works."""
    first, second = await two_masters(dut)
    assert (await first.write(RAM, everything(), 1)).response == OKAY
    getattr(dut, fault).value = 1
    requests = [Request(RAM + parameter("DataBytes") * i, everything()) for i in range(4)]
    answers = await first.run([*requests, Request(ROM, everything())])
    assert [(a.response, a.data) for a in answers[:4]] == [(SLAVE, 0)] * 4
    assert answers[0].answered > TIMEOUT
    assert answers[3].answered == answers[0].answered + 3
    assert answers[4].response == OKAY
    getattr(dut, fault).value = 0
    assert (await first.read(RAM, everything())).response == SLAVE
    assert (await second.read(RAM, everything())).data == 1
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    dut.rst_ni.value = 1
    assert (await first.read(RAM, everything())).data == 1
