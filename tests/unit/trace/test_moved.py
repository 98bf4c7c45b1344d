# SPDX-License-Identifier: Apache-2.0
"""What operators moved in which memory, and when each sample ran: in the JSON and in the trace."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.trace_processor import TraceProcessor, open_trace

import atoll
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll_sim.protocol.records import COUNT, AccessKind
from atoll_sim.runs.checked_run import AcceleratorKind, Backends, CpuKind, Setup, judge
from atoll_sim.trace.simulation import Phase, SimResult, Stop, Touched
from atoll_sim.trace.timeline import touches_by_phase
from atoll_trace.content import draw_run
from atoll_trace.perfetto_file import encode

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_file(load_soc("lagoon"), DIGITS)


def touched(master: str, kind: AccessKind, **by_memory: int) -> Touched:
    origins = {each.name: each.origin for each in load_soc("lagoon").memories}
    counted = {origins[name]: count for name, count in by_memory.items()}
    total = sum(counted.values())
    return Touched(
        master=master, kind=kind, accesses=1, transferred=total, spans=(), by_memory=counted
    )


READ = touched("npu", AccessKind.READ, flash=100, sram=30)
WRITE = touched("npu", AccessKind.WRITE, sram=7)
HOST = touched("cpu", AccessKind.FETCH, flash=4000)
UNKNOWN = replace(READ, by_memory=None)


def phase(operators: tuple[int, ...], *what: Touched, sample: int = 0, begin: int = 0) -> Phase:
    return Phase(sample=sample, operators=operators, begin=begin, end=begin + 10, touched=what)


def judged(compiled: Compiled, *phases: Phase, backends: Backends | None = None) -> dict[str, Any]:
    result = SimResult(
        stop=Stop.EXIT,
        exit_status=0,
        results=(),
        outputs=(),
        layers=(),
        phases=phases,
        findings=(),
        findings_total=0,
        stacks={},
        text="",
        trapped=None,
        cycles=1000,
        wall_seconds=1.0,
    )
    setup = Setup(cpu=CpuKind.RTL, backends=backends or Backends(), wall={})
    cycles: dict[str, Any] = judge(compiled, (), result, setup).report.as_json()["cycles"]
    return cycles


def test_an_operator_has_what_its_own_devices_moved(compiled: Compiled) -> None:
    cycles = judged(compiled, phase((0,), READ, HOST), phase((0,), READ, WRITE), phase((1,), WRITE))
    assert [each["memories"] for each in cycles["by_layer"]] == [
        [
            {"memory": "flash", "read_bytes": 200, "written_bytes": 0},
            {"memory": "sram", "read_bytes": 60, "written_bytes": 7},
        ],
        [{"memory": "sram", "read_bytes": 0, "written_bytes": 7}],
    ]


@pytest.mark.parametrize(
    ("phases", "backends"),
    [
        ([phase((0, 1), READ)], Backends()),
        ([phase((0,), READ), phase((0,), UNKNOWN)], Backends()),
        ([phase((0,), HOST)], Backends()),
        ([phase((0,), READ)], Backends(named={"npu": AcceleratorKind.MODEL})),
    ],
    ids=["two at once", "nobody counted", "not seen", "a model"],
)
def test_what_is_not_known_is_null(
    compiled: Compiled, phases: list[Phase], backends: Backends
) -> None:
    assert judged(compiled, *phases, backends=backends)["by_layer"][0]["memories"] is None


def test_each_sample_has_its_cycles(compiled: Compiled) -> None:
    spans = [(0, 100), (0, 110), (1, 200), (2, 300), (2, 340)]
    phases = [phase((0,), READ, sample=sample, begin=begin) for sample, begin in spans]
    found = judged(compiled, phase((), HOST), *phases)
    told = [(each["sample"], each["begin"], each["end"]) for each in found["by_sample"]]
    assert told == [(0, 100, 120), (1, 200, 210), (2, 300, 350)]
    first = {key: found["by_layer"][0][key] for key in found["by_sample"][0]["by_layer"][0]}
    assert found["by_sample"][0]["by_layer"] == [first]
    assert found["by_sample"][2]["by_layer"] == [first | {"begin": 300, "end": 350, "worked": 0}]


def test_counts_are_added_up_by_memory() -> None:
    same = {"phase": 3, "master": 0, "kind": 0, "accesses": 4, "last": 9}
    rows = [{**same, "memory": at, "bytes": size} for at, size in ((4096, 8), (8192, 12))]
    (found,) = touches_by_phase(
        COUNT.pack(COUNT.row(**{name: each[name] for name in COUNT.fields}) for each in rows),
        b"",
        ("npu",),
    )[3]
    assert (found.accesses, found.transferred, found.last) == (4, 20, 9)
    assert found.by_memory == {4096: 8, 8192: 12}


def drawn(
    folder: Path, by_sample: int, interrupts: Any = None
) -> tuple[TraceProcessor, dict[str, Any]]:
    """Return the trace of a run whose figures are made up."""
    made = atoll.compile("lagoon", DIGITS)
    document = atoll.run(made, cpu="native", accelerator="model").network.to_json()
    layers = document["cycles"]["by_layer"]
    for number, layer in enumerate(layers):
        moved = [{"memory": "sram", "read_bytes": 10 + number, "written_bytes": 1}]
        layer |= {"begin": 10 * number, "end": 10 * number + 10, "worked": 8}
        layer["memories"] = moved if number != 2 else None
    short = ("operator", "device", "helpers", "worked")
    samples = [
        {
            "sample": n,
            **{"begin": 100 * n, "end": 100 * n + 90},
            "by_layer": [
                {name: layer[name] for name in short}
                | {key: 100 * n + layer[key] for key in ("begin", "end")}
                for layer in layers
            ],
        }
        for n in range(by_sample)
    ]
    document["cycles"] |= {"total": 500, "by_sample": samples, "interrupts": interrupts}
    path = folder / "drawn.pftrace"
    path.write_bytes(encode(draw_run([(made.network._compiled, document)], "none")))
    return open_trace(path), document


def test_a_trace_counts_the_bytes_and_shows_each_sample(tmp_path: Path) -> None:
    trace, document = drawn(tmp_path, 3)
    layers = document["cycles"]["by_layer"]
    known = [each for each in layers if each["memories"]]
    total, wanted = 0, []
    for each in known:
        total += sum(row["read_bytes"] + row["written_bytes"] for row in each["memories"])
        wanted.append((each["end"] * 10, total))
    assert 0 < len(known) < len(layers)
    assert wanted == trace.rows(
        "select ts, cast(value as int) from counter c join track t on t.id = c.track_id"
        " join track p on p.id = t.parent_id where p.name = 'moved' order by ts"
    )
    read = trace.value(
        "select sum(extract_arg(arg_set_id, 'debug.read_bytes')) from slice"
        " where category = 'memory'"
    )
    assert read == sum(row["read_bytes"] for each in known for row in each["memories"])
    samples = trace.rows(
        "select extract_arg(arg_set_id, 'debug.sample'), ts, dur from slice"
        " where category = 'network' order by ts"
    )
    assert samples == [(n, 1000 * n, 900) for n in range(3)]
    for sample in document["cycles"]["by_sample"]:
        operators = trace.rows(
            "select extract_arg(arg_set_id, 'debug.operator') as operator, ts, dur from slice"
            " where category = 'operator'"
            f" and ts between {10 * sample['begin']} and {10 * sample['end']} - 1 order by ts"
        )
        assert operators == [
            (each["operator"], 10 * each["begin"], 10 * each["worked"])
            for each in sample["by_layer"]
        ]


def test_a_trace_shows_when_lines_were_high(tmp_path: Path) -> None:
    """A line that stays high does so up to the end."""
    pulses = [{"rise": 30, "fall": 34}, {"rise": 90, "fall": None}]
    line = {"source": "npu", "core": "cpu", "line": 3, "raised": 2, "pulses": pulses}
    trace, _ = drawn(tmp_path, 1, interrupts=[line, line | {"source": "guard", "pulses": []}])
    assert trace.rows(
        "select t.name as track, ts, dur, extract_arg(arg_set_id, 'debug.rise'),"
        " extract_arg(arg_set_id, 'debug.fall') from slice s join track t on t.id = s.track_id"
        " where category = 'interrupt'"
    ) == [
        ("npu: line 3 of cpu", 300, 40, 30, 34),
        ("npu: line 3 of cpu", 900, 4100, 90, None),
    ]
