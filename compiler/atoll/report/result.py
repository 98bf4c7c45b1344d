# SPDX-License-Identifier: Apache-2.0
"""`RunReport`: everything that a run proved and measured, and its machine-readable form."""

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any

from atoll.cost.basis import MEASURED
from atoll.diagnostics.units import nanoseconds
from atoll.memory.problem import PoolUse
from atoll.records import dataclass
from atoll.report.concurrency import Concurrency, Span, concurrency
from atoll.report.oracle import REFERENCE, OracleVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An access, or a byte, that is not where the plan allows it.

    Attributes:
        rule: what was broken, such as ``read before write``.
        number: of the promise in docs/semantics.md that it breaks.
        device: the master, by its name in the description.
        operator: the operator that was running, or ``none`` between operators.
        buffer: the buffer that holds the address or was expected, "" if there is none.
        offset: of the address in the buffer; negative in front of it.
        pool: the pool, or the region, that holds the address, "" if there is none.
        address: first byte concerned.
        size: bytes concerned; 0 if the fault is of signals, and `address` that of a register.
        detail: the sentence a person reads.
        key: dotted key of the description that decides, "" if none does.
        at: where the description says so: file, and line where it is known.
        remedy: an edit that works, if the fault is the description's.
        cycle: when, where the simulator knows.
        count: accesses with the same fault; this is the first.
    """

    rule: str
    number: str
    device: str
    operator: str
    buffer: str
    offset: int
    pool: str
    address: int
    size: int
    detail: str
    key: str = ""
    at: str = ""
    remedy: str = ""
    cycle: int | None = None
    count: int = 1

    @property
    def where(self) -> str:
        """Name buffer and offset, such as ``conv3.out+0x120``."""
        return f"{self.buffer}{self.offset:+#x}" if self.buffer else "no buffer"

    @property
    def _place(self) -> str:
        if not self.size:
            return "," if self.cycle is not None else ""
        place = f"{self.where} in {self.pool or 'no pool'}"
        return f", {place}, address {self.address:#010x} ({self.size} B)"

    def __str__(self) -> str:
        when = f" at cycle {self.cycle:,}" if self.cycle is not None else ""
        often = f", {self.count:,} times" if self.count > 1 else ""
        lines = [
            f"{self.rule} ({self.number}): device {self.device}, operator {self.operator}"
            f"{self._place}{when}{often}: {self.detail}"
        ]
        lines += [f"  {self.at}: {self.key}"] if self.at else []
        lines += [f"  help: {self.remedy}"] if self.remedy else []
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "rule": self.rule,
            "number": self.number,
            "device": self.device,
            "operator": self.operator,
            "buffer": self.buffer,
            "offset_bytes": self.offset,
            "pool": self.pool,
            "address": self.address,
            "size_bytes": self.size,
            "cycle": self.cycle,
            "count": self.count,
            "detail": self.detail,
            "key": self.key,
            "at": self.at,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class StackUse:
    """Bytes of one core's stack.

    Attributes:
        bound: the most that the linked binary can use, None where no binary was linked.
        watermark: the most that the run used, None where it was not measured.
        limit: the most that the description allows.
        layer: what set the limit.
        unmeasured: why a run that could have measured it did not; empty if it did.
    """

    bound: int | None
    watermark: int | None
    limit: int
    layer: str
    unmeasured: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "bound_bytes": self.bound,
            "watermark_bytes": self.watermark,
            "limit_bytes": self.limit,
            "layer": self.layer,
            "unmeasured": self.unmeasured,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerCycles:
    """Clock cycles of the host for one operator, of the first sample, from begin to end event.

    Attributes:
        begin: the cycle of its begin event, counted from reset.
        cycles: from then to its end event.
        worked: from then until its device last touched memory, which may be long before the host
            waits for it; the same as `cycles` for the host.
        estimate: what placement expected of `cycles` if the host waits at once.
        basis: what the estimate rests on.
        instructions: that all cores ran meanwhile; None where they were not counted.
        clock: hertz of its device.
        host_clock: hertz.
        helpers: further cores that made parts of it, and for how many of the cycles each worked.
        moved: bytes that its device and helpers read and wrote meanwhile, by memory, fetched
            instructions included; None where they were not in RTL, or another operator ran on one
            of them too.
    """

    operator: str
    kind: str
    device: str
    begin: int
    cycles: int
    worked: int
    estimate: int = 0
    basis: str = MEASURED
    instructions: int | None = None
    clock: int
    host_clock: int
    helpers: Mapping[str, int] = field(default_factory=dict)
    moved: Mapping[str, tuple[int, int]] | None = None

    @property
    def end(self) -> int:
        """The cycle of its end event."""
        return self.begin + self.cycles

    @property
    def device_cycles(self) -> int:
        """`worked` in cycles of its device, rounded down."""
        return self.worked * self.clock // self.host_clock

    @property
    def nanoseconds(self) -> int:
        """The time of `cycles`, rounded to the nearest."""
        return nanoseconds(self.cycles, self.host_clock)

    def as_json(self, *, clocked: bool) -> dict[str, Any]:
        """Return the fields by name; what a clock measures is None if none ran."""
        names = "operator kind device estimate basis instructions"
        measured = "begin end cycles worked device_cycles"
        return {
            **{name: getattr(self, name) for name in names.split()},
            **{name: getattr(self, name) if clocked else None for name in measured.split()},
            "helpers": self.helpers if clocked else {},
            "clock_hz": self.clock,
            "time_ns": self.nanoseconds if clocked else None,
            "memories": None
            if self.moved is None
            else [
                {"memory": name, "read_bytes": read, "written_bytes": written}
                for name, (read, written) in self.moved.items()
            ],
        }

    def as_short_json(self) -> dict[str, Any]:
        """Return what is told of all samples: when it ran."""
        names = ("operator", "device", "begin", "end", "worked", "helpers")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A tensor of one sample that differs from the reference; `actual` None: never written.

    `number` is that of the rule of docs/device-rules.md that an accelerator broke, "" of a core.
    """

    sample: int
    tensor: str
    operator: str
    device: str
    first: int
    count: int
    expected: int
    actual: int | None
    number: str = ""

    def __str__(self) -> str:
        head = f"sample {self.sample}: {self.tensor} of {self.operator} on {self.device}"
        rule = f" ({self.number})" if self.number else ""
        if self.actual is None:
            return f"{head} was never written{rule}"
        return (
            f"{head} differs in {self.count} elements, first at element {self.first}: "
            f"expected {self.expected}, got {self.actual}{rule}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name; `count` and `first` count elements of the tensor."""
        return {
            "sample": self.sample,
            "number": self.number,
            "tensor": self.tensor,
            "operator": self.operator,
            "device": self.device,
            "first_element": self.first,
            "differing_elements": self.count,
            "expected": self.expected,
            "actual": self.actual,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedRange:
    """Bytes of a pool, and how many a run moved there: each 64 of them equally many.

    Attributes:
        first_address: on the bus.
        read_bytes, written_bytes: by all devices together, repetitions included; fetched
            instructions are not counted. None where another region has part of the 64 bytes.
    """

    pool: str
    first_address: int
    size_bytes: int
    read_bytes: int | None
    written_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptLine:
    """An interrupt line at a core.

    Attributes:
        source: the device that raises it, or the guard of the firewalls.
        line: its number at the core; None for the software interrupt, which has none.
        raised: how often it rose in the whole run.
        pulses: the cycles at which it rose in the first sample, and at which it fell, as the core
            had answered; None where it stayed high.
    """

    source: str
    core: str
    line: int | None
    raised: int
    pulses: tuple[tuple[int, int | None], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        pulses = [{"rise": rise, "fall": fall} for rise, fall in self.pulses]
        return asdict(self) | {"pulses": pulses}


@dataclass(frozen=True, slots=True, kw_only=True)
class Relinked:
    """A machine of QEMU that ran the code of a chip at other addresses, and is not the chip.

    Attributes:
        machine: its name.
        core: what it has, for people.
        without: devices of the chip that were not there, and had no part in the network.
    """

    machine: str
    core: str
    without: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {"machine": self.machine, "core": self.core, "without": list(self.without)}

    @property
    def place(self) -> str:
        """Name the machine, and what the chip has more."""
        without = f", without {', '.join(map(repr, self.without))}" if self.without else ""
        return f"QEMU's machine '{self.machine}' (a {self.core}){without}"

    def __str__(self) -> str:
        return (
            f"same code, other addresses: it was linked for {self.place}; instructions and used"
            " stack were counted there, and cycles of the chip are not known"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """The result of `atoll run` and `atoll simulate`.

    Attributes:
        cpu: who played the cores, such as ``rtl``; ``board``: the chip itself.
        accelerator: ``rtl``, ``model`` or ``none``, or ``board``.
        layers_compared: tensors held against the reference, over all samples.
        accesses: bus accesses held against the plan.
        total_cycles: of the host, from reset to exit; 0 where no clock ran.
        cycles_by_kind: cycles in operators by kind of device (``cpu``, ``dsp``, ``npu``, ``dma``).
        by_sample: its operators likewise, of each sample.
        wall: seconds by part of the run.
        notes: what a reader should know, such as described devices that took no part.
        host_clock: hertz; all cycles are the host's.
        oracle: how far the reference is from another implementation, if one was asked.
        not_modelled: what the cores would have done and the simulation of them does not.
        touched: ranges of pools in which the first sample moved bytes; None if nobody counted.
        interrupts: the lines of the chip; None if nobody saw them.
        start_seed: decides the values with which registers and memories of RTL began; None if there
            was no RTL of the whole chip.
        relinked: where the firmware ran that was linked for other addresses than the chip's; None
            if it was not. No cycles are told then.
    """

    soc: str
    model: str
    model_sha256: str
    cpu: str
    accelerator: str
    samples: int
    layers_compared: int
    layers_equal: int
    mismatches: tuple[Mismatch, ...]
    accesses: int
    violations: tuple[Violation, ...]
    stack: Mapping[str, StackUse]
    pools: Mapping[str, PoolUse]
    total_cycles: int
    cycles_by_kind: Mapping[str, int]
    by_layer: tuple[LayerCycles, ...]
    by_sample: Mapping[int, tuple[LayerCycles, ...]] = field(default_factory=dict)
    wall: Mapping[str, float]
    notes: tuple[str, ...] = ()
    host_clock: int
    oracle: OracleVerdict | None = None
    not_modelled: tuple[str, ...] = ()
    touched: tuple[TouchedRange, ...] | None = None
    interrupts: tuple[InterruptLine, ...] | None = None
    start_seed: int | None = None
    relinked: Relinked | None = None

    @property
    def bit_exact(self) -> bool:
        """Every tensor of every sample equals the reference, and there was at least one."""
        return 0 < self.layers_compared == self.layers_equal

    @property
    def passed(self) -> bool:
        """Bit-exact, without a violation, and as near to the oracle as it must be: status 0."""
        near = self.oracle is None or self.oracle.passed
        return self.bit_exact and not self.violations and near

    @property
    def clocked(self) -> bool:
        """A clock of the chip ran, so that there are cycles."""
        return self.total_cycles > 0 and self.relinked is None

    @property
    def concurrency(self) -> Concurrency:
        """How much of the first sample's work was done at the same time."""
        layers = self.by_layer
        return concurrency(
            Span(device, each.begin, each.begin + worked)
            for each in layers
            for device, worked in ((each.device, each.worked), *each.helpers.items())
        )

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints; its keys are an interface."""
        return {
            "soc": self.soc,
            "model": self.model,
            "model_sha256": self.model_sha256,
            "cpu": self.cpu,
            "accelerator": self.accelerator,
            "samples": self.samples,
            "bit_exact": self.bit_exact,
            "reference": REFERENCE,
            "layers_compared": self.layers_compared,
            "layers_equal": self.layers_equal,
            "mismatches": [mismatch.as_json() for mismatch in self.mismatches],
            "placement": {
                "accesses": self.accesses,
                "violations": [violation.as_json() for violation in self.violations],
            },
            "stack": {name: use.as_json() for name, use in self.stack.items()},
            "pools": {name: use.as_json() for name, use in self.pools.items()},
            "touched": None if self.touched is None else [asdict(each) for each in self.touched],
            "cycles": self._cycles_json(),
            "wall_seconds": {part: round(seconds, 3) for part, seconds in self.wall.items()},
            "notes": list(self.notes),
            "oracle": self.oracle.as_json() if self.oracle else None,
            "not_modelled": list(self.not_modelled),
            "start_seed": self.start_seed,
            "relinked": self.relinked.as_json() if self.relinked else None,
        }

    def _cycles_json(self) -> dict[str, Any]:
        concurrency = self.concurrency
        measured = {
            "total": self.total_cycles,
            "total_ns": nanoseconds(self.total_cycles, self.host_clock),
            **{kind: self.cycles_by_kind.get(kind, 0) for kind in ("cpu", "dsp", "npu", "dma")},
            "working": concurrency.working,
            "at_once": concurrency.at_once,
            "overlapped": concurrency.saved,
        }
        return {
            **(measured if self.clocked else dict.fromkeys(measured)),
            "clock_hz": self.host_clock,
            "by_device": dict(concurrency.by_device) if self.clocked else {},
            "by_layer": [layer.as_json(clocked=self.clocked) for layer in self.by_layer],
            "by_sample": [
                {
                    "sample": number,
                    "begin": min(each.begin for each in layers),
                    "end": max(each.end for each in layers),
                    "by_layer": [each.as_short_json() for each in layers],
                }
                for number, layers in (self.by_sample.items() if self.clocked else ())
            ],
            "interrupts": None
            if self.interrupts is None
            else [each.as_json() for each in self.interrupts],
        }
