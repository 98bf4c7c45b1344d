# SPDX-License-Identifier: Apache-2.0
"""A chip as a bench inside its simulator has it."""

import json
import os
import pickle
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import cocotb
import numpy as np
from cocotb.task import current_task
from cocotb.triggers import First, RisingEdge
from numpy.typing import NDArray

from atoll.ir.graph import Tensor
from atoll.protocol import Trace, TraceEvent
from atoll.records import dataclass
from atoll_sim.model.monitors import Event
from atoll_sim.protocol.records import EventKind
from atoll_sim.shadow.records import FINDING
from atoll_sim.shadow.rules import RULES
from atoll_sim.user_bench.devices import Device
from atoll_sim.user_bench.files import DATA, TENSORS, reference_file
from atoll_sim.user_bench.firmware import Alone, Beside, Firmware, FirmwareEndedError
from atoll_sim.user_bench.named import Named, lookup_error
from atoll_sim.user_bench.operators import Operator

Array = NDArray[Any]
WORD_BYTES = 4


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
        found = {each["name"]: Device.find(dut, each) for each in plain["devices"]}
        self.devices: Mapping[str, Device] = Named("device", found)
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
        self._firmware: Beside = (
            Firmware.of(dut) if plain["firmware"] else Alone(dut, self.cycle_time)
        )
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
        on to its end, and Atoll's own checks follow. Without firmware, only the reset is left.
        """
        assert not self._firmware.begun, "the chip has been started"
        await self._firmware.start()
        cocotb.start_soon(self._firmware.serve_and_wait())

    async def firmware_end(self) -> str:
        """Wait for the end of the firmware; return why: exit, trap, stall or limit."""
        if self._firmware.stop is None:
            await self._firmware.ended.wait()
        return str(self._firmware.stop)

    async def access(self, address: int, value: int | None = None) -> int:
        """Write a word as the host, or read it if there is no value; an error reads as 0.

        Only where there is no firmware, whose core is the host.
        """
        assert isinstance(self._firmware, Alone), "the core is the host, where there is firmware"
        return await self._firmware.access(address, value)

    async def read_register(self, device: str, register: str) -> int:
        """Read a register of an accelerator as the host; see `access`."""
        return await self.access(self.devices[device].registers[register])

    async def write_register(self, device: str, register: str, value: int) -> None:
        """Write a register of an accelerator as the host; see `access`."""
        await self.access(self.devices[device].registers[register], value)

    async def run_operator(self, operator: Operator) -> None:
        """Have an accelerator run an operator alone, by its registers; see `access`.

        Its inputs are what memory holds, such as after `write`.
        """
        device = self.devices[operator.device]
        assert operator.registers, f"'{operator.name}' runs on a core"
        for step in operator.registers:
            match step.do:
                case "write":
                    await self.access(step.address, step.value)
                case "wait":
                    while await self.access(step.address) & step.mask != step.equals:
                        pass
                case "push":
                    data = self.peek(step.memory, step.size)
                    for at in range(0, step.size, WORD_BYTES):
                        word = int.from_bytes(data[at : at + WORD_BYTES], "little")
                        await self.access(step.address, word)
                case "pop":
                    words = [
                        await self.access(step.address) for _ in range(0, step.size, WORD_BYTES)
                    ]
                    taken = b"".join(word.to_bytes(WORD_BYTES, "little") for word in words)
                    self.poke(step.memory, taken[: step.size])
                case _:
                    while device.interrupt.value == 0:
                        await device.interrupt.value_change

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
        seen = len(self._update_log())
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
        await First(RisingEdge(line), self._firmware_end())
        if self._over():
            raise self._end_before(f"'{device}' raised its interrupt")
        return self.cycle

    async def finding(self) -> Found:
        """Wait until an access, or what a device does at its ports, breaks a rule in a new way.

        Raises:
            FirmwareEndedError: the firmware ends first.
        """
        known = len(self.findings())
        while len(found := self.findings()) == known:
            if self._over():
                raise self._end_before("a rule was broken")
            await First(self._dut.bench_findings_i.value_change, self._firmware_end())
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
            raise lookup_error("operator", name, (each.name for each in self.operators))
        return found[0]

    async def _await(self, event: str, name: str | None) -> Traced:
        wanted = self.operator(name).name if name else None

        def fits(traced: Traced) -> bool:
            operator = traced.operator.name if traced.operator else None
            return traced.event == event and wanted in (None, operator)

        task = current_task()
        number = await self._next(self._given.get(task, len(self._update_log())), fits)
        if number is None:
            raise self._end_before(f"{event} of {wanted or 'any operator'}")
        self._given[task] = number + 1
        return self._log[number]

    async def _next(self, seen: int, fits: Callable[[Traced], bool]) -> int | None:
        """Return the number of the first event from `seen` on that fits; None: there is none."""
        while True:
            for number in range(seen, len(self._update_log())):
                if fits(self._log[number]):
                    return number
            seen = len(self._log)
            if self._over():
                return None
            await First(self._dut.doorbell_o.value_change, self._firmware_end())

    def _update_log(self) -> list[Traced]:
        """Return what the firmware has told so far."""
        fresh = self._firmware.model.events(self._seen)
        self._seen += len(fresh)
        self._log += [self._name_event(each) for each in fresh if each.kind is EventKind.TRACE]
        return self._log

    def _name_event(self, event: Event) -> Traced:
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

    def _firmware_end(self) -> Any:
        return self._firmware.ended.wait()

    def _end_before(self, what: str) -> FirmwareEndedError:
        return FirmwareEndedError(f"the firmware ended ({self._firmware.stop}) before {what}")

    def _place(self, tensor: str, network: str | None) -> tuple[int, Tensor]:
        places = self._places[self._network(network)]
        if tensor not in places:
            raise lookup_error("tensor in memory", tensor, places)
        return places[tensor]

    def _network(self, name: str | None) -> str:
        if name is None and len(self._places) > 1:
            raise KeyError(f"name one of the networks: {', '.join(self._places)}")
        name = name or next(iter(self._places))
        if name not in self._places:
            raise lookup_error("network", name, self._places)
        return name
