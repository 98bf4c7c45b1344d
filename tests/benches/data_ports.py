# SPDX-License-Identifier: Apache-2.0
"""Independent masters of all kinds reach a memory through their adapters and the merge."""

from collections.abc import Sequence
from itertools import chain, pairwise
from random import Random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge
from tests.benches.bus import OKAY, parameter
from tests.benches.bus_target import BusTarget, Taken, cycles_per_beat
from tests.benches.data_peers import (
    Access,
    AxiPort,
    ClassicPort,
    ObiPort,
    Outcome,
    PipelinedPort,
    Port,
    expected,
)
from tests.benches.data_signals import ANSWER, PORTS, REGION, region, silence, wishes

MAKE: dict[str, type[ObiPort | ClassicPort | PipelinedPort]] = {
    "obi": ObiPort,
    "wb": ClassicPort,
    "wbp": PipelinedPort,
}
BATCHES, BATCH = 8, 24
LATE = 40
BEATS = 64
LIMITED = cocotb.test(timeout_time=200, timeout_unit="us")
READ_LATENCY = {"axi": 3, "axil": 2, "obi": 1, "wb": 1, "wbp": 2}
WRITE_LATENCY = READ_LATENCY | {"axil": 3}
PACE = {"axi": 1, "axil": 1, "obi": 1, "wb": 2, "wbp": 1}


async def start(dut: Any, target: BusTarget) -> None:
    """Leave reset; all masters are silent."""
    Clock(dut.clk_i, 10, unit="ns").start()
    silence(dut)
    await reset(dut, target)


async def reset(dut: Any, target: BusTarget) -> None:
    """Hold the reset for two cycles; the memory forgets what is under way."""
    dut.rst_ni.value = 0
    await FallingEdge(dut.clk_i)
    target.forget()
    await FallingEdge(dut.clk_i)
    target.forget()
    dut.rst_ni.value = 1


def master(dut: Any, name: str, random: Random | None) -> Port:
    """Return the independent master of the port `name`; `random` makes it hesitate."""
    return AxiPort(dut, name, random) if name in ("axi", "axil") else MAKE[name](dut, random)


def draw(name: str, random: Random, count: int) -> list[Access]:
    """Return accesses to words of which no two are the same, in the port's own region."""
    width = parameter("PortBytes")
    words = random.sample(range(0, REGION, width), count)
    return [_access(name, region(name) + word, random) for word in words]


def _access(name: str, address: int, random: Random) -> Access:
    width = parameter("PortBytes")
    whole = (1 << width) - 1
    if random.random() < 0.5:
        return Access(address, whole)
    first, last = sorted(random.choices(range(width), k=2))
    enabled = whole >> width - 1 - last + first << first
    if name not in ("axi", "axil") and random.random() < 0.5:
        enabled = random.getrandbits(width) or whole
    return Access(address, enabled, random.getrandbits(8 * width))


def compare(
    name: str,
    accesses: Sequence[Access],
    outcomes: Sequence[Outcome],
    shadow: dict[int, int],
) -> None:
    """Hold outcomes against what memory must hold, and carry the writes out in `shadow`."""
    width = parameter("PortBytes")
    for access, (response, data) in zip(accesses, outcomes, strict=True):
        assert response == expected(name, access), f"{name}: {access}: response {response}"
        if response != OKAY:
            continue
        if access.data is None:
            word = bytes(shadow.get(access.address + i, 0) for i in range(width))
            assert data == int.from_bytes(word, "little"), f"{name}: {access}: {data:#x}"
        else:
            lanes = (i for i in range(width) if access.enabled >> i & 1)
            shadow |= {access.address + i: access.data >> 8 * i & 0xFF for i in lanes}


async def exercise(name: str, port: Port, random: Random, batches: int) -> dict[int, int]:
    """Make batches of accesses to a region over and over; return what it must hold then."""
    shadow: dict[int, int] = {}
    regular = draw(name, random, 2 * BATCH)
    for _ in range(batches):
        accesses = [_access(name, each.address, random) for each in random.sample(regular, BATCH)]
        compare(name, accesses, await port.run(accesses), shadow)
    return shadow


@LIMITED
@cocotb.parametrize(name=PORTS, hesitant=[False, True])
async def carries_every_byte(dut: Any, name: str, hesitant: bool) -> None:
    """Words, parts of words and errors arrive as they are."""
    random = Random(cocotb.RANDOM_SEED + PORTS.index(name))
    target = BusTarget(dut, random if hesitant else None)
    await start(dut, target)
    port = master(dut, name, random if hesitant else None)
    shadow = await exercise(name, port, random, BATCHES)
    assert target.contents == shadow


@LIMITED
@cocotb.parametrize(hesitant=[False, True])
async def shares_the_bus(dut: Any, hesitant: bool) -> None:
    """All masters at once: each answer goes to whom it belongs."""
    random = Random(cocotb.RANDOM_SEED)
    target = BusTarget(dut, random if hesitant else None, latency=LATE)
    await start(dut, target)
    ports = {name: master(dut, name, random if hesitant else None) for name in PORTS}
    tasks = [
        cocotb.start_soon(exercise(name, port, random, 2 * BATCHES)) for name, port in ports.items()
    ]
    shadow: dict[int, int] = {}
    for task in tasks:
        shadow |= await task
    assert target.contents == shadow


@LIMITED
async def waits_for_a_slow_memory(dut: Any) -> None:
    """Where answers come late, and are taken late, no port has more beats under way than it may."""
    random = Random(cocotb.RANDOM_SEED)
    target = BusTarget(dut, latency=LATE)
    await start(dut, target)
    shadow: dict[int, int] = {}
    for name in PORTS:
        axi = name in ("axi", "axil")
        port: Port = AxiPort(dut, name, None, late=True) if axi else MAKE[name](dut, None)
        shadow |= await exercise(name, port, random, 2)
    assert target.contents == shadow


