# SPDX-License-Identifier: Apache-2.0
"""`atoll_view`: addresses of a master become those of the bus, or none."""

from random import Random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

ROM, RAM = range(0x10_0000), range(0x2000_0000, 0x2004_0000)
ROM_SEEN, RAM_SEEN = range(0x2002_0000, 0x2012_0000), range(0xFFFC_0000, 0x1_0000_0000)
EDGES = sorted(
    {
        (edge + by) % 2**32
        for span in (ROM, RAM, ROM_SEEN, RAM_SEEN)
        for edge in (span.start, span.stop)
        for by in (-8, -1, 0, 1, 8)
    }
)


def expected(address: int) -> tuple[int, bool]:
    """Return the address on the bus, and whether it is one."""
    for seen, memory in ((ROM_SEEN, ROM), (RAM_SEEN, RAM)):
        if address in seen:
            return memory[seen.index(address)], True
    return address, address not in ROM and address not in RAM


@cocotb.test()
async def translates_both_sides_of_each_edge(dut: Any) -> None:
    """Inside a view, beside it, and where the bus has what is seen elsewhere."""
    Clock(dut.clk_i, 10, unit="ns").start()
    dut.rst_ni.value = 0
    dut.valid_i.value = 0
    await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    dut.valid_i.value = 1
    random = Random(cocotb.RANDOM_SEED)
    mapped = set()
    for address in (*EDGES, *(random.getrandbits(32) for _ in range(2000))):
        dut.addr_i.value = address
        await RisingEdge(dut.clk_i)
        await RisingEdge(dut.clk_i)
        at, known = expected(address)
        assert (int(dut.addr_o.value), bool(int(dut.mapped_o.value))) == (at, known), hex(address)
        mapped.add(known)
    assert mapped == {False, True}
