# SPDX-License-Identifier: Apache-2.0
"""Run samples on a flashed board, and tell what it did in the terms of a simulation."""

import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from atoll.artifacts.samples import Sample
from atoll.diagnostics.errors import SimulationError, UsageError
from atoll.diagnostics.progress import Progress
from atoll.driver.pipeline import Compiled, expected_cycles
from atoll.protocol import (
    SERIAL_DATA,
    SERIAL_VERSION,
    SerialMessage,
    Status,
    Trace,
    TraceEvent,
)
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.board.link import Answer, Link
from atoll_sim.model.monitors import Event
from atoll_sim.protocol.records import EventKind
from atoll_sim.trace.painted_stacks import stack_name
from atoll_sim.trace.run_files import Capture, Record
from atoll_sim.trace.simulation import SimResult, Stop
from atoll_sim.trace.timeline import make_result

PAINT = bytes([0xA5])
SLACK = 4
"""How many times its estimate a run may take before it is asked for again, and SECONDS more."""

SECONDS = 1.0
_BEGUN, _ENDED = 1, 2
_OPERATOR = struct.Struct("<BII")
_PLACE = struct.Struct("<BBI")
_STACK = struct.Struct("<II")
_WORD = struct.Struct("<I")
REMEDY = (
    "flash firmware.serial.elf of the package that `atoll bsp --serial` writes for this chip and"
    " these networks, with the same options of placement"
)


def run_samples(
    link: Link,
    models: Sequence[Compiled],
    samples: Sequence[Sequence[Sample]],
    digest: str,
    progress: Progress,
) -> SimResult:
    """Run networks in turn with all samples; a run that fails is the last one.

    Args:
        link: to the board.
        models: the networks of its image, in their order.
        samples: of each network; all have the same number.
        digest: of the build that the board must have.
        progress: told what goes on.

    Raises:
        UsageError: E273; the board runs another image.
        SimulationError: E272; the board does not answer, or did not start.
    """
    soc = models[0].soc
    _greet(link, models, digest)
    begin = time.perf_counter()
    runs = _Runs(link, models)
    if any(model.graph.states for model in models):
        _require(link.ask(SerialMessage.RESET), "reset the states of its networks")
    total = len(samples[0])
    for number in range(total * len(models)):
        sample, turn = divmod(number, len(models))
        name = models[turn].graph.name
        progress(f"running '{name}' on the board: sample {sample + 1} of {total}")
        if not runs.run(turn, samples[turn][sample]):
            break
    captures = (*runs.captures, *_stacks(link, soc))
    record = Record(
        stop=Stop.EXIT,
        events=(*runs.events, Event(runs.cycles, EventKind.EXIT, 0)),
        captures=captures,
        **dict.fromkeys(("counts", "spans", "heat", "findings"), b""),
        lines=None,
        findings_total=0,
        text=link.text,
        cycles=runs.cycles,
        wall_seconds=time.perf_counter() - begin,
    )
    result = make_result(record, [device.name for device in soc.devices])
    return replace(
        result,
        unpainted=dict.fromkeys(result.stacks, 0),
        notes=(*runs.notes, _line_note(link)),
    )


