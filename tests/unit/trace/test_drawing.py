# SPDX-License-Identifier: Apache-2.0
"""What a trace shows where something is unknown, overlaps or cannot be written."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.trace_processor import TraceProcessor, open_trace

import atoll
from atoll.cli import main
from atoll.diagnostics.errors import UsageError
from atoll_trace.content import draw_run
from atoll_trace.drawing import Clock, Drawing, Slice
from atoll_trace.perfetto_file import encode

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"


def trace_of(drawing: Drawing, folder: Path) -> TraceProcessor:
    path = folder / "drawn.pftrace"
    path.write_bytes(encode(drawing))
    return open_trace(path)


def made(**overrides: Any) -> atoll.Compilation:
    return atoll.compile(atoll.load_soc("lagoon").with_(overrides), DIGITS)


def test_slices_that_overlap_keep_their_length(tmp_path: Path) -> None:
    drawing = Drawing(Clock(device="cpu", hertz=50_000_000))
    track = drawing.track("npu")
    spans = ((0, 10), (4, 12), (10, 10), (10, 11), (12, 20))
    for begin, end in spans:
        facts: dict[str, Any] = {"unknown": None, "parts": [{"a": 1}, {"a": 2.5}], "ok": True}
        drawing.slices.append(
            Slice(track=track, category="operator", name="x", begin=begin, end=end, facts=facts)
        )
    trace = trace_of(drawing, tmp_path)
    found = trace.rows(
        "select ts, dur, t.name, depth from slice s join track t on t.id = s.track_id"
    )
    assert sorted(found) == sorted((b * 20, (e - b) * 20, "npu", 0) for b, e in spans)
    keys = trace.values("select distinct key, display_value from args where key like 'debug.%'")
    assert keys == {"debug.parts[0].a": "1", "debug.parts[1].a": "2.5", "debug.ok": "true"}


def test_a_chip_without_a_clock_has_none_in_its_trace(tmp_path: Path) -> None:
    text = (ROOT / "socs" / "lagoon.yaml").read_text().replace("clock: 100 MHz", "")
    chip = tmp_path / "idle.yaml"
    chip.write_text(text)
    compiled = atoll.compile(atoll.load_soc(chip), DIGITS)
    path = tmp_path / "estimate.pftrace"
    told = atoll.estimate(compiled, trace=path).network.to_json()
    trace = open_trace(path)
    total = trace.value("select sum(dur) from slice where category = 'firmware'")
    assert total == told["cycles"]["total"]
    clocks = trace.rows(
        "select distinct extract_arg(arg_set_id, 'debug.clock'),"
        " extract_arg(arg_set_id, 'debug.clock_hz') from slice where category = 'firmware'"
    )
    assert clocks == [("1 cycle is drawn as 1 ns: the chip gives 'cpu' no clock", None)]


def test_a_finding_at_an_unknown_cycle_says_so(tmp_path: Path) -> None:
    compiled = made()
    finding = {"cycle": None, "rule": "stack", "device": "cpu", "buffer": "", "address": 4096}
    document = atoll.run(compiled, cpu="native", accelerator="model").network.to_json()
    document["cycles"] |= {"total": 50, "by_layer": []}
    document["placement"]["violations"] = [finding]
    trace = trace_of(draw_run([(compiled.network._compiled, document)], "none"), tmp_path)
    found = trace.rows(
        "select t.name as track, ts, s.name as told, extract_arg(arg_set_id, 'debug.cycle'),"
        " extract_arg(arg_set_id, 'debug.address') from slice s join track t"
        " on t.id = s.track_id where category = 'finding'"
    )
    assert found == [("findings at an unknown cycle", 500, "stack: cpu", None, 4096)]


def test_a_result_that_differs_is_where_its_operator_ends(tmp_path: Path) -> None:
    compiled = made()
    document = atoll.run(compiled, cpu="iss", accelerator="model").network.to_json()
    layer = document["cycles"]["by_layer"][2]
    named = {"tensor": "t", "operator": layer["operator"], "device": "npu", "first_element": 3}
    differs = {**named, "differing_elements": 1, "expected": 5, "actual": None}
    document["cycles"]["by_sample"] = [
        {
            "sample": sample,
            **{"begin": 0, "end": 1000 * (sample + 1)},
            "by_layer": [{**layer, "end": layer["end"] + 7 * sample}] if sample < 2 else [],
        }
        for sample in (0, 1, 2)
    ]
    document["mismatches"] = [{"sample": sample, **differs} for sample in (0, 1, 2)]
    trace = trace_of(draw_run([(compiled.network._compiled, document)], "none"), tmp_path)
    found = trace.rows(
        "select ts, dur, s.name, extract_arg(arg_set_id, 'debug.expected') from slice s"
        " join track t on t.id = s.track_id where category = 'mismatch' order by s.name"
    )
    assert found == [
        (10 * layer["end"], 0, "t: sample 0 differs", 5),
        (10 * layer["end"] + 70, 0, "t: sample 1 differs", 5),
        (30_000, 0, "t: sample 2 differs", 5),
    ]


def test_equal_estimates_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        atoll.estimate(made(), trace=tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_without_perfetto_there_is_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atoll_trace.api.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="package 'perfetto'") as caught:
        atoll.estimate(made(), trace=tmp_path / "out.pftrace")
    (fault,) = caught.value.faults
    assert (fault.code, fault.remedy) == ("E231", "install it with: pip install 'atoll[trace]'")
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_traced_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = made()
    monkeypatch.setattr("atoll.api.simulation.function_of", pytest.fail)
    with pytest.raises(UsageError, match="counts no cycles") as caught:
        atoll.run(compiled, cpu="native", trace=tmp_path / "out.pftrace")
    assert caught.value.faults[0].code == "E230"
    with pytest.raises(UsageError) as caught:
        atoll.run(compiled, trace=tmp_path / "absent" / "out.pftrace")
    assert caught.value.faults[0].code == "E092"
    assert not list(tmp_path.iterdir())


def test_a_trace_that_breaks_off_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, compiled = tmp_path / "out.pftrace", made()
    path.write_bytes(b"\n\xff")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match="No space left"):
        atoll.estimate(compiled, trace=path)
    assert [each.name for each in tmp_path.iterdir()] == ["out.pftrace"]
    assert path.read_bytes() == b"\n\xff"


def test_a_trace_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    path, compiled = tmp_path / "out.pftrace", made()
    path.touch()
    for _ in range(2):
        atoll.estimate(compiled, trace=path)
        assert path.stat().st_size


def test_the_command_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.pftrace"
    assert main(["estimate", "lagoon", str(DIGITS), "--json", "--trace", str(path)]) == 0
    told = capsys.readouterr()
    assert told.err.splitlines()[-1] == f"wrote {path}"
    cycles = json.loads(told.out)["cycles"]
    trace = open_trace(path)
    assert trace.value("select max(ts + dur) from slice") == cycles["total_ns"]
