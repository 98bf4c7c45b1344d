# SPDX-License-Identifier: Apache-2.0
"""Independent masters of data ports: AXI4, AXI4-Lite, OBI and Wishbone.

Each has a method `run`, which makes accesses that do not depend on each other and returns how they
went. The master of pipelined Wishbone cycles is written from the specification (Wishbone B4): that
of cocotbext-wishbone waits for each answer before it starts the next beat.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from random import Random
from typing import Any, Protocol

import cocotb
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiMaster
from cocotbext.obi import ObiBus, ObiHost
from cocotbext.wishbone.driver import WBOp, WishboneMaster
from tests.benches.bus import OKAY, parameter
from tests.benches.bus_target import expected_response

ERROR = 1
ACKNOWLEDGED, FAILED = 1, 2
PATIENCE = 2000
EXACT = ("axi", "axil")
WISHBONE = {
    name: {"datwr": "dat_w", "datrd": "dat_r"}.get(name, name)
    for name in ("cyc", "stb", "we", "adr", "datwr", "datrd", "ack", "sel", "err")
}


@dataclass(frozen=True, slots=True)
class Access:
    """One access to the word at `address`, a multiple of the port's bytes.

    Attributes:
        enabled: a bit for each byte that takes part; of a read, all.
        data: what to write, or None for a read.
    """

    address: int
    enabled: int
    data: int | None = None


Outcome = tuple[int, int]
"""Response and data; where the protocol knows one error only, the response is `OKAY` or `ERROR`."""


class Port(Protocol):
    """A master at a data port."""

    async def run(self, accesses: Sequence[Access]) -> list[Outcome]:
        """Make `accesses` as fast as the port takes them."""


def expected(name: str, access: Access) -> int:
    """Return how an access through the port `name` must be answered."""
    response = expected_response(access.address, access.data is not None)
    return response if name in EXACT or response == OKAY else ERROR


class AxiPort:
    """AXI4 or AXI4-Lite, by cocotbext-axi."""

    def __init__(self, dut: Any, name: str, random: Random | None, late: bool = False) -> None:
        """Begin; `late` takes answers now and then only, as many as have come meanwhile."""
        bus, kind = {"axi": (AxiBus, AxiMaster), "axil": (AxiLiteBus, AxiLiteMaster)}[name]
        prefixed = bus.from_prefix(dut, f"s_{name}")
        self._master = kind(prefixed, dut.clk_i, dut.rst_ni, reset_active_level=False)
        self._identifiers = ({"awid": 0}, {"arid": 0}) if name == "axi" else ({}, {})
        writes, reads = self._master.write_if, self._master.read_if
        for channel in (
            *(writes.aw_channel, writes.w_channel, writes.b_channel),
            *(reads.ar_channel, reads.r_channel),
        ):
            if random is not None:
                pauses = cycle([random.random() < 0.4 for _ in range(97)])
                channel.set_pause_generator(pauses)
        for channel in (writes.b_channel, reads.r_channel) if late else ():
            channel.set_pause_generator(cycle([True] * 70 + [False] * 30))

    async def run(self, accesses: Sequence[Access]) -> list[Outcome]:
        tasks = [cocotb.start_soon(self._make(each)) for each in accesses]
        return [await task for task in tasks]

    async def stream(self, address: int, beats: int, *, writes: bool) -> None:
        """Read or write `beats` words one after another, in bursts where the protocol has them."""
        for_writes, for_reads = self._identifiers
        if writes:
            await self._master.write(address, bytes(beats * parameter("PortBytes")), **for_writes)
        else:
            await self._master.read(address, beats * parameter("PortBytes"), **for_reads)

    async def _make(self, access: Access) -> Outcome:
        width = parameter("PortBytes")
        for_writes, for_reads = self._identifiers
        if access.data is None:
            told = await self._master.read(access.address, width, **for_reads)
            return int(told.resp), int.from_bytes(told.data, "little")
        first = (access.enabled & -access.enabled).bit_length() - 1
        data = access.data.to_bytes(width, "little")[first : access.enabled.bit_length()]
        told = await self._master.write(access.address + first, data, **for_writes)
        return int(told.resp), 0


class ObiPort:
    """OBI, by cocotbext-obi."""

    def __init__(self, dut: Any, random: Random | None) -> None:
        self._host = ObiHost(ObiBus.from_prefix(dut, "s_obi"), dut.clk_i, max_outstanding=16)
        self._host.log.setLevel(logging.WARNING)
        if random is not None:
            self._host.enable_backpressure(req=True)

    async def run(self, accesses: Sequence[Access]) -> list[Outcome]:
        """Make `accesses`; the peer itself holds each error against the one that is expected."""
        host, width = self._host, parameter("PortBytes")
        numbers: list[int] = []
        for each in accesses:
            fails = expected("obi", each) != OKAY
            if each.data is None:
                number = host.read_nowait(each.address, error_expected=fails, length=width)
                numbers.append(number)
            else:
                data = each.data.to_bytes(width, "little")
                host.write_nowait(each.address, data, each.enabled, error_expected=fails)
                numbers.append(0)
        await host.wait()
        found = {number: data for data, number in host.queue_rx}
        host.queue_rx.clear()
        read = (int.from_bytes(found[number], "little") if number else 0 for number in numbers)
        return [(expected("obi", each), data) for each, data in zip(accesses, read, strict=True)]


class ClassicPort:
    """Wishbone with classic cycles, by cocotbext-wishbone."""

    def __init__(self, dut: Any, random: Random | None) -> None:
        self._random = random
        width = 8 * parameter("PortBytes")
        self._master = WishboneMaster(
            dut, "s_wb", dut.clk_i, timeout=PATIENCE, width=width, signals_dict=WISHBONE
        )

    async def run(self, accesses: Sequence[Access]) -> list[Outcome]:
        operations = [
            WBOp(
                adr=each.address,
                dat=each.data,
                sel=each.enabled,
                idle=self._random.choice((0, 0, 3)) if self._random else 0,
            )
            for each in accesses
        ]
        told = await self._master.send_cycle(operations)
        assert len(told) == len(accesses)
        return [(OKAY if each.ack == ACKNOWLEDGED else ERROR, int(each.datrd)) for each in told]


class PipelinedPort:
    """Wishbone with pipelined cycles."""

    def __init__(self, dut: Any, random: Random | None) -> None:
        self._dut = dut
        self._random = random
        for name in ("cyc", "stb", "we", "adr", "sel", "dat_w"):
            self._signal(name).value = 0

    def _signal(self, name: str) -> Any:
        return getattr(self._dut, f"s_wbp_{name}")

    async def run(self, accesses: Sequence[Access], give_up: int | None = None) -> list[Outcome]:
        """Make `accesses` in one cycle of the bus, and drop it after `give_up` clocks."""
        outcomes: list[Outcome] = []
        started, shown, clocks = 0, False, 0
        await RisingEdge(self._dut.clk_i)
        while len(outcomes) < len(accesses) and clocks != give_up:
            hesitates = self._random is not None and self._random.random() < 0.3
            shown = started < len(accesses) and (shown or not hesitates)
            self._drive(accesses[started] if shown else None)
            await RisingEdge(self._dut.clk_i)
            if outcome := self._outcome():
                assert len(outcomes) < started, "an answer to nothing"
                outcomes.append(outcome)
            if shown and self._signal("stall").value == 0:
                started, shown = started + 1, False
            clocks += 1
            assert clocks < PATIENCE, f"no answer after {outcomes}"
        self._signal("stb").value = 0
        self._signal("cyc").value = 0
        return outcomes

    def _drive(self, access: Access | None) -> None:
        self._signal("cyc").value = 1
        self._signal("stb").value = access is not None
        if access is not None:
            self._signal("we").value = access.data is not None
            self._signal("adr").value = access.address
            self._signal("sel").value = access.enabled
            self._signal("dat_w").value = access.data or 0

    def _outcome(self) -> Outcome | None:
        """Return what the port answers in the clock that ends."""
        acknowledged = self._signal("ack").value == 1
        failed = self._signal("err").value == 1
        assert not (acknowledged and failed)
        if not acknowledged and not failed:
            return None
        return (OKAY if acknowledged else ERROR), int(self._signal("dat_r").value)