@LIMITED
@cocotb.parametrize(name=["wb", "wbp"])
async def ignores_what_is_in_no_cycle(dut: Any, name: str) -> None:
    """Without `cyc` there is no beat, whatever `stb` is."""
    target = BusTarget(dut)
    await start(dut, target)
    for signal, value in wishes(name):
        getattr(dut, f"s_{signal}").value = value
    getattr(dut, f"s_{name}_cyc").value = 0
    for _ in range(8):
        await FallingEdge(dut.clk_i)
        assert dut.valid_o.value == 0
    assert not target.taken


@LIMITED
@cocotb.parametrize(name=PORTS, writes=[False, True])
async def keeps_the_pace(dut: Any, name: str, writes: bool) -> None:
    """Where memory is never slow, a beat passes in each cycle; in classic Wishbone, in two."""
    target = BusTarget(dut)
    await start(dut, target)
    port = master(dut, name, None)
    width = parameter("PortBytes")
    whole, data = (1 << width) - 1, 0 if writes else None
    if isinstance(port, AxiPort):
        await port.stream(region(name), BEATS, writes=writes)
    else:
        places = range(region(name), region(name) + BEATS * width, width)
        await port.run([Access(each, whole, data) for each in places])
    assert len(target.taken) == BEATS
    pace = cycles_per_beat(target, lambda each: each.writes == writes)
    assert pace == PACE[name], f"{pace} cycles per beat"


@LIMITED
async def serves_all_ports_alike(dut: Any) -> None:
    """Four ports that always want a beat get a fourth of the cycles each."""
    target = BusTarget(dut)
    await start(dut, target)
    greedy = ("axi", "axil", "obi", "wbp")
    for signal, value in chain(*(wishes(name, writes=False) for name in greedy)):
        getattr(dut, f"s_{signal}").value = value
    for _ in range(60):
        await FallingEdge(dut.clk_i)
    steady = target.taken[-40:]
    assert steady[-1].cycle - steady[0].cycle == len(steady) - 1
    shares = [sum(_port_of(each) == name for each in steady) for name in greedy]
    assert shares == [len(steady) // len(greedy)] * len(greedy)


@LIMITED
@cocotb.parametrize(name=["axi", "axil"])
async def serves_reads_and_writes_alike(dut: Any, name: str) -> None:
    """Reads and writes that never end get every other cycle each."""
    target = BusTarget(dut)
    await start(dut, target)
    for signal, value in wishes(name):
        getattr(dut, f"s_{signal}").value = value
    for _ in range(60):
        await FallingEdge(dut.clk_i)
    steady = [each.writes for each in target.taken[-40:]]
    assert all(each != later for each, later in pairwise(steady))


def _port_of(taken: Taken) -> str:
    return PORTS[(taken.address - region(PORTS[0])) // REGION]


@LIMITED
async def begins_anew_after_a_reset(dut: Any) -> None:
    """A reset in the middle of everything leaves nothing behind."""
    random = Random(cocotb.RANDOM_SEED)
    target = BusTarget(dut, random)
    await start(dut, target)
    for _ in range(12):
        for name, value in chain(*(wishes(port) for port in PORTS)):
            getattr(dut, f"s_{name}").value = value
        for _ in range(random.randrange(1, 25)):
            await FallingEdge(dut.clk_i)
        silence(dut)
        await reset(dut, target)
        for _ in range(4):
            await ReadOnly()
            assert dut.valid_o.value == 0
            for name in chain(*ANSWER.values()):
                assert getattr(dut, f"s_{name}").value == 0
            await FallingEdge(dut.clk_i)
    target.contents.clear()
    shadow: dict[int, int] = {}
    for name in PORTS:
        shadow |= await exercise(name, master(dut, name, random), random, 1)
    assert target.contents == shadow


@LIMITED
@cocotb.parametrize(name=PORTS, writes=[False, True])
async def adds_few_cycles(dut: Any, name: str, writes: bool) -> None:
    """Where memory answers in the next cycle, the port does when docs/platform.md says."""
    target = BusTarget(dut)
    await start(dut, target)
    await RisingEdge(dut.clk_i)
    for signal, value in wishes(name, reads=not writes, writes=writes):
        getattr(dut, f"s_{signal}").value = value
    cycles = -1
    while cycles < 0 or not any(getattr(dut, f"s_{each}").value == 1 for each in ANSWER[name]):
        await RisingEdge(dut.clk_i)
        cycles += 1
    assert cycles == (WRITE_LATENCY if writes else READ_LATENCY)[name]


@LIMITED
async def forgets_what_was_given_up(dut: Any) -> None:
    """Answers to beats of a dropped Wishbone cycle never reach the next one."""
    random = Random(cocotb.RANDOM_SEED)
    target = BusTarget(dut, random)
    await start(dut, target)
    port = PipelinedPort(dut, None)
    width = parameter("PortBytes")
    words = (Access(region("wbp") + i * width, 1, 0) for i in range(32))
    places = [each.address for each in words if expected("wbp", each) == OKAY][:16]
    whole = (1 << width) - 1
    values = {each: random.getrandbits(8 * width) for each in places}
    await port.run([Access(each, whole, value) for each, value in values.items()])
    for clocks in range(1, 30):
        await port.run([Access(each, whole) for each in places], give_up=clocks)
        chosen = random.sample(places, 3)
        told = await port.run([Access(each, whole) for each in chosen])
        assert told == [(OKAY, values[each]) for each in chosen], f"given up after {clocks}"
