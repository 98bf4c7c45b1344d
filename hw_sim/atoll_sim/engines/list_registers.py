# SPDX-License-Identifier: Apache-2.0
"""The control port of an engine that runs lists of commands (docs/accelerators.md), as software."""

from collections.abc import Callable
from typing import Protocol

from atoll.resolve.engine_parts import identity_of
from atoll.resolve.soc import Engine
from atoll_sim.engines.interface import BusFault, Device, Outcome

BUSY, DONE, ERROR = 1, 2, 4
START, ABORT, CLEAR = 1, 2, 4
ABORTED = 8

DOORBELL = "doorbell"
"""The driver of engines that take commands one by one."""

PLACES = 1
"""Commands that the queue has places for; RTL may have more."""


class Registers(Device, Protocol):
    """Those of an engine."""

    def finish(self, now: int, error: int = 0, address: int = 0) -> None:
        """End what runs."""
        ...

    def interrupt_time(self) -> int | None:
        """Return from when on its interrupt line is high, if it is or will be."""
        ...


class EngineRegisters:
    """The control port of an engine that runs lists of commands (docs/accelerators.md).

    A list runs when it is started; that it has ended shows only when its cycles are over.
    """

    def __init__(
        self, engine: Engine, run: Callable[[Engine, int, int, int], tuple[Outcome, int]]
    ) -> None:
        """Connect it.

        Args:
            engine: the instance.
            run: given engine, time, address and count of a list, runs it; returns how it ended, and
                after how many cycles.
        """
        self._engine = engine
        self._run = run
        self._names = {offset: name for name, offset in engine.spec.registers.items()}
        self._values: dict[str, int] = dict.fromkeys(engine.spec.registers, 0)
        self._values.update(identity_of(engine))
        self._ended: int | None = None
        self._raised = False

    def finish(self, now: int, error: int = 0, address: int = 0) -> None:
        """End what runs, if anything does; an `error` is of the bus, at an address."""
        if not self._busy(now):
            return
        if error and not self._values["ERROR"]:
            self._values |= {"ERROR": error, "FAULT_ADDRESS": address, "COMPLETED": 0}
        self._ended = now

    def interrupt_time(self) -> int | None:
        """Return from when on its interrupt line is high, if it is or will be."""
        return self._ended if self._raised and self._values["IRQ_ENABLE"] & 1 else None

    def read(self, offset: int, core: str, now: int) -> int:
        """See `Registers`."""
        name = self._names.get(offset)
        if name is None or name == "CONTROL":
            raise BusFault(offset, decode=False)
        busy = self._busy(now)
        match name:
            case "STATUS":
                done = self._ended is not None and not busy
                failed = bool(self._values["ERROR"])
                return BUSY * busy | DONE * (done and not failed) | ERROR * (done and failed)
            case "IRQ_STATUS":
                return int(self._raised and not busy)
            case "ERROR" | "FAULT_ADDRESS" | "COMPLETED" if busy:
                return 0
        return self._values[name]

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """See `Registers`."""
        name, busy = self._names.get(offset), self._busy(now)
        if name == "CONTROL" and not (busy and value & START):
            if value & START:
                self._start(now, self._values["LIST_ADDRESS"], self._values["LIST_COUNT"])
            elif value & ABORT and busy:
                self._ended, self._values["ERROR"] = now, ABORTED
        elif name in ("LIST_ADDRESS", "LIST_COUNT") and not busy:
            self._values[name] = value
        elif name == "IRQ_ENABLE":
            self._values[name] = value & 1
        elif name == "IRQ_STATUS":
            if value & 1 and not busy:
                self._raised = False
        else:
            raise BusFault(offset, decode=False)

    def _busy(self, now: int) -> bool:
        return self._ended is not None and now < self._ended

    def _start(self, now: int, address: int, count: int) -> None:
        outcome, cycles = self._run(self._engine, now, address, count)
        self._values |= {
            "ERROR": outcome.error,
            "FAULT_ADDRESS": outcome.fault_address,
            "COMPLETED": outcome.completed,
            "CYCLES": cycles,
        }
        self._ended, self._raised = now + cycles, True


class DoorbellRegisters(EngineRegisters):
    """A list of one command runs when it is rung for."""

    def __init__(
        self, engine: Engine, run: Callable[[Engine, int, int, int], tuple[Outcome, int]]
    ) -> None:
        """See `EngineRegisters`."""
        super().__init__(engine, run)
        self._ran = 0

    def read(self, offset: int, core: str, now: int) -> int:
        """See `Registers`."""
        match self._names.get(offset):
            case "DOORBELL":
                raise BusFault(offset, decode=False)
            case "QUEUE":
                return PLACES
            case "COMPLETED":
                return self._ran - self._busy(now)
        return super().read(offset, core, now)

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """See `Registers`."""
        if self._names.get(offset) != "DOORBELL":
            super().write(offset, value, core, now)
            if self._names.get(offset) == "CONTROL" and value & CLEAR and not self._busy(now):
                self._values["ERROR"] = 0
            return
        if self._busy(now):
            raise BusFault(offset, decode=False)
        if self._values["ERROR"]:
            return
        self._start(now, value, 1)
        self._ran += not self._values["ERROR"]


def list_registers(
    engine: Engine, run: Callable[[Engine, int, int, int], tuple[Outcome, int]]
) -> EngineRegisters:
    """Return the control port of an engine that takes its commands from memory."""
    kind = DoorbellRegisters if engine.spec.driver == DOORBELL else EngineRegisters
    return kind(engine, run)
