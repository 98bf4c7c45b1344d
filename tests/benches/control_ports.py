# SPDX-License-Identifier: Apache-2.0
"""The host reaches independent APB, OBI and Wishbone devices through their control adapters."""

from itertools import pairwise
from random import Random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from tests.benches.bus import OKAY, SLAVE, Answer, BusMaster, Request, parameter
from tests.benches.control_peers import Registers, connect, refused

PROTOCOLS = ("apb", "obi", "wb")
ANSWERS = {
    "apb": ("pready", "prdata", "pslverr"),
    "obi": ("gnt", "rvalid", "rdata", "err"),
    "wb": ("ack", "dat_r", "err"),
}
BUSY = {"apb": ("psel", "penable"), "obi": ("req",), "wb": ("cyc", "stb")}
LATENCY = {"apb": 3, "obi": 3, "wb": 2}
ACCESSES = 250
LIMITED = cocotb.test(timeout_time=200, timeout_unit="us")
WORD = 0xF


async def start(dut: Any, protocol: str) -> BusMaster:
    """Leave reset with idle ports; return the master before the adapter of `protocol`."""
    Clock(dut.clk_i, 10, unit="ns").start()
    for each in PROTOCOLS:
        getattr(dut, f"{each}_valid_i").value = 0
        for signal in ANSWERS[each]:
            if each != protocol:
                getattr(dut, f"m_{each}_{signal}").value = 0
    await reset(dut)
    return BusMaster(dut, protocol)


async def reset(dut: Any) -> None:
    """Hold the reset for two cycles."""
    dut.rst_ni.value = 0
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


def answer(dut: Any, protocol: str, value: int) -> None:
    """Make a port say `value` to every access, in the first cycle in which it may; 0 is silence."""
    ready = {"apb": "pready", "obi": "gnt", "wb": "ack"}[protocol]
    for signal in ANSWERS[protocol]:
        getattr(dut, f"m_{protocol}_{signal}").value = 0
    getattr(dut, f"m_{protocol}_{ready}").value = value != 0
    data = {"apb": "prdata", "obi": "rdata", "wb": "dat_r"}[protocol]
    getattr(dut, f"m_{protocol}_{data}").value = value


async def answer_after_grants(dut: Any) -> None:
    """Answer each OBI request in the cycle after its grant."""
    granted = False
    while True:
        await FallingEdge(dut.clk_i)
        dut.m_obi_rvalid.value = int(granted and dut.rst_ni.value == 1)
        granted = dut.m_obi_req.value == 1 and dut.m_obi_gnt.value == 1 and dut.rst_ni.value == 1


@LIMITED
@cocotb.parametrize(protocol=PROTOCOLS, hesitant=[False, True])
async def reads_back_what_was_written(dut: Any, protocol: str, hesitant: bool) -> None:
    """Words and parts of words keep address and lane; what a device refuses is an error."""
    random = Random(cocotb.RANDOM_SEED)
    master = await start(dut, protocol)
    registers = connect(dut, protocol, random if hesitant else None)
    shadow = Registers()
    places = [random.randrange(0, 1 << parameter("AddrBits"), 4) for _ in range(40)]
    requests = [_request(random, random.choice(places)) for _ in range(ACCESSES)]
    for request, told in zip(requests, await master.run(requests), strict=True):
        _compare(request, told, shadow)
    assert registers.contents == shadow.contents


def _request(random: Random, address: int) -> Request:
    lane = address % parameter("DataBytes")
    enabled = random.choice((WORD, WORD, 0x1, 0x8, 0xC, 0x6))
    data = random.getrandbits(8 * parameter("DataBytes")) if random.random() < 0.5 else None
    return Request(address - lane, (enabled if data is not None else WORD) << lane, data)


def _compare(request: Request, told: Answer, shadow: Registers) -> None:
    """Hold an answer against what the device must hold; carry a write out in `shadow`."""
    lane = (request.enabled & -request.enabled).bit_length() - 1 & ~3
    address = request.address + lane
    if refused(address):
        assert (told.response, told.data) == (SLAVE, 0), f"{request}: {told}"
    elif request.data is None:
        word = int.from_bytes(shadow.read(address), "little")
        assert (told.response, told.data) == (OKAY, word << 8 * lane), f"{request}: {told}"
    else:
        assert told.response == OKAY, f"{request}: {told}"
        written = (request.data >> 8 * lane & 0xFFFF_FFFF).to_bytes(4, "little")
        shadow.write(address, written, request.enabled >> lane)


@LIMITED
@cocotb.parametrize(protocol=PROTOCOLS)
async def refuses_more_than_a_word(dut: Any, protocol: str) -> None:
    """An access that spans two words is an error and reaches no register."""
    master = await start(dut, protocol)
    registers = connect(dut, protocol, None)
    beat = parameter("DataBytes")
    for enabled in (0xFF, 0x18, (1 << beat) - 1, 1 | 1 << beat - 1):
        assert (await master.write(0, enabled, 0)).response == SLAVE
        assert (await master.read(0, enabled)).response == SLAVE
    assert not registers.contents
    assert (await master.write(0, 0xF0, 0)).response == OKAY
    assert registers.contents == dict.fromkeys(range(4, 8), 0)


@LIMITED
@cocotb.parametrize(protocol=PROTOCOLS)
async def survives_silence_and_resets(dut: Any, protocol: str) -> None:
    """A silent device is waited for until a reset, in whichever cycle; then all is well."""
    master = await start(dut, protocol)
    if protocol == "obi":
        cocotb.start_soon(answer_after_grants(dut))
    for cycles in (0, 1, 2, 3, 4, 50):
        answer(dut, protocol, 0)
        await FallingEdge(dut.clk_i)
        for name, value in (("valid", 1), ("addr", 8), ("be", WORD), ("we", cycles % 2)):
            getattr(dut, f"{protocol}_{name}_i").value = value
        for _ in range(cycles):
            await FallingEdge(dut.clk_i)
            getattr(dut, f"{protocol}_valid_i").value = 0
            assert getattr(dut, f"{protocol}_rvalid_o").value == 0
            assert getattr(dut, f"{protocol}_ready_o").value == 0
            assert getattr(dut, f"m_{protocol}_{BUSY[protocol][0]}").value == 1
        getattr(dut, f"{protocol}_valid_i").value = 0
        await reset(dut)
        for signal in BUSY[protocol]:
            assert getattr(dut, f"m_{protocol}_{signal}").value == 0
        answer(dut, protocol, 0xC0FFEE)
        told = await master.read(0, WORD)
        assert (told.response, told.data) == (OKAY, 0xC0FFEE)


@LIMITED
@cocotb.parametrize(protocol=PROTOCOLS)
async def takes_few_cycles(dut: Any, protocol: str) -> None:
    """Where the device is never slow, an access takes what docs/platform.md says."""
    master = await start(dut, protocol)
    answer(dut, protocol, 1)
    if protocol == "obi":
        cocotb.start_soon(answer_after_grants(dut))
    told = await master.run([Request(4 * i & ~7, WORD << 4 * (i % 2)) for i in range(8)])
    latency = LATENCY[protocol]
    assert [each.answered - each.accepted for each in told] == [latency] * len(told)
    gaps = {later.accepted - each.accepted for each, later in pairwise(told)}
    assert gaps == {latency + 1}
