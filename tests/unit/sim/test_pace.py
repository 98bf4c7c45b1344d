# SPDX-License-Identifier: Apache-2.0
"""How far a simulation is, and what a pipe sees of long work."""

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from atoll.artifacts.build_tree import build
from atoll.cli import main
from atoll.cli import working as cli_progress
from atoll.cli.working import Shown, show_work
from atoll.cost.estimate import estimates_of
from atoll.description.build import Build, BuildRequests
from atoll.diagnostics.progress import Steps, announce, duration, line, report_to
from atoll.diagnostics.shown import columns_of
from atoll.driver.compiled import cost_of
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.resolve import load_soc
from atoll_sim.trace.pace import ALL, Measured, Pace, keep_measured, load_measured
from atoll_sim.trace.run_files import read_pace, write_pace
from atoll_sim.trace.simulation import SimResult, Stop
from atoll_sim.trace.so_far import SoFar, Teller

NOTHING = Measured()
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


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Told:
    """Takes lines as whoever shows them."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, what: str, /, *, left: float | None = None) -> None:
        self.lines.append(line(what, left))


def test_like_steps_go_on_as_so_far() -> None:
    clock, told = Clock(), Told()
    steps = Steps(100, told, clock)
    for done, now in ((0, 101.0), (20, 110.0), (90, 101.0), (100, 120.0)):
        clock.now = now
        steps.tell(done, f"step {done}")
    assert told.lines == [
        "step 0, time left not known yet",
        "step 20, about 40 s left",
        "step 90, under 1 s left",
        "step 100, under 1 s left",
    ]


def test_what_is_shown_counts_down_and_admits_when_it_was_wrong() -> None:
    clock = Clock()
    shown = Shown("beginning", clock)
    assert shown.text == "beginning, time left not known yet (0 s)"
    shown.tell("run 1 of 2", left=8.0)
    clock.now += 3
    assert shown.text == "run 1 of 2, about 5 s left (3 s)"
    clock.now += 6
    assert shown.text == "run 1 of 2, longer than expected (9 s)"
    assert shown.within(40) == "run 1 of 2, longer than expected (9 s)"
    assert shown.within(36) == "run 1..., longer than expected (9 s)"
    shown.tell("run 2 of 2")
    assert shown.text == "run 2 of 2, time left not known yet (9 s)"


@pytest.mark.parametrize("width", [9, 19, 29, 39, 79])
def test_no_terminal_is_too_narrow_and_no_name_moves_its_cursor(width: int) -> None:
    shown = Shown("checking '\x1b[2J\n雪雪雪雪雪雪雪雪雪雪雪雪雪雪雪雪雪雪雪雪.yaml'", Clock())
    for left in (None, 200.0, -1.0):
        shown.tell(shown.text, left=left)
        assert shown.text.isprintable()
        assert columns_of(shown.within(width)) <= width


def pace(compiled: Compiled, runs: int, before: Measured = NOTHING) -> Pace:
    return Pace("simulating in RTL", [compiled], runs, before)


def layers_of(compiled: Compiled) -> list[tuple[int, str, int]]:
    """Return the operators as they end: number, device, cycles from the end before."""
    (estimate,) = estimates_of((cost_of(compiled),))
    numbers = {op.name: number for number, op in enumerate(compiled.graph.operators)}
    layers, last = [], 0
    for each in sorted(estimate.layers, key=lambda each: each.end):
        layers.append((numbers[each.operator], each.devices[0], each.end - last))
        last = each.end
    return layers


def test_before_anything_was_measured_nothing_is_known(compiled: Compiled) -> None:
    told = Told()
    pace(compiled, 20).announce(told)
    watch = pace(compiled, 20).watch(told)
    watch(SoFar(cycle=10, seconds=0.5))
    watch(SoFar(cycle=9_000_000, seconds=9.0, begun=1))
    layers = len(compiled.graph.operators)
    assert told.lines == [
        "simulating in RTL: 20 runs, time left not known yet",
        "simulating in RTL: starting up, 10 cycles, time left not known yet",
        f"simulating in RTL: run 1 of 20, layer 1 of {layers}, 9,000,000 cycles, "
        "time left not known yet",
    ]


@pytest.mark.parametrize("factor", [0.25, 1.0, 4.0])
def test_operators_that_ended_correct_the_estimate_of_the_rest(
    compiled: Compiled, factor: float
) -> None:
    """Cycles take `factor` times what is estimated, and 1,000 of them a second."""
    (estimate,) = estimates_of((cost_of(compiled),))
    so_far, now = SoFar(), round(10_000 * factor)
    so_far.begin_run(now)
    for number, _, cycles in layers_of(compiled)[:5]:
        now += round(cycles * factor)
        so_far.end_operator(number, now)
    so_far.cycle, so_far.seconds = now, now / 1000
    rest = sum(cycles for *_, cycles in layers_of(compiled)[5:])
    ahead = (rest + 2 * estimate.network) * factor + estimate.after
    found = pace(compiled, 3).seconds_left(so_far)
    assert found == pytest.approx(ahead / 1000, rel=0.01)
    so_far.cycle, so_far.seconds = now + 400, (now + 400) / 1000
    later = pace(compiled, 3).seconds_left(so_far)
    assert later == pytest.approx((ahead - 400) / 1000, rel=0.01), "also within an operator"


def test_each_device_is_corrected_by_its_own_operators() -> None:
    requests = BuildRequests(model=Build(place={"conv_2d_0": "cpu"}))
    made = compile_file(load_soc("lagoon"), DIGITS, BuildOptions(requests=requests))
    layers = layers_of(made)
    assert {device for _, device, _ in layers} == {"cpu", "npu"}
    so_far, now, ended = SoFar(), 0, set[str]()
    so_far.begin_run(0)
    for number, device, cycles in layers[:4]:
        now += cycles * (3 if device == "cpu" else 10)
        ended.add(device)
        so_far.end_operator(number, now)
    so_far.cycle, so_far.seconds = now, now / 1000
    assert ended == {"cpu", "npu"}
    ratios = pace(made, 1).measure(so_far).ratios
    assert (ratios["cpu"], ratios["npu"]) == (3, 10)
    assert 3 < ratios[ALL] < 10


def test_a_run_that_ended_says_how_long_the_next_take(compiled: Compiled) -> None:
    (estimate,) = estimates_of((cost_of(compiled),))
    so_far, (number, _, _) = SoFar(), layers_of(compiled)[0]
    so_far.begin_run(1_000)
    so_far.end_operator(number, 9_000)
    so_far.end_run(101_000)
    so_far.begin_run(101_000)
    so_far.end_operator(number, 109_000)
    so_far.cycle, so_far.seconds = 111_000, 111.0
    left = pace(compiled, 4).seconds_left(so_far)
    assert left == (90_000 + 2 * 100_000 + estimate.after) / 1000
    assert so_far.took == {0: {number: 8_000}}
    assert SoFar.of_json(json.loads(json.dumps(so_far.as_json()))) == so_far


def test_what_a_run_showed_lies_beside_its_model(compiled: Compiled, tmp_path: Path) -> None:
    model, so_far = tmp_path / "model", SoFar()
    assert load_measured(model) == Measured()
    so_far.begin_run(0)
    for number, _, cycles in layers_of(compiled):
        so_far.end_operator(number, so_far.last + 2 * cycles)
    so_far.cycle, so_far.seconds = 2_000_000, 2.0
    write_pace(tmp_path, so_far)
    assert read_pace(tmp_path) == so_far
    keep_measured(pace(compiled, 1), model, tmp_path, ran(2_000_000, 2.0))
    kept = load_measured(model)
    assert (kept.speed, kept.ratios["npu"], kept.ratios[ALL]) == (1e6, 2.0, 2.0)
    (estimate,) = estimates_of((cost_of(compiled),))
    cycles = estimate.before + 600 * estimate.network + estimate.after
    left = pace(compiled, 300, kept).seconds_left(SoFar())
    assert left == pytest.approx(cycles / 1e6, rel=1e-3)
    keep_measured(pace(compiled, 1), model, tmp_path, ran(10, 0.001))
    assert load_measured(model) == kept, "too short to tell"
    numbers = ('"fast"', "[]", "-1", "NaN", "Infinity")
    wrong = [f'{{"speed": {each}, "ratios": {{}}}}' for each in numbers[:1] + numbers[2:]]
    wrong += [f'{{"speed": 1.0, "ratios": {{"npu": {each}}}}}' for each in numbers]
    for text in ("nonsense", '{"speed"', '{"slow": 1}', '{"ratios": [1]}', "[]", *wrong):
        (tmp_path / "pace.json").write_text(text)
        assert load_measured(model) == Measured()
    (tmp_path / "pace.txt").write_text('{"cyc')
    assert read_pace(tmp_path) is None


def test_it_is_told_twice_a_second(compiled: Compiled) -> None:
    clock, seen = Clock(), list[float]()
    teller, so_far = Teller(lambda each: seen.append(each.seconds), clock), SoFar()
    for _ in range(8):
        teller.look(so_far, lambda: 7)
        clock.now += 0.25
    teller.look(so_far, lambda: 7, always=True)
    assert seen == [0.5, 1.0, 1.5, 2.0]
    assert so_far.cycle == 7


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
    assert set(lines) <= {f"two, time left not known yet ({seconds} s)" for seconds in (0, 1)}


def test_quick_work_is_silent_and_long_work_is_announced(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert lines_of(["one", "two"], 0.1, capsys) == []
    with show_work("beginning") as progress:
        progress("short", left=1.0)
        progress("long", left=60.0)
        progress("longer", left=70.0)
    assert capsys.readouterr().err == "long, about 1 min 0 s left (0 s)\n"


def test_what_is_announced_stays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with show_work("beginning"):
        announce("see http://x\x1b[2J")
    assert capsys.readouterr().err == "see http://x\\x1b[2J\n"
    monkeypatch.setattr(cli_progress, "_alive", lambda: True)
    monkeypatch.setattr(cli_progress, "LIVE_SECONDS", 60)
    with show_work("beginning"):
        announce("see")
    assert capsys.readouterr().err == "\r\x1b[Ksee\n\r\x1b[K", "in place of the live line"
    announce("nobody listens")
    assert capsys.readouterr().err == ""


def test_a_build_tells_its_steps(compiled: Compiled, tmp_path: Path) -> None:
    told = Told()
    with report_to(told):
        build((compiled,), tmp_path / "build")
    lines = [re.sub(", [^,]*$", "", each) for each in told.lines]
    count = len(lines) - 1
    steps = [f"file {number} of {count} compiled" for number in range(1, count + 1)]
    assert lines == [f"building the firmware of 'cpu': {step}" for step in (*steps, "linking")]
    build((compiled,), tmp_path / "build")
    assert len(told.lines) == count + 1, "nobody listens any more"


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
    assert "simulating in RTL: run " in output.err
    assert " of 8, layer " in output.err
