# SPDX-License-Identifier: Apache-2.0
"""An Ethos-U55 as far as Arm's driver for bare metal sees it: its registers, for the simulator.

Numbers are those of the driver's `ethosu55_interface.h`. What a start computes is the border's.
"""

from collections.abc import Callable

from atoll.driver.pipeline import Compiled
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Engine
from atoll.vela.payload import read_first
from atoll_sim.engines.ethos_u.block import REGIONS, decode
from atoll_sim.engines.interface import Outcome

ID, STATUS, CMD, RESET, QBASE, QSIZE = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x20
PROT, CONFIG, BASEP = 0x24, 0x28, 0x80
RUN, CLEAR = 1, 2
RUNNING, RAISED, BUS_ERROR, END_REACHED = 1, 2, 4, 1 << 5
HEADER = 32
"""Bytes of the driver's header before the command stream."""

RunList = Callable[[Engine, int, int, int], tuple[Outcome, int]]


class NpuRegisters:
    """The registers of the only NPU of a network with one ETHOS_U; in the place of the border's.

    Attributes:
        starts: how often it was started.
        silent: it never ends.
    """

    silent = False

    def __init__(self, engine: Engine, run: RunList, compiled: Compiled) -> None:
        (op,) = (each for each in compiled.graph.operators if each.body)
        payload = read_first(compiled.graph.tensor(op.inputs[0]).data or b"")
        block = decode(compiled.commands[f"{op.name}_commands"])
        assert payload is not None
        assert block is not None
        self._engine, self._run, self._block = engine, run, block
        at = compiled.plan.address(f"{op.name}_commands")
        self._list = device_address(compiled.soc, engine.name, at)
        self._values = {ID: payload.identity, CONFIG: payload.config}
        self._ended: int | None = None
        self._raised = False
        self._error = 0
        self.starts = 0

    def raised(self) -> int | None:
        """Return from when on its interrupt line is high, if it is or will be."""
        return self._ended if self._raised else None

    def read(self, offset: int, core: str, now: int) -> int:
        """Return a register; a reset is over at once."""
        if offset == STATUS:
            busy = self._ended is not None and now < self._ended
            ended = self._ended is not None and not busy
            raised = RAISED * (ended and self._raised)
            return RUNNING * busy | raised | END_REACHED * ended | BUS_ERROR * bool(self._error)
        if offset == PROT:
            return self._values.get(RESET, 0) & 3
        return self._values.get(offset, 0)

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """Store a register; start, or take the interrupt back."""
        if offset in (ID, CONFIG, STATUS, PROT):
            return
        self._values[offset] = value & ~3 if offset == CMD else value
        if offset == CMD and value & CLEAR:
            self._raised = False
        if offset == CMD and value & RUN:
            self._start(now)

    def _start(self, now: int) -> None:
        address, size = self._block.payload
        assert self._values[QBASE] == address + HEADER
        assert self._values[QSIZE] == size - HEADER
        found = [self._values.get(BASEP + 8 * index, 0) for index in range(REGIONS)]
        expected = [at for at, _ in self._block.regions]
        assert found[: len(expected)] == expected
        outcome, cycles = self._run(self._engine, now, self._list, 1)
        self._error = outcome.error
        self._ended, self._raised = now + cycles, True
        self.starts += 1
        if self.silent:
            self._ended = 1 << 62
