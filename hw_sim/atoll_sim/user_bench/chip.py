# SPDX-License-Identifier: Apache-2.0
"""A chip as a bench inside its simulator has it."""

import json
import os
import pickle
import time
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import cocotb
import numpy as np
from cocotb.task import current_task
from cocotb.triggers import Event as Raised
from cocotb.triggers import First, RisingEdge, Timer
from numpy.typing import NDArray

from atoll.ir.graph import Tensor
from atoll.protocol import Trace, TraceEvent
from atoll.records import dataclass
from atoll_sim.model.monitors import Event, Model
from atoll_sim.protocol.records import RESET_CYCLES, EventKind
from atoll_sim.shadow.records import FINDING
from atoll_sim.shadow.rules import RULES
from atoll_sim.simulate.bench import run
from atoll_sim.simulate.serve import Bench
from atoll_sim.trace.run_files import IMAGE, read_work, write_pace, write_record
from atoll_sim.trace.so_far import Teller
from atoll_sim.user_bench.devices import Device
from atoll_sim.user_bench.files import DATA, TENSORS, reference_file
from atoll_sim.user_bench.operators import Operator

if TYPE_CHECKING:
    from atoll_sim.trace.simulation import Stop

Array = NDArray[Any]
GRACE_CYCLES = 1_000_000
"""A test that still waits so long after the firmware's end fails."""


class FirmwareEndedError(AssertionError):
    """The firmware has ended before what a test waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """Something that the firmware told.

    Attributes:
        event: ``operator_begin``, ``operator_end``, ``ready``, ``run_begin`` or ``run_end``.
        operator: of an operator's events, else None.
        sample: number of the run from 0 on, -1 before the first; of several networks each counts.
        cycle: of the host.
    """

    event: str
    operator: Operator | None
    sample: int
    cycle: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A rule that was broken; reports say it in full.

    Attributes:
        rule: its number in docs/semantics.md or docs/device-rules.md, such as ``A1``.
        name: such as ``done too early``.
        device: that broke it.
        address: of the access.
        cycle: of the host.
    """

    rule: str
    name: str
    device: str
    address: int
    cycle: int


class Firmware:
    """The firmware that runs beside a test; the same object for all that ask in this process."""

    _only: "Firmware | None" = None

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self._folder = Path.cwd()
        self.model = Model()
        self.bench = Bench(self.model, read_work(self._folder))
        self.stop: Stop | None = None
        self.ended = Raised()
        self.begun = False
        self._begin = time.perf_counter()
        self._teller = Teller(partial(write_pace, self._folder))

    @classmethod
    def of(cls, dut: Any) -> "Firmware":
        """Return the one of this process."""
        cls._only = cls._only or cls(dut)
        return cls._only

    async def start(self) -> None:
        """Load the images and leave the reset."""
        self.begun = True
        assert self.model.load(str(self._folder / IMAGE)), "the image does not fit the memories"
        self._dut.rst_ni.value = 0
        await Timer(RESET_CYCLES * self.bench.work.cycle_time, "ps")
        self._dut.rst_ni.value = 1
        self._begin = time.perf_counter()

    async def serve(self) -> None:
        """Serve the firmware until it ends."""
        if self.stop is None:
            self.stop = await run(self._dut, self.bench, self._teller)
            self.ended.set()

    async def serve_and_wait(self) -> None:
        """Serve, then fail the test if it goes on for long."""
        await self.serve()
        await Timer(GRACE_CYCLES * self.bench.work.cycle_time, "ps")
        raise FirmwareEndedError(
            f"the firmware has ended ({self.stop}), and the test still waits"
            f" {GRACE_CYCLES:,} cycles later"
        )

    def write(self) -> None:
        """Write down what Atoll's own checks need."""
        assert self.stop is not None
        self._teller.look(self.bench.so_far, self.model.cycle, always=True)
        write_record(self._folder, self.bench.record(self.stop, time.perf_counter() - self._begin))


