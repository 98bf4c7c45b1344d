# SPDX-License-Identifier: Apache-2.0
"""What runs beside a test: the firmware, or nothing."""

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocotb.triggers import Event, FallingEdge, Timer

from atoll_sim.host.bench import START_CYCLES, Host
from atoll_sim.model.monitors import Model
from atoll_sim.protocol.records import RESET_CYCLES
from atoll_sim.simulate.bench import run
from atoll_sim.simulate.serve import Bench
from atoll_sim.trace.run_files import IMAGE, read_work, write_pace, write_record
from atoll_sim.trace.so_far import Teller

if TYPE_CHECKING:
    from atoll_sim.trace.simulation import Stop

GRACE_CYCLES = 1_000_000
"""A test that still waits so long after the firmware's end fails."""


class FirmwareEndedError(AssertionError):
    """The firmware has ended before what a test waits for."""


class Beside:
    """What runs beside a test; alone it is nothing, and the test makes the host's accesses.

    Attributes:
        model: the model of this process.
        stop: why the firmware has ended, None before.
        ended: set then.
        begun: the reset was left.
    """

    def __init__(self, dut: Any, cycle_time: int) -> None:
        self._dut = dut
        self._cycle_time = cycle_time
        self.model = Model()
        self.stop: Stop | None = None
        self.ended = Event()
        self.begun = False

    async def start(self) -> None:
        """Leave the reset."""
        self.begun = True
        self._dut.rst_ni.value = 0
        await Timer(RESET_CYCLES * self._cycle_time, "ps")
        self._dut.rst_ni.value = 1

    async def serve_and_wait(self) -> None:
        """Do nothing."""


class Alone(Beside):
    """No firmware and no core."""

    def __init__(self, dut: Any, cycle_time: int) -> None:
        super().__init__(dut, cycle_time)
        self._host = Host(dut)

    async def start(self) -> None:
        """Load constants, if there are images, leave the reset, and wait until all clocks have."""
        image = Path.cwd() / IMAGE
        assert not image.is_file() or self.model.load(str(image)), "the image does not fit"
        self._dut.host_toggle_i.value = 0
        await super().start()
        await Timer(START_CYCLES * self._cycle_time, "ps")

    async def access(self, address: int, value: int | None) -> int:
        """Make an access of the host; it begins between two edges, as adapters that rest need."""
        await FallingEdge(self._dut.clk_i)
        return await self._host.access(address, value)


class Firmware(Beside):
    """The firmware; the same object for all that ask in this process."""

    _only: "Firmware | None" = None

    def __init__(self, dut: Any) -> None:
        self._folder = Path.cwd()
        work = read_work(self._folder)
        super().__init__(dut, work.cycle_time)
        self._bench = Bench(self.model, work)
        self._begin = time.perf_counter()
        self._teller = Teller(partial(write_pace, self._folder))

    @classmethod
    def of(cls, dut: Any) -> "Firmware":
        """Return the one of this process."""
        cls._only = cls._only or cls(dut)
        return cls._only

    async def start(self) -> None:
        """Load the images and leave the reset."""
        assert self.model.load(str(self._folder / IMAGE)), "the image does not fit the memories"
        await super().start()
        self._begin = time.perf_counter()

    async def serve(self) -> None:
        """Serve the firmware until it ends."""
        if self.stop is None:
            self.stop = await run(self._dut, self._bench, self._teller)
            self.ended.set()

    async def serve_and_wait(self) -> None:
        """Serve, then fail the test if it goes on for long."""
        await self.serve()
        await Timer(GRACE_CYCLES * self._cycle_time, "ps")
        raise FirmwareEndedError(
            f"the firmware has ended ({self.stop}), and the test still waits"
            f" {GRACE_CYCLES:,} cycles later"
        )

    def write(self) -> None:
        """Write down what Atoll's own checks need."""
        assert self.stop is not None
        self._teller.look(self._bench.so_far, self.model.cycle, always=True)
        write_record(self._folder, self._bench.record(self.stop, time.perf_counter() - self._begin))
