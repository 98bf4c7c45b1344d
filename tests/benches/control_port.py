# SPDX-License-Identifier: Apache-2.0
"""The host reaches an independent AXI4-Lite device through the control adapter."""

from itertools import cycle, pairwise
from random import Random
from typing import Any

import cocotb
from cocotbext.axi import AxiLiteBus, AxiLiteRam, AxiLiteSlave
from tests.benches.bus import OKAY, SLAVE, BusMaster, Request, parameter, start


class Refusing:
    """A device that answers every access with an error."""

    async def read(self, address: int, length: int, **_: Any) -> bytes:
        """Refuse."""
        raise ValueError(f"no register at {address:#x} ({length} bytes)")

    async def write(self, address: int, data: bytes, **_: Any) -> None:
        """Refuse."""
        raise ValueError(f"no register at {address:#x} ({len(data)} bytes)")


def connect(dut: Any, device: type, **options: Any) -> Any:
    """Put an AXI4-Lite device at the adapter."""
    bus = AxiLiteBus.from_prefix(dut, "m_axil")
    return device(bus, dut.clk_i, dut.rst_ni, reset_active_level=False, **options)


@cocotb.test()
@cocotb.parametrize(hesitant=[False, True])
async def reads_back_what_was_written(dut: Any, hesitant: bool) -> None:
    """Words and parts of words go to their addresses and come back on their lanes."""
    beat, size = parameter("DataBytes"), 1 << parameter("AddrBits")
    ram = connect(dut, AxiLiteRam, size=size)
    random = Random(cocotb.RANDOM_SEED)
    if hesitant:
        for channel in (
            *(ram.write_if.aw_channel, ram.write_if.w_channel, ram.write_if.b_channel),
            *(ram.read_if.ar_channel, ram.read_if.r_channel),
        ):
            channel.set_pause_generator(cycle([random.random() < 0.5 for _ in range(31)]))
    await start(dut, "mst")
    master = BusMaster(dut, "mst")
    shadow = bytearray(size)
    ram.write(0, bytes(shadow))
    for _ in range(200):
        at, lane = random.randrange(0, size, beat), random.randrange(0, beat, 4)
        enabled = random.choice((0xF, 0xF, 0x1, 0x8, 0xC)) << lane
        if random.random() < 0.5:
            data = random.getrandbits(8 * beat)
            assert (await master.write(at, enabled, data)).response == OKAY
            for i in (i for i in range(beat) if enabled >> i & 1):
                shadow[at + i] = data >> 8 * i & 0xFF
        else:
            answer = await master.read(at, 0xF << lane)
            assert answer.response == OKAY
            word = answer.data >> 8 * lane & 0xFFFF_FFFF
            assert word == int.from_bytes(shadow[at + lane : at + lane + 4], "little")
    assert ram.read(0, size) == shadow


@cocotb.test()
async def refuses_more_than_a_word(dut: Any) -> None:
    """An access that spans two words is an error and reaches no register."""
    ram = connect(dut, AxiLiteRam, size=4096)
    await start(dut, "mst")
    master = BusMaster(dut, "mst")
    ram.write(0, b"\x11" * 8)
    assert (await master.write(0, 0xFF, 0)).response == SLAVE
    assert (await master.write(0, 0x18, 0)).response == SLAVE
    assert (await master.read(0, 0xFF)).response == SLAVE
    assert ram.read(0, 8) == b"\x11" * 8
    assert (await master.write(0, 0xF0, 0)).response == OKAY
    assert ram.read(0, 8) == b"\x11" * 4 + bytes(4)


@cocotb.test()
async def passes_errors_on(dut: Any) -> None:
    """What the device answers is what the host sees."""
    connect(dut, AxiLiteSlave, target=Refusing())
    await start(dut, "mst")
    master = BusMaster(dut, "mst")
    assert (await master.read(0x10, 0xF)).response == SLAVE
    assert (await master.write(0x10, 0xF, 1)).response == SLAVE


@cocotb.test()
@cocotb.parametrize(writes=[False, True])
async def takes_few_cycles(dut: Any, writes: bool) -> None:
    """Where the device is never slow, an access takes what docs/platform.md says."""
    for channel in ("arready", "awready", "wready", "rvalid", "bvalid"):
        getattr(dut, f"m_axil_{channel}").value = 1
    for signal in ("rdata", "rresp", "bresp"):
        getattr(dut, f"m_axil_{signal}").value = 0
    await start(dut, "mst")
    requests = [Request(0, 0xF, 0 if writes else None) for _ in range(8)]
    told = await BusMaster(dut, "mst").run(requests)
    assert {each.answered - each.accepted for each in told} == {3}
    assert {later.accepted - each.accepted for each, later in pairwise(told)} == {4}
