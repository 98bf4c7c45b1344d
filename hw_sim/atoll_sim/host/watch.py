# SPDX-License-Identifier: Apache-2.0
"""Hold what happens without RTL against the contract: the native host and software models."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.driver.pipeline import Compiled
from atoll.ir.tir import AcceleratorStart, AcceleratorWait, CallStart, Step
from atoll.protocol import TraceEvent
from atoll.resolve.memory_views import on_bus
from atoll_sim.engines.common.decode import ErrorCode
from atoll_sim.engines.interface import Outcome
from atoll_sim.host.memory import Accessed, HostMemory
from atoll_sim.protocol.records import AccessKind
from atoll_sim.shadow.memory import HostShadow
from atoll_sim.shadow.table import shadow_table
from atoll_sim.trace.contents import contents_of
from atoll_sim.trace.findings import name_findings
from atoll_sim.trace.simulation import Finding

BUS_ERRORS: Mapping[int, AccessKind] = {
    ErrorCode.READ_SLAVE: AccessKind.READ,
    ErrorCode.READ_DECODE: AccessKind.READ,
    ErrorCode.WRITE_SLAVE: AccessKind.WRITE,
    ErrorCode.WRITE_DECODE: AccessKind.WRITE,
}


class Watch:
    """Follows one native session with a shadow memory of its own."""

    def __init__(self, models: Sequence[Compiled], memory: HostMemory, *, beats: bool) -> None:
        """Load the contracts.

        Args:
            models: what runs, in turn.
            memory: where it runs.
            beats: engines show whole beats of what they read.
        """
        self._models = models
        self._runs = 0
        self._table = shadow_table(
            models[0].soc,
            [compiled.contract for compiled in models],
            [contents_of(compiled) for compiled in models],
            beats=beats,
        )
        self._number = {name: number for number, name in enumerate(self._table.masters)}
        self._shadow = HostShadow()
        loaded = self._shadow.load(self._table.words)
        assert loaded, "the packed contract is damaged"
        self._shadow.look_with(memory.read)

    def reset(self) -> None:
        """The host has given all states their first bytes."""
        for compiled in self._models:
            host = self._number[compiled.soc.host]
            for span in compiled.contract.states:
                self._shadow.touch(host, AccessKind.WRITE, span.address, span.size)

    def begin_run(self) -> None:
        """The inputs of the next sample are in place; it is the next network's turn."""
        self._runs += 1
        self._shadow.trace(TraceEvent.RUN_BEGIN)

    def end_run(self) -> None:
        """The run function has returned."""
        self._shadow.trace(TraceEvent.RUN_END)

    def step(self, step: Step, engines: tuple[Accessed, ...], outcome: Outcome) -> None:
        """Judge one step after it has ended.

        Args:
            step: of the program.
            engines: what engines accessed since the last step, in order.
            outcome: how it ended; a bus error is an access that a firewall kept back.
        """
        if not isinstance(step.action, AcceleratorWait):
            self._begin(step, engines)
        if (kind := BUS_ERRORS.get(outcome.error)) is not None:
            address = on_bus(self._models[0].soc, step.device, outcome.fault_address)
            self._shadow.refuse(self._number[step.device], kind, address, 1)
        if not outcome.error and not isinstance(step.action, (AcceleratorStart, CallStart)):
            self._shadow.trace(TraceEvent.OPERATOR_END, step.number)

    def findings(self) -> tuple[tuple[Finding, ...], int]:
        """Return what was found, and how many accesses were wrong."""
        records, total = self._shadow.findings()
        return name_findings(records, self._table, self._models[0].soc), total

    def _begin(self, step: Step, engines: tuple[Accessed, ...]) -> None:
        self._shadow.trace(TraceEvent.OPERATOR_BEGIN, step.number)
        for each in (*self._declared_accesses(step), *engines):
            self._shadow.touch(
                self._number[each.master],
                each.kind,
                each.span.start,
                len(each.span),
                beat=each.beat,
            )

    def _declared_accesses(self, step: Step) -> Iterator[Accessed]:
        """Yield what a kernel says it reads, then what it writes: nothing watches the host.

        Of what several parts write together, the first is taken to write all.
        """
        compiled = self._models[(self._runs - 1) % len(self._models)]
        plan, sizes = compiled.plan, compiled.module.entry.sizes
        written: set[str] = set()
        for call in step.calls:
            reads, writes = step.accesses_of(call.device)
            accesses = [(AccessKind.READ, name) for name in reads if name not in writes]
            accesses += [(AccessKind.WRITE, name) for name in writes if name not in written]
            written.update(writes)
            for kind, name in accesses:
                address = plan.address(name)
                yield Accessed(call.device, kind, range(address, address + sizes[name]))
