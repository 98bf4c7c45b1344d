# SPDX-License-Identifier: Apache-2.0
"""Make the accesses of a host that is not on the chip, and run accelerators for it.

The process that started this one sends a `Job` at a time through a socket and gets a `Report`.
"""

import os
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import cocotb
from cocotb.triggers import First, Timer

from atoll_sim.host.external import SOCKET, Do, End, Job, Report
from atoll_sim.model.monitors import Model
from atoll_sim.protocol.records import RESET_CYCLES

ASK_CYCLES = 16
"""After which a register is read again; after more of them where it has taken long already."""

LONG, ASK_SELDOM = 10**6, 1024

SETTLE_CYCLES = 4096
"""After the last access, in which an interrupt line that was taken back has to fall."""

START_CYCLES = 6
"""From the end of the reset to the first access."""


class Host:
    """The chip's host port."""

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self.awaited: tuple[Do, int] | None = None
        self._toggle = 0

    async def access(self, address: int, value: int | None = None) -> int:
        """Write a register, or read it if there is no value; errors read as 0."""
        self._dut.host_we_i.value = value is not None
        self._dut.host_addr_i.value = address
        self._dut.host_wdata_i.value = value or 0
        self._toggle ^= 1
        self._dut.host_toggle_i.value = self._toggle
        await self._dut.host_done_o.value_change
        return int(self._dut.host_rdata_o.value)

    async def until(self, do: Do, job: Job, model: Model) -> bool:
        """Read a register until it is as it shall be; False if patience runs out first."""
        begin, waited = model.cycle(), 0
        while waited < job.max_cycles:
            found = await self.access(do.address)
            if found & do.mask == do.equals:
                return True
            self.awaited = do, found
            # Half a cycle more: an access that begins with an edge of the clock would be lost by
            # an adapter that rests, whose clock has not begun.
            cycles = ASK_CYCLES if waited < LONG else ASK_SELDOM
            await Timer(cycles * job.cycle_time + job.cycle_time // 2, "ps")
            waited = model.cycle() - begin
        return False

    async def reset(self, cycle_time: int) -> None:
        """Reset the whole chip but its memories."""
        self._dut.rst_ni.value = 0
        self._dut.host_toggle_i.value = self._toggle = 0
        await Timer(RESET_CYCLES * cycle_time, "ps")
        self._dut.rst_ni.value = 1
        await Timer(START_CYCLES * cycle_time, "ps")

    async def interrupt(self, line: int, patience: Timer) -> bool:
        """Wait until an interrupt line is high; False if patience runs out first."""
        while not int(self._dut.host_irq_o.value) >> line & 1:
            if await First(self._dut.host_irq_o.value_change, patience) is patience:
                return False
        return True


async def cut_short(host: Host, model: Model, job: Job, until: int) -> None:
    """Begin a job and reset the chip at a cycle, or once an access that is under way then ends."""
    for do in job.start:
        if (left := until - model.cycle()) <= 0:
            break
        if do.mask:
            await host.until(do, replace(job, max_cycles=left), model)
        else:
            await host.access(do.address, do.value)
    # A quarter of a cycle more, as in `until`: what follows begins with no edge of the clock.
    left = max(0, until - model.cycle())
    await Timer(left * job.cycle_time + job.cycle_time // 4, "ps")
    await host.reset(job.cycle_time)


async def run_job(host: Host, model: Model, job: Job) -> Report:
    """Do all of one job."""
    for address in job.look:
        await host.access(address)
    for address, data in job.before.items():
        model.poke(address, data)
    # A list counts from its start; a program from its first step.
    begin, ended, taken = model.cycle(), True, list[int]()
    if job.reset is not None:
        await cut_short(host, model, job, begin + job.reset)
    for do in job.start if job.reset is None else ():
        if not ended:
            break
        if do.mask:
            ended = await host.until(do, job, model)
        elif (found := await host.access(do.address, do.value)) is not None and do.value is None:
            taken.append(found)
    if ended and job.irq is not None:
        begin = model.cycle()
        host.awaited = None
        ended = await host.interrupt(job.irq, Timer(job.max_cycles * job.cycle_time, "ps"))
    cycles = model.cycle() - begin
    registers = [await host.access(address) for address in job.read]
    for address, value in job.finish:
        await host.access(address, value)
    model.close_phase()
    return Report(
        ended=ended,
        awaited=None if ended else host.awaited,
        taken=tuple(taken),
        registers=tuple(registers),
        memory={address: model.peek(address, size) for address, size in job.after},
        counts=model.counts(),
        spans=model.spans(),
        findings=model.shadow.findings()[0],
        cycles=cycles,
    )


@cocotb.test()
async def serve_host(dut: Any) -> None:
    """Run jobs until the other side has no more."""
    model, host = Model(), Host(dut)
    connection = Connection(int(os.environ[SOCKET]))
    dut.rst_ni.value = 0
    dut.host_toggle_i.value = 0
    job: Job | None = connection.recv()
    if job is not None:
        await host.reset(job.cycle_time)
    while job is not None:
        connection.send(await run_job(host, model, job))
        cycle_time, job = job.cycle_time, connection.recv()
        if job is None:
            await Timer(SETTLE_CYCLES * cycle_time, "ps")
    model.end_devices()
    connection.send(End(findings=model.shadow.findings()[0], occasions=model.occasions()))