class Chip:
    """The chip of this simulation, with the firmware that it runs.

    Attributes:
        name: of the chip.
        devices: by name.
        operators: of all networks, in their order.
        tensors: names of the tensors that have a place in memory, by network.
        samples: how often the firmware runs each network.
        folder: where a test leaves files; the option ``--bench-output`` keeps it.
        cycle_time: picoseconds of a cycle of the host.
    """

    def __init__(self, dut: Any) -> None:
        """Look all handles up.

        Args:
            dut: what cocotb gives to a test.
        """
        self._dut = dut
        data = Path(os.environ[DATA])
        plain = json.loads(data.read_text())
        self.name: str = plain["soc"]
        self.devices: Mapping[str, Device] = {
            each["name"]: Device.find(dut, each) for each in plain["devices"]
        }
        self.operators = tuple(map(Operator.of_json, plain["operators"]))
        self._by_number = {(each.network, each.number): each for each in self.operators}
        self._places: Mapping[str, Mapping[str, tuple[int, Tensor]]] = pickle.loads(
            data.with_name(TENSORS).read_bytes()
        )
        self.tensors: Mapping[str, tuple[str, ...]] = {
            network: tuple(tensors) for network, tensors in self._places.items()
        }
        self.samples: int = plain["samples"]
        self.cycle_time: int = plain["cycle_time"]
        self._references = data.parent
        self.folder = Path(os.environ["COCOTB_RESULTS_FILE"]).parent
        self._masters: tuple[str, ...] = tuple(plain["masters"])
        self._firmware = Firmware.of(dut)
        self._log: list[Traced] = []
        self._seen = self._runs = 0
        self._given: WeakKeyDictionary[Any, int] = WeakKeyDictionary()

    @property
    def cycle(self) -> int:
        """Cycles of the host since the simulation began."""
        return self._firmware.model.cycle()

    async def start(self) -> None:
        """Load the firmware, leave the reset, and serve the firmware beside the test.

        The rest of the test runs at the same time. When the test has returned, the firmware goes
        on to its end, and Atoll's own checks follow.
        """
        assert not self._firmware.begun, "the chip has been started"
        await self._firmware.start()
        cocotb.start_soon(self._firmware.serve_and_wait())

    async def finished(self) -> str:
        """Wait for the end of the firmware; return why: exit, trap, stall or limit."""
        if self._firmware.stop is None:
            await self._firmware.ended.wait()
        return str(self._firmware.stop)

    # Memory

    def read(self, tensor: str, network: str | None = None) -> Array:
        """Return what memory holds where a tensor lies, at once, without an access of the bus."""
        address, its = self._place(tensor, network)
        return its.values_in(self._firmware.model.peek(address, its.size))

    def write(self, tensor: str, values: Array, network: str | None = None) -> None:
        """Write a tensor into memory at once; `values` has its shape and its type.

        Raises:
            ValueError: they differ.
        """
        address, its = self._place(tensor, network)
        if values.shape != its.shape or values.dtype != np.dtype(its.dtype):
            raise ValueError(
                f"'{tensor}' is {its.dtype}{list(its.shape)}, not {values.dtype}"
                f"{list(values.shape)}"
            )
        self._firmware.model.poke(address, its.bytes_of(values))

    def peek(self, address: int, size: int) -> bytes:
        """Return bytes of one memory at once, by their address on the bus.

        Raises:
            IndexError: they are not all in one memory.
        """
        return self._firmware.model.peek(address, size)

    def poke(self, address: int, data: bytes) -> None:
        """Write bytes to one memory at once.

        Raises:
            IndexError: they are not all in one memory.
        """
        self._firmware.model.poke(address, data)

    def reference(self, tensor: str, sample: int = 0, network: str | None = None) -> Array:
        """Return what a tensor must be, bit for bit, in the run with a sample."""
        name = self._network(network)
        array: Array = np.load(self._references / reference_file(name, sample, tensor))
        return array

    # Events

    async def events(self) -> AsyncIterator[Traced]:
        """Yield what the firmware tells from now on, in order; nothing is left out."""
        seen = len(self._known())
        while (number := await self._next(seen, lambda traced: True)) is not None:
            seen = number + 1
            yield self._log[number]

    async def operator_begin(self, name: str | None = None) -> Traced:
        """Wait until an operator begins, any if there is no name.

        A coroutine is given events in their order: one that came behind the last that it was given
        counts, even if it came meanwhile. The first call counts from now.

        Raises:
            FirmwareEndedError: the firmware ends first.
        """
        return await self._await("operator_begin", name)

    async def operator_end(self, name: str | None = None) -> Traced:
        """Wait until an operator ends; the rest is as in `operator_begin`."""
        return await self._await("operator_end", name)

    async def run_end(self) -> Traced:
        """Wait until a run of a network ends; the rest is as in `operator_begin`."""
        return await self._await("run_end", None)

    async def interrupt(self, device: str) -> int:
        """Wait until the interrupt line of a device rises at its core; return the cycle.

        Raises:
            FirmwareEndedError: the firmware ends first.
        """
        line = self.devices[device].interrupt
        if line is None:
            raise ValueError(f"device '{device}' has no interrupt line")
        await First(RisingEdge(line), self._ended())
        if self._over():
            raise self._gone(f"'{device}' raised its interrupt")
        return self.cycle

    async def finding(self) -> Found:
        """Wait until an access, or what a device does at its ports, breaks a rule in a new way.

        Raises:
            FirmwareEndedError: the firmware ends first.
        """
        known = len(self.findings())
        while len(found := self.findings()) == known:
            if self._over():
                raise self._gone("a rule was broken")
            await First(self._dut.bench_findings_i.value_change, self._ended())
        return found[known]

    def findings(self) -> tuple[Found, ...]:
        """Return each way in which rules were broken so far."""
        records, _ = self._firmware.model.shadow.findings()
        return tuple(
            Found(
                rule=RULES[each["rule"]].number,
                name=RULES[each["rule"]].name,
                device=self._masters[each["master"]],
                address=each["address"],
                cycle=each["cycle"],
            )
            for each in FINDING.unpack(records)
        )

    def operator(self, name: str, network: str | None = None) -> Operator:
        """Return an operator by its name.

        Raises:
            KeyError: there is none.
        """
        found = [each for each in self.operators if each.name == name]
        found = [each for each in found if network in (None, each.network)]
        if not found:
            raise KeyError(f"no operator '{name}'; there are {_listed(self.operators)}")
        return found[0]

    async def _await(self, event: str, name: str | None) -> Traced:
        wanted = self.operator(name).name if name else None

        def fits(traced: Traced) -> bool:
            operator = traced.operator.name if traced.operator else None
            return traced.event == event and wanted in (None, operator)

        task = current_task()
        number = await self._next(self._given.get(task, len(self._known())), fits)
        if number is None:
            raise self._gone(f"{event} of {wanted or 'any operator'}")
        self._given[task] = number + 1
        return self._log[number]

    async def _next(self, seen: int, fits: Callable[[Traced], bool]) -> int | None:
        """Return the number of the first event from `seen` on that fits; None: there is none."""
        while True:
            for number in range(seen, len(self._known())):
                if fits(self._log[number]):
                    return number
            seen = len(self._log)
            if self._over():
                return None
            await First(self._dut.doorbell_o.value_change, self._ended())

    def _known(self) -> list[Traced]:
        """Return what the firmware has told so far."""
        fresh = self._firmware.model.events(self._seen)
        self._seen += len(fresh)
        self._log += [self._traced(each) for each in fresh if each.kind is EventKind.TRACE]
        return self._log

    def _traced(self, event: Event) -> Traced:
        trace = Trace.of(event.value)
        kind = TraceEvent(trace.event)
        self._runs += kind is TraceEvent.RUN_BEGIN
        networks = tuple(self._places)
        sample, turn = divmod(self._runs - 1, len(networks))
        operator = None
        if kind in (TraceEvent.OPERATOR_BEGIN, TraceEvent.OPERATOR_END):
            operator = self._by_number[networks[turn], trace.operator]
        return Traced(event=kind.name.lower(), operator=operator, sample=sample, cycle=event.cycle)

    def _over(self) -> bool:
        return self._firmware.stop is not None

    def _ended(self) -> Any:
        return self._firmware.ended.wait()

    def _gone(self, what: str) -> FirmwareEndedError:
        return FirmwareEndedError(f"the firmware ended ({self._firmware.stop}) before {what}")

    def _place(self, tensor: str, network: str | None) -> tuple[int, Tensor]:
        places = self._places[self._network(network)]
        if tensor not in places:
            raise KeyError(f"no tensor '{tensor}' lies in memory; there are {', '.join(places)}")
        return places[tensor]

    def _network(self, name: str | None) -> str:
        if name is None and len(self._places) > 1:
            raise KeyError(f"name one of the networks: {', '.join(self._places)}")
        name = name or next(iter(self._places))
        if name not in self._places:
            raise KeyError(f"no network '{name}'; there are {', '.join(self._places)}")
        return name


def _listed(operators: tuple[Operator, ...]) -> str:
    return ", ".join(each.name for each in operators)
