# SPDX-License-Identifier: Apache-2.0
"""Independent peers of control ports: registers behind APB, OBI and Wishbone."""

from collections.abc import Iterator
from itertools import repeat
from random import Random
from typing import Any

from cocotb.triggers import RisingEdge
from cocotbext.apb import ApbBus, ApbDevice, APBPrivilegedErr
from cocotbext.obi import ObiBus, ObiDevice
from cocotbext.wishbone.monitor import WishboneSlave

ACKNOWLEDGED, FAILED = 1, 2
RUBBISH = 0xDEAD_BEEF
WISHBONE = {
    name: {"datwr": "dat_w", "datrd": "dat_r"}.get(name, name)
    for name in ("cyc", "stb", "we", "adr", "datwr", "datrd", "ack", "sel", "err")
}


def refused(address: int) -> bool:
    """Tell whether the register at `address` answers with an error."""
    return address // 4 % 5 == 3


class Registers:
    """Bytes of registers by address, 0 at first; the peers refuse some words."""

    def __init__(self) -> None:
        self.contents: dict[int, int] = {}

    def read(self, address: int) -> bytes:
        """Return the word at `address`."""
        return bytes(self.contents.get(address + i, 0) for i in range(4))

    def write(self, address: int, data: bytes, strobe: int) -> None:
        """Store the bytes of a word that `strobe` enables."""
        for i in (i for i in range(4) if strobe >> i & 1):
            self.contents[address + i] = data[i]


class ApbRegisters(ApbDevice):  # type: ignore[misc]
    """A completer of APB."""

    def __init__(self, dut: Any, registers: Registers) -> None:
        self.registers = registers
        super().__init__(ApbBus.from_prefix(dut, "m_apb"), dut.clk_i)

    async def _write(self, address: int, data: bytes, strb: Any = None, prot: Any = None) -> None:
        if refused(address):
            raise APBPrivilegedErr
        self.registers.write(address, data, int(strb.value))

    async def _read(self, address: int, length: int, prot: Any = None) -> bytes:
        if refused(address):
            raise APBPrivilegedErr
        return self.registers.read(address)


class ObiRegisters(ObiDevice):  # type: ignore[misc]
    """A subordinate of OBI; where it hesitates, so do its answers."""

    def __init__(self, dut: Any, registers: Registers) -> None:
        self.registers = registers
        super().__init__(ObiBus.from_prefix(dut, "m_obi"), dut.clk_i, max_outstanding=1)

    async def _process(self, *request: int) -> tuple[int, int, int]:
        for _ in range(self.delay):
            await RisingEdge(self.clock)
        told: tuple[int, int, int] = await super()._process(*request)
        return told

    async def _write(self, address: int, data: bytes, strb: Any = None) -> None:
        if refused(address):
            raise ValueError(f"no register at {address:#x}")
        self.registers.write(address, data, int(strb))

    async def _read(self, address: int, length: int) -> bytes:
        if refused(address):
            raise ValueError(f"no register at {address:#x}")
        return self.registers.read(address)


def wishbone_registers(dut: Any, registers: Registers, random: Random | None) -> WishboneSlave:
    """Return a slave of classic Wishbone cycles; `random` makes it hesitate."""

    def data() -> Iterator[int]:
        while True:
            address = int(dut.m_wb_adr.value)
            word = int.from_bytes(registers.read(address), "little")
            yield word if not refused(address) else RUBBISH

    def replies() -> Iterator[int]:
        while True:
            address = int(dut.m_wb_adr.value)
            if dut.m_wb_we.value == 1 and not refused(address):
                word = int(dut.m_wb_dat_w.value).to_bytes(4, "little")
                registers.write(address, word, int(dut.m_wb_sel.value))
            yield FAILED if refused(address) else ACKNOWLEDGED

    waits = repeat(0) if random is None else iter(lambda: random.choice((0, 0, 1, 5)), -1)
    return WishboneSlave(
        dut,
        "m_wb",
        dut.clk_i,
        signals_dict=WISHBONE,
        datgen=data(),
        ackgen=replies(),
        waitreplygen=waits,
    )


def connect(dut: Any, protocol: str, random: Random | None) -> Registers:
    """Put registers behind a port: ``apb``, ``obi`` or ``wb``; `random` makes them hesitate."""
    registers = Registers()
    if protocol == "wb":
        wishbone_registers(dut, registers, random)
        return registers
    peers: dict[str, Any] = {"apb": ApbRegisters, "obi": ObiRegisters}
    peer = peers[protocol](dut, registers)
    if random is not None:
        peer.enable_backpressure()
    return registers
