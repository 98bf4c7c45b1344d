# SPDX-License-Identifier: Apache-2.0
"""The firewall lets through exactly the bytes of its windows and answers everything else."""

from random import Random
from typing import Any

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from tests.benches.bus import DECODE, OKAY, SLAVE, BusMaster, Request, parameter, start

BEAT = parameter("DataBytes")
BASE = 0x2000_0000
READABLE = range(BASE + 0x03, BASE + 0x7E)
WRITABLE = range(BASE + 0x22, BASE + 0x5F)


def span(first: int, last: int, data: int | None = None) -> Request:
    """Return the access to the bytes from `first` to `last`, which lie in one beat."""
    beat = first // BEAT * BEAT
    return Request(beat, (1 << last - beat + 1) - (1 << first - beat), data)


async def begin(dut: Any) -> None:
    """Leave reset with an idle master whose addresses are all of the bus."""
    dut.mst_mapped_i.value = 1
    await start(dut, "mst")


async def count_bus_requests(dut: Any, seen: list[int]) -> None:
    """Append the address of every request that comes out of the firewall."""
    while True:
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        if dut.bus_valid_o.value == 1:
            seen.append(int(dut.mst_addr_i.value))


@cocotb.test()
@cocotb.parametrize(
    (
        ("first", "last", "write", "good"),
        [
            (0x03, 0x03, False, True),
            (0x02, 0x02, False, False),
            (0x02, 0x07, False, False),
            (0x03, 0x07, False, True),
            (0x7D, 0x7D, False, True),
            (0x78, 0x7D, False, True),
            (0x7E, 0x7E, False, False),
            (0x78, 0x7F, False, False),
            (0x22, 0x22, True, True),
            (0x21, 0x21, True, False),
            (0x22, 0x27, True, True),
            (0x21, 0x27, True, False),
            (0x5E, 0x5E, True, True),
            (0x5F, 0x5F, True, False),
            (0x58, 0x5E, True, True),
            (0x58, 0x5F, True, False),
            (0x10, 0x17, True, False),
        ],
    )
)
async def knows_both_sides_of_each_edge(
    dut: Any, first: int, last: int, write: bool, good: bool
) -> None:
    """An access passes if and only if its first and its last byte are inside."""
    await begin(dut)
    request = span(BASE + first, BASE + last, 0x1122_3344_5566_7788 if write else None)
    seen: list[int] = []
    cocotb.start_soon(count_bus_requests(dut, seen))
    (answer,) = await BusMaster(dut, "mst").run([request])
    assert answer.response == (OKAY if good else DECODE)
    assert bool(seen) == good
    assert (dut.violated_o.value == 1) == (not good)
    if not good:
        assert answer.data == 0
        assert answer.answered == answer.accepted + 1
        assert int(dut.violation_addr_o.value) == BASE + first
        assert (dut.violation_we_o.value == 1) == write
        assert int(dut.violation_bus_o.value) == 0


@cocotb.test()
@cocotb.parametrize(address=[0, BASE - BEAT, BASE + 0x100, 0x1000_0000, 2**32 - BEAT])
async def blocks_what_is_far_away(dut: Any, address: int) -> None:
    """Addresses beyond all memories are answered as well."""
    await begin(dut)
    assert (await BusMaster(dut, "mst").read(address, 0xFF)).response == DECODE


@cocotb.test()
@cocotb.parametrize(write=[False, True])
async def blocks_what_has_no_place_on_the_bus(dut: Any, write: bool) -> None:
    """A window counts for addresses of the bus alone."""
    await begin(dut)
    at = BASE + 0x2A
    request = span(at, at, 7 if write else None)
    for mapped in (0, 1, 0):
        dut.mst_mapped_i.value = mapped
        (answer,) = await BusMaster(dut, "mst").run([request])
        assert answer.response == (OKAY if mapped else DECODE)
    assert int(dut.violation_addr_o.value) == at


@cocotb.test()
async def keeps_the_order_of_answers(dut: Any) -> None:
    """Denials wait for the answers of slower accesses; the first violation is kept."""
    await begin(dut)
    random = Random(cocotb.RANDOM_SEED)
    requests = []
    for _ in range(300):
        beat = BASE + random.randrange(0, 256, BEAT)
        first = random.randrange(BEAT)
        data = random.getrandbits(8 * BEAT) if random.random() < 0.4 else None
        requests.append(span(beat + first, beat + random.randrange(first, BEAT), data))
    shadow: dict[int, int] = {}
    answers = await BusMaster(dut, "mst").run(requests)
    violations = []
    for request, answer in zip(requests, answers, strict=True):
        touched = [request.address + i for i in range(BEAT) if request.enabled >> i & 1]
        window = READABLE if request.data is None else WRITABLE
        good = touched[0] in window and touched[-1] in window
        assert answer.response == (OKAY if good else DECODE)
        violations += [] if good else [touched[0]]
        for at in touched if good else []:
            lane = 8 * (at - request.address)
            if request.data is not None:
                shadow[at] = request.data >> lane & 0xFF
            elif at in shadow:
                assert answer.data >> lane & 0xFF == shadow[at]
    assert int(dut.violation_addr_o.value) == violations[0]


@cocotb.test()
async def forgets_when_told_and_keeps_the_next(dut: Any) -> None:
    """After a clear the firewall keeps the next blocked request instead of the first."""
    await begin(dut)
    master = BusMaster(dut, "mst")
    await master.run([span(BASE, BASE), span(BASE + 1, BASE + 1)])
    assert (int(dut.violated_o.value), int(dut.violation_addr_o.value)) == (1, BASE)
    dut.clear_i.value = 1
    await RisingEdge(dut.clk_i)
    dut.clear_i.value = 0
    await RisingEdge(dut.clk_i)
    assert int(dut.violated_o.value) == 0
    await master.run([span(BASE + 0x5F, BASE + 0x5F, 7)])
    assert (int(dut.violated_o.value), int(dut.violation_addr_o.value)) == (1, BASE + 0x5F)
    assert int(dut.violation_we_o.value) == 1


@cocotb.test()
@cocotb.parametrize(write=[False, True])
async def keeps_what_the_bus_fails(dut: Any, write: bool) -> None:
    """An error of the bus reads 0, reaches the master, and is kept with address and direction."""
    await begin(dut)
    master = BusMaster(dut, "mst")
    at = BASE + 0x2A
    await master.run([span(at, at, 0xFFFF_FFFF_FFFF_FFFF)])
    assert int(dut.violated_o.value) == 0
    dut.fail_i.value = 1
    (answer,) = await master.run([span(at, at, 0 if write else None)])
    assert (answer.response, answer.data) == (SLAVE, 0)
    dut.fail_i.value = 0
    kept = (dut.violated_o, dut.violation_addr_o, dut.violation_we_o, dut.violation_bus_o)
    assert tuple(int(each.value) for each in kept) == (1, at, write, 1)
    await master.run([span(BASE, BASE)])
    assert tuple(int(each.value) for each in kept) == (1, at, write, 1)
    dut.clear_i.value = 1
    await RisingEdge(dut.clk_i)
    dut.clear_i.value = 0
    await master.run([span(BASE, BASE)])
    assert tuple(int(each.value) for each in kept) == (1, BASE, 0, 0)
