# SPDX-License-Identifier: Apache-2.0
"""A made-up program on a chip with a core, two accelerators and a DMA engine, for the shadow."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.contract.areas import areas_of
from atoll.contract.contract import Contract, Copy, Lifetime, Phase, Span
from atoll.protocol import TraceEvent
from atoll.report.result import Violation
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.protocol.records import AccessKind
from atoll_sim.shadow.memory import HostShadow
from atoll_sim.shadow.table import shadow_table
from atoll_sim.trace.findings import name_findings

ISLANDS = Path(__file__).parents[2] / "data" / "islands_dma.yaml"
CHIP = load_soc(ISLANDS)
CPU, NPU_A, NPU_B, DMA = range(4)
BEGUN, ENDED, READY, RUN_BEGUN, RUN_ENDED = TraceEvent
READ, WRITE, FETCH = AccessKind

# Pool, offset, size, alignment; first and last operator.
_PLACES: Mapping[str, tuple[str, int, int, int, int | None, int | None]] = {
    "image": ("only_a", 0, 100, 16, None, 0),
    "x": ("only_a", 112, 128, 16, 0, 1),
    "late": ("only_a", 0, 96, 16, 5, 5),
    "y": ("only_b", 0, 128, 16, 1, 2),
    "z": ("only_b", 256, 60, 4, 2, 3),
    "score": ("only_cpu", 0, 60, 4, 3, 4),
    "out": ("only_cpu", 64, 8, 4, 4, None),
    "weights": ("weights", 0, 64, 64, None, None),
}


def span(name: str) -> Span:
    pool, offset, size, *_ = _PLACES[name]
    return Span(buffer=name, pool=pool, address=CHIP.pool(pool).region.origin + offset, size=size)


def _phase(number: int, device: str, reads: str, writes: str) -> Phase:
    return Phase(
        number=number,
        operator=f"op_{number}",
        device=device,
        reads=tuple(map(span, reads.split())),
        writes=tuple(map(span, writes.split())),
    )


def _copy(number: int, source: str, destination: str) -> Copy:
    return Copy(
        number=number,
        operator=f"op_{number}",
        device="dma",
        source=span(source),
        destination=span(destination),
    )


def contract(**moved: Span) -> Contract:
    """Return the contract, with some buffers elsewhere.

    0 on npu_a: image, weights -> x; 1 on dma: x -> y; 2 on npu_b: y, weights -> z;
    3 on dma: z -> score; 4 on cpu: score -> out; 5 on npu_a: weights -> late, over image.
    """
    phases = (
        _phase(0, "npu_a", "image weights", "x"),
        _phase(1, "dma", "x weights", "y"),
        _phase(2, "npu_b", "y weights", "z"),
        _phase(3, "dma", "z weights", "score"),
        _phase(4, "cpu", "score", "out"),
        _phase(5, "npu_a", "weights", "late"),
    )

    def place(spans: Sequence[Span]) -> tuple[Span, ...]:
        return tuple(moved.get(each.buffer, each) for each in spans)

    lifetimes = tuple(
        Lifetime(
            span=moved.get(name, span(name)),
            alignment=alignment,
            constant=name == "weights",
            first=first,
            last=last,
        )
        for name, (_, _, _, alignment, first, last) in _PLACES.items()
    )
    return Contract(
        inputs=place([span("image")]),
        outputs=place([span("out")]),
        constants=place([span("weights")]),
        phases={
            each.number: replace(each, reads=place(each.reads), writes=place(each.writes))
            for each in phases
        },
        lifetimes=lifetimes,
        copies=(_copy(1, "x", "y"), _copy(3, "z", "score")),
        areas=areas_of(CHIP),
    )


class Bench:
    """Drives a shadow memory by hand; each call is one more cycle."""

    def __init__(
        self, held: Contract | None = None, *, beats: bool = True, chip: ResolvedSoc = CHIP
    ) -> None:
        self.chip = chip
        self.contract = replace(held or contract(), areas=areas_of(chip))
        self.spans = {each.span.buffer: each.span for each in self.contract.lifetimes}
        self.table = shadow_table(chip, [self.contract], beats=beats)
        self.memory: dict[int, int] = {}
        self.cycle = 100
        self.shadow = HostShadow()
        assert self.shadow.load(self.table.words)
        self.shadow.look_with(self._look)

    def _look(self, address: int, size: int) -> bytes:
        return bytes(self.memory.get(at, 0) for at in range(address, address + size))

    def event(self, event: int, operator: int = 0) -> None:
        self.cycle += 1
        self.shadow.trace(event, operator, self.cycle)

    def at(self, master: int, kind: AccessKind, address: int, size: int, *, beat: int = 8) -> None:
        """Access bytes in beats, as a bus does."""
        self.cycle += 1
        self.shadow.touch(master, kind, address, size, beat=beat, cycle=self.cycle)

    def read(self, master: int, name: str, begin: int = 0, end: int | None = None) -> None:
        where = self.spans[name]
        stop = where.size if end is None else end
        self.at(master, READ, where.address + begin, stop - begin)

    def refuse(self, master: int, kind: AccessKind, address: int, size: int) -> None:
        """Let a firewall keep an access back."""
        self.cycle += 1
        self.shadow.refuse(master, kind, address, size, cycle=self.cycle)

    def write(self, master: int, name: str, begin: int = 0, end: int | None = None) -> None:
        where = self.spans[name]
        stop = where.size if end is None else end
        self.at(master, WRITE, where.address + begin, stop - begin)

    def fetch(self, master: int, address: int) -> None:
        self.at(master, FETCH, address, 4)

    def start(self) -> None:
        """Begin a run."""
        self.event(READY)
        self.event(RUN_BEGUN)

    def operator(self, number: int, *, skip: str = "") -> None:
        """Do all that operator `number` does, but leave buffers of `skip` alone."""
        self.event(BEGUN, number)
        self.body(number, skip=skip)
        self.event(ENDED, number)

    def body(self, number: int, *, skip: str = "") -> None:
        """Do what operator `number` does, without its events."""
        phase = self.contract.phases[number]
        master = self.table.masters.index(phase.device)
        for each in phase.reads:
            if each.buffer not in skip.split():
                self.read(master, each.buffer)
        for each in phase.writes:
            if each.buffer not in skip.split():
                self.write(master, each.buffer)

    def up_to(self, number: int) -> None:
        """Start a run and do all operators before `number`."""
        self.start()
        for earlier in range(number):
            self.operator(earlier)

    def found(self) -> tuple[Violation, ...]:
        records, _ = self.shadow.findings()
        named = name_findings(records, self.table, self.chip)
        return tuple(each.violation for each in named)

    def only(self, rule: str) -> Violation:
        """Return the one finding, which broke `rule`."""
        (violation,) = self.found()
        assert violation.rule == rule, violation
        return violation
