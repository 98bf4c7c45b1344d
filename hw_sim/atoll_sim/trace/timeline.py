# SPDX-License-Identifier: Apache-2.0
"""Make a `SimResult` of what the bench recorded: name the phases, masters and buffers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest

from atoll.protocol import Trace, TraceEvent
from atoll_sim.chip.chip_parts import Interrupt
from atoll_sim.model.monitors import Event
from atoll_sim.protocol.records import COUNT, HEAT, KINDS, LINE, OCCASION, SPAN, EventKind
from atoll_sim.trace.run_files import Capture, Record
from atoll_sim.trace.simulation import Finding, Line, Phase, SimResult, Touched


def make_result(
    record: Record,
    masters: Sequence[str],
    findings: tuple[Finding, ...] = (),
    interrupts: Sequence[Interrupt] = (),
) -> SimResult:
    """Put a bench's record into the terms of the chip.

    Args:
        record: what the bench wrote.
        masters: names of the devices by the monitors' numbers.
        findings: the record's, named.
        interrupts: the lines by the monitor's numbers.
    """
    runs = [event for event in record.events if event.kind is EventKind.RESULT]
    last = record.events[-1] if record.events else None
    return SimResult(
        stop=record.stop,
        exit_status=last.value if last and last.kind is EventKind.EXIT else None,
        results=tuple(_to_signed(event.value) for event in runs),
        outputs=_outputs(record.captures),
        layers=_layers(record.captures),
        phases=_phases(record, masters),
        findings=findings,
        findings_total=record.findings_total,
        lines=None if record.lines is None else tuple(_lines(record.lines, interrupts)),
        heat=_heat(record.heat),
        occasions=occasions_of(record.occasions, masters),
        stacks={capture.name: capture.data for capture in record.captures if capture.run < 0},
        text=record.text,
        trapped=masters[last.value] if last and last.kind is EventKind.TRAP else None,
        cycles=record.cycles,
        wall_seconds=record.wall_seconds,
    )


def occasions_of(records: bytes, masters: Sequence[str]) -> Mapping[tuple[str, int], int]:
    """Return how often each accelerator could have broken a rule, by its name and the number."""
    return {
        (masters[each["master"]], each["rule"]): each["count"] for each in OCCASION.unpack(records)
    }


def _to_signed(word: int) -> int:
    """Return what a 32-bit register holds as the C code meant it: codes are negative."""
    return word - 2**32 if word >= 2**31 else word


def _outputs(captures: Iterable[Capture]) -> tuple[Mapping[str, bytes], ...]:
    runs: dict[int, dict[str, bytes]] = defaultdict(dict)
    for capture in captures:
        if capture.run >= 0 and capture.operator < 0:
            runs[capture.run][capture.name] = capture.data
    return tuple(runs[run] for run in range(len(runs)))


def _layers(captures: Iterable[Capture]) -> tuple[Mapping[int, Mapping[str, bytes]], ...]:
    runs: dict[int, dict[int, dict[str, bytes]]] = defaultdict(lambda: defaultdict(dict))
    for capture in captures:
        if capture.run >= 0 and capture.operator >= 0:
            runs[capture.run][capture.operator][capture.name] = capture.data
    return tuple(dict(runs[run]) for run in range(max(runs, default=-1) + 1))


def _phases(record: Record, masters: Sequence[str]) -> tuple[Phase, ...]:
    touched = touches_by_phase(record.counts, record.spans, masters)
    traces = [event for event in record.events if event.kind is EventKind.TRACE]
    bounds = [Event(0, EventKind.TRACE, 0), *traces, Event(record.cycles, EventKind.TRACE, 0)]
    phases, run, inside = [], -1, False
    under_way: dict[int, None] = {}
    for number, (begin, end) in enumerate(pairwise(bounds)):
        trace = Trace.of(begin.value)
        begins = trace.event == TraceEvent.RUN_BEGIN
        inside = (inside or begins) and trace.event not in (TraceEvent.READY, TraceEvent.RUN_END)
        run += begins
        if trace.event == TraceEvent.OPERATOR_BEGIN:
            under_way[trace.operator] = None
        elif trace.event == TraceEvent.OPERATOR_END:
            under_way.pop(trace.operator, None)
        elif trace.event in (TraceEvent.RUN_BEGIN, TraceEvent.RUN_END):
            under_way.clear()
        phases.append(
            Phase(
                sample=run if inside else None,
                operators=tuple(under_way),
                begin=begin.cycle,
                end=end.cycle,
                touched=tuple(touched.get(number, ())),
            )
        )
    return tuple(phases)


def _lines(changes: bytes, interrupts: Sequence[Interrupt]) -> Iterator[Line]:
    by_line: dict[int, list[int]] = defaultdict(list)
    for change in LINE.unpack(changes):
        by_line[change["line"]].append(change["cycle"])
    for number, each in enumerate(interrupts):
        cycles = by_line[number]
        pulses = tuple(zip_longest(cycles[::2], cycles[1::2]))
        yield Line(source=each.source, core=each.core, number=each.line, pulses=pulses)


def _heat(rows: bytes) -> tuple[Mapping[int, tuple[int, int]], ...]:
    runs: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    for row in HEAT.unpack(rows):
        runs[row["run"]][row["address"]] = row["read"], row["written"]
    return tuple(runs[run] for run in range(max(runs, default=-1) + 1))


def touches_by_phase(
    counts: bytes, spans: bytes, masters: Sequence[str]
) -> Mapping[int, Sequence[Touched]]:
    """Return what the masters touched, by the number of the phase.

    Args:
        counts: of `monitors.Model`.
        spans: likewise.
        masters: names of the devices by the monitors' numbers.
    """
    listed: dict[tuple[int, ...], list[range]] = defaultdict(list)
    for span in SPAN.unpack(spans):
        key = span["phase"], span["master"], span["kind"]
        listed[key].append(range(span["start"], span["end"]))
    counted: dict[tuple[int, ...], list[Mapping[str, int]]] = defaultdict(list)
    for count in COUNT.unpack(counts):
        counted[count["phase"], count["master"], count["kind"]].append(count)
    touched: dict[int, list[Touched]] = defaultdict(list)
    for (phase, master, kind), by_memory in counted.items():
        touched[phase].append(
            Touched(
                master=masters[master],
                kind=KINDS[kind],
                accesses=by_memory[0]["accesses"],
                transferred=sum(each["bytes"] for each in by_memory),
                last=by_memory[0]["last"],
                spans=tuple(sorted(listed[phase, master, kind], key=lambda span: span.start)),
                by_memory={each["memory"]: each["bytes"] for each in by_memory},
            )
        )
    return touched
