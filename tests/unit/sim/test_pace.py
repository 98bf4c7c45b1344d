# SPDX-License-Identifier: Apache-2.0
"""How far a simulation is, and what a pipe sees of long work."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from atoll.artifacts.build_tree import build
from atoll.cli import main
from atoll.cli import working as cli_progress
from atoll.cli.working import show_work
from atoll.diagnostics.progress import about, duration, remaining_text, report_to
from atoll.driver.pipeline import Compiled, compile_file
from atoll.report.estimates import estimates_of
from atoll.resolve import load_soc
from atoll_sim.simulate.pace import TYPICAL, keep_speed, pace_of
from atoll_sim.trace.run_files import Seen, read_pace, write_pace
from atoll_sim.trace.simulation import SimResult, Stop

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_file(load_soc("lagoon"), DIGITS)


def ran(cycles: int, seconds: float) -> SimResult:
    return SimResult(
        stop=Stop.EXIT,
        exit_status=0,
        results=(),
        outputs=(),
        layers=(),
        phases=(),
        findings=(),
        findings_total=0,
        stacks={},
        text="",
        trapped=None,
        cycles=cycles,
        wall_seconds=seconds,
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_times_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_rest_goes_on_as_so_far() -> None:
    assert remaining_text(20, 100, 10.0) == ", about 40 s left"
    assert remaining_text(90, 100, 1.0) == ", under 1 s left"
    assert (remaining_text(0, 100, 10.0), remaining_text(100, 100, 10.0)) == ("", "")


def test_the_first_run_of_a_model_is_said_to_be_typical(compiled: Compiled, tmp_path: Path) -> None:
    pace = pace_of([compiled], 20, tmp_path / "model")
    assert (pace.measured, pace.speed) == (False, TYPICAL)
    assert "typical; never measured here" in str(pace)
    (estimate,) = estimates_of((compiled,))
    assert pace.cycles == estimate.total + 19 * estimate.network
    assert pace_of([compiled], 1, tmp_path / "model").cycles == estimate.total


def test_the_speed_of_a_run_lies_beside_its_model(compiled: Compiled, tmp_path: Path) -> None:
    keep_speed(tmp_path / "model", ran(2_000_000, 2.0))
    pace = pace_of([compiled], 300, tmp_path / "model")
    assert (pace.measured, pace.speed) == (True, 1e6)
    assert pace.cycles > 2e6, "a time that is said in seconds"
    assert (
        f": about {duration(pace.cycles / 1e6)}, {pace.cycles:,} cycles at 1.0 M cycles/s"
        in str(pace)
    )
    keep_speed(tmp_path / "model", ran(10, 0.001))
    assert pace_of([compiled], 1, tmp_path / "model").speed == 1e6, "too short to tell"
    (tmp_path / "speed.txt").write_text("nonsense")
    assert not pace_of([compiled], 1, tmp_path / "model").measured


def test_a_run_tells_layer_cycles_and_the_rest(compiled: Compiled, tmp_path: Path) -> None:
    pace = pace_of([compiled], 2, tmp_path / "model")
    layers = len(compiled.graph.operators)
    half = Seen(cycle=pace.cycles // 2, asked=2, done=3, seconds=30.0)
    write_pace(tmp_path, half)
    seen = read_pace(tmp_path)
    assert seen == half
    assert pace.line(half) == (
        f"simulating in RTL: run 2 of 2, layer 4 of {layers}, about 30 s left, "
        f"{pace.cycles // 2:,} of about {pace.cycles:,} cycles"
    )
    early = pace.line(Seen(cycle=10, asked=0, done=0, seconds=0.5))
    assert f"starting up, {about(pace.seconds)} left, 10 of about {pace.cycles:,} cycles" in early
    late = pace.line(Seen(cycle=2 * pace.cycles, asked=2, done=layers, seconds=9.0))
    assert f"layer {layers} of {layers}" in late
    assert "longer than estimated" in late
    (tmp_path / "pace.txt").write_text('{"cyc')
    assert read_pace(tmp_path) is None


def lines_of(told: Sequence[str], seconds: float, capsys: pytest.CaptureFixture[str]) -> list[str]:
    with show_work("beginning") as progress:
        for line in told:
            progress(line)
        time.sleep(seconds)
    output = capsys.readouterr()
    assert output.out == ""
    return output.err.splitlines()


def test_a_pipe_gets_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli_progress, "SECONDS_BETWEEN", 0.1)
    lines = lines_of(["one", "two"], 0.55, capsys)
    assert 3 <= len(lines) <= 6
    assert set(lines) <= {"two (0 s)", "two (1 s)"}


def test_quick_work_is_silent_and_long_work_is_announced(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert lines_of(["one", "two"], 0.1, capsys) == []
    with show_work("beginning") as progress:
        progress("short", expected=1.0)
        progress("long", expected=60.0)
    assert capsys.readouterr().err == "long (0 s)\n"


def test_a_build_tells_its_steps(compiled: Compiled, tmp_path: Path) -> None:
    lines: list[str] = []

    def take(what: str, /, *, expected: float = 0.0) -> None:
        lines.append(what)

    with report_to(take):
        build((compiled,), tmp_path / "build")
    count = len(lines) - 1
    steps = [f"file {number} of {count} compiled" for number in range(1, count + 1)]
    assert lines == [f"building the firmware of 'cpu': {step}" for step in (*steps, "linking")]
    build((compiled,), tmp_path / "build")
    assert len(lines) == count + 1, "nobody listens any more"


@pytest.mark.rtl
def test_a_piped_run_tells_its_layers_and_keeps_json_clean(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(cli_progress, "SECONDS_BETWEEN", 0.02)
    batch = tmp_path / "batch.npy"
    np.save(batch, np.zeros((8, 8, 8, 1), np.int8))
    arguments = ["--accelerator", "none", "--input", str(batch), "--json"]
    assert main(["run", "lagoon", str(DIGITS), *arguments]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["bit_exact"] is True
    assert "simulating 8 runs in RTL: " in output.err
    assert " of 8, layer " in output.err