class _Runs:
    """Runs of networks, one after another on one line of time.

    Attributes:
        cycles: of all runs so far; what the board does between runs is not counted.
        notes: about cycles that are not known.
    """

    def __init__(self, link: Link, models: Sequence[Compiled]) -> None:
        self.events: list[Event] = []
        self.captures: list[Capture] = []
        self.cycles = 0
        self._link = link
        self._models = models
        self._runs = 0
        self._together: dict[str, None] = {}
        self._seconds = [
            SECONDS
            + SLACK
            * sum(each.cycles for each in expected_cycles(model).values())
            / model.soc.host_cpu.clock
            for model in models
        ]

    @property
    def notes(self) -> Iterator[str]:
        """Yield what is not known of cycles."""
        if self._runs and not self.cycles:
            yield "nothing counts cycles on the board (atoll_serial_cycles of app/serial.c)"
        if self._together:
            names = ", ".join(self._together)
            yield f"the board does not tell apart the cycles of operators of one list: {names}"

    def run(self, turn: int, sample: Sample) -> bool:
        """Run a network with a sample, and read what it made; tell whether it was able to."""
        model, link = self._models[turn], self._link
        for port, name in enumerate(model.graph.inputs):
            self._write(turn, port, sample[name].tobytes())
        answer = link.ask(SerialMessage.RUN, bytes([turn]), seconds=self._seconds[turn])
        if len(answer.data) != _WORD.size:
            raise _refusal_error(f"run '{model.graph.name}'", answer.status)
        [took] = _WORD.unpack(answer.data)
        self._trace(self.cycles, TraceEvent.RUN_BEGIN)
        self._add_operators(model)
        self.cycles += took
        self.events.append(Event(self.cycles, EventKind.RESULT, answer.status % (1 << 32)))
        self._trace(self.cycles, TraceEvent.RUN_END)
        if answer.status == Status.OK:
            sizes = model.module.entry.sizes
            for port, name in enumerate(model.graph.outputs):
                data = self._read(turn, port, sizes[name])
                self.captures.append(Capture(self._runs, -1, name, data))
        self._runs += 1
        return answer.status == Status.OK

    def _write(self, turn: int, port: int, data: bytes) -> None:
        for at in range(0, len(data), SERIAL_DATA):
            body = _PLACE.pack(turn, port, at) + data[at : at + SERIAL_DATA]
            _require(self._link.ask(SerialMessage.WRITE, body), "take an input")

    def _read(self, turn: int, port: int, size: int) -> bytes:
        data = b""
        for at in range(0, size, SERIAL_DATA):
            body = _PLACE.pack(turn, port, at) + bytes([min(SERIAL_DATA, size - at)])
            data += _require(self._link.ask(SerialMessage.READ, body), "give an output")
        return data

    def _trace(self, cycle: int, event: TraceEvent, operator: int = 0) -> None:
        self.events.append(Event(cycle, EventKind.TRACE, Trace(event, operator).word()))

    def _add_operators(self, model: Compiled) -> None:
        operators = model.graph.operators
        marks: list[tuple[int, int, TraceEvent]] = []
        for number, (seen, begin, end) in enumerate(self._times(len(operators))):
            if seen == _BEGUN | _ENDED:
                marks.append((begin, number, TraceEvent.OPERATOR_BEGIN))
                marks.append((end, number, TraceEvent.OPERATOR_END))
            else:
                self._together[operators[number].name] = None
        for cycle, number, event in sorted(marks):
            self._trace(self.cycles + cycle, event, number)

    def _times(self, count: int) -> Iterator[tuple[int, int, int]]:
        """Yield what the board noted of each operator: marks, begin and end in cycles."""
        data = b""
        while len(data) < count * _OPERATOR.size:
            asked = _WORD.pack(len(data) // _OPERATOR.size)
            told = _require(self._link.ask(SerialMessage.TIMES, asked), "tell cycles")
            if not told:
                raise _refusal_error("tell cycles", Status.ARGUMENT)
            data += told
        yield from _OPERATOR.iter_unpack(data[: count * _OPERATOR.size])


def _greet(link: Link, models: Sequence[Compiled], digest: str) -> None:
    """Begin a session with a board that runs these networks.

    Raises:
        UsageError: E273; it runs another image.
        SimulationError: E272.
    """
    hello = link.ask(SerialMessage.HELLO)
    version, count = hello.data[0], hello.data[1]
    if version != SERIAL_VERSION:
        raise _other(f"speaks version {version} of the protocol, not {SERIAL_VERSION}")
    chip, build, *networks = (_name(link, index) for index in range(2 + count))
    wanted = [_cut_name(model.graph.name) for model in models]
    if chip != _cut_name(models[0].soc.name):
        raise _other(f"runs an image of chip '{chip}', not of '{models[0].soc.name}'")
    if networks != wanted:
        raise _other(f"runs {_list_names(networks)}, not {_list_names(wanted)}")
    if build != digest:
        raise _other(f"runs build {build[:12]} of {_list_names(networks)}, not {digest[:12]}")
    _require(hello, "start its devices")


def _name(link: Link, index: int) -> str:
    told = _require(link.ask(SerialMessage.NAME, bytes([index])), "tell a name")
    return told.decode(errors="replace")


def _cut_name(name: str) -> str:
    return name.encode()[:SERIAL_DATA].decode(errors="replace")


def _list_names(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names) or "no network"


def _other(what: str) -> UsageError:
    return UsageError("E273", f"the board {what}", remedy=REMEDY)


def _require(answer: Answer, what: str) -> bytes:
    """Return the data of an answer.

    Raises:
        SimulationError: E272; the board could not do it.
    """
    if answer.status != Status.OK:
        raise _refusal_error(what, answer.status)
    return answer.data


def _refusal_error(what: str, status: int) -> SimulationError:
    known = {each.value: each.text for each in Status}
    return SimulationError(
        "E272",
        f"the board could not {what}: {known.get(status, f'status {status}')}",
        remedy="see what app/guard.c and app/serial.c do, and whether all devices are there",
    )


def _stacks(link: Link, soc: ResolvedSoc) -> Iterator[Capture]:
    """Yield the host's stacks as painted and used bytes: the board tells how many, not which."""
    for index, stack in enumerate(soc.host_cpu.stacks):
        told = _require(link.ask(SerialMessage.STACKS, bytes([index])), "tell its stacks")
        size, used = _STACK.unpack(told)
        yield Capture(-1, -1, stack_name(stack), PAINT * (size - used) + bytes(used))


def _line_note(link: Link) -> str:
    return f"{link.requests:,} requests to the board, {link.repeated:,} sent again"
