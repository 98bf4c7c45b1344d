# SPDX-License-Identifier: Apache-2.0
"""Hardware faults without hardware: which are drawn, how a campaign talks and judges."""

import json
import stat
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import StringIO
from itertools import cycle, islice
from pathlib import Path
from random import Random

import pytest
from rich.console import Console

from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import SimulationError
from atoll.driver.pipeline import Compiled, compile_file
from atoll.ops import reference
from atoll.resolve import load_soc
from atoll_sim.faults import campaign as campaigns
from atoll_sim.faults.campaign import Campaign, Ending, Trial, run_campaign, to_trial
from atoll_sim.faults.draw import LONGEST_STALL, Draw
from atoll_sim.faults.kinds import Fault, FaultKind
from atoll_sim.faults.report import as_json, by_kind, table, verdict
from atoll_sim.faults.task import TASK, Answer, End, read_answer, write_task

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
CYCLES = 1000
GOOD = Answer(
    befell=True,
    end=End.RETURNED,
    status=0,
    cycles=100,
    longest=10,
    outputs=b"\x01",
    again=End.RETURNED,
    again_status=0,
    again_outputs=b"\x01",
)


@pytest.fixture(scope="module", params=["lagoon", "atoll2", "twin"])
def compiled(request: pytest.FixtureRequest) -> Compiled:
    return compile_file(load_soc(request.param), DIGITS)


@pytest.fixture(scope="module")
def lagoon() -> Compiled:
    return compile_file(load_soc("lagoon"), DIGITS)


def drawn(compiled: Compiled, count: int, seed: int = 1) -> list[Fault]:
    makers = islice(Draw(compiled, CYCLES, Random(seed)).makers(), count)
    return [make() for make in makers]


def trial(
    kind: FaultKind, *, right: bool = False, recovered: bool = True, **answer: object
) -> Trial:
    fault = Fault(kind=kind, offset=5, action="read", where=0, what=2, place="cpu")
    changed = replace(GOOD, **answer)  # type: ignore[arg-type]
    return to_trial(fault, Ending(answer=changed, right=right, recovered=recovered))


def campaign_of(*trials: Trial) -> Campaign:
    baseline = replace(GOOD, cycles=CYCLES)
    return Campaign(soc="lagoon", model="digits", seed=1, baseline=baseline, trials=trials)


def test_equal_seeds_draw_equal_faults(compiled: Compiled) -> None:
    assert drawn(compiled, 50) == drawn(compiled, 50)
    assert drawn(compiled, 50) != drawn(compiled, 50, seed=2)


def test_all_kinds_come_in_turn(compiled: Compiled) -> None:
    counts = Counter(fault.kind for fault in drawn(compiled, 5 * len(FaultKind)))
    assert counts == dict.fromkeys(FaultKind, 5)


def test_faults_name_what_the_chip_has_and_the_network_uses(compiled: Compiled) -> None:
    soc, plan = compiled.soc, compiled.plan
    workers = {soc.host, *(operator.device for operator in compiled.graph.operators)}
    memories = {memory.name for memory in soc.memories}
    commands = {job.commands for job in compiled.jobs.values()}
    for fault in drawn(compiled, 300):
        assert 0 <= fault.offset < CYCLES
        match fault.kind:
            case FaultKind.READ_ERROR | FaultKind.WRITE_ERROR:
                assert fault.place in workers
                assert fault.what in {2, 3}
            case FaultKind.STALL | FaultKind.SILENCE:
                assert fault.place in memories
                assert (fault.what == 0) == (fault.kind is FaultKind.SILENCE)
                assert fault.what <= LONGEST_STALL
            case FaultKind.LOST_INTERRUPT | FaultKind.HANG:
                assert fault.place in workers - {soc.host}
            case FaultKind.DESCRIPTOR | FaultKind.BIT_FLIP:
                buffer, _, rest = fault.place.partition("+")
                at = int(rest.partition(",")[0], 16)
                assert (buffer in commands) == (fault.kind is FaultKind.DESCRIPTOR)
                assert fault.where == plan.address(buffer) + at
                assert at < compiled.module.entry.sizes[buffer]
                assert 0 <= fault.what < 8


def test_a_fault_is_a_sentence_with_part_cycle_and_line(lagoon: Compiled) -> None:
    chip = (ROOT / "socs" / "lagoon.yaml").read_text().splitlines()
    for fault in drawn(lagoon, 3 * len(FaultKind)):
        part = fault.place.partition("+")[0]
        assert part in str(fault)
        assert f"{fault.offset:,} cycles into the run" in str(fault)
        if fault.kind is FaultKind.RESET:
            assert not fault.at
            continue
        assert str(fault).endswith(fault.at)
        line = int(fault.at.split(":")[1])
        section = "".join(chip[line - 3 : line])
        buffer = lagoon.plan.placements.get(part)
        assert f"{buffer.pool if buffer else part}:" in section


def test_a_network_on_the_host_alone_has_no_device_to_fail(lagoon: Compiled) -> None:
    alone = compile_file(lagoon.soc, DIGITS, replace(lagoon.options, accelerators=False))
    kinds = {fault.kind for fault in drawn(alone, 40)}
    devices = {FaultKind.LOST_INTERRUPT, FaultKind.HANG, FaultKind.DESCRIPTOR}
    assert kinds == set(FaultKind) - devices


def test_the_task_says_all_that_the_model_needs(lagoon: Compiled, tmp_path: Path) -> None:
    (sample,) = random_sample(lagoon.graph)
    fault = drawn(lagoon, 1)[0]
    write_task(tmp_path, lagoon, sample, [fault], 77)
    lines = (tmp_path / TASK).read_text().splitlines()
    (name,), (output,) = lagoon.graph.inputs, lagoon.graph.outputs
    assert lines == [
        "image image.bin",
        "limit 77",
        f"input {lagoon.plan.address(name)} {sample[name].tobytes().hex()}",
        f"output {lagoon.plan.address(output)} 10",
        f"fault {fault.action} {fault.offset} {fault.where} {fault.what}",
    ]


def test_answers_are_read_back() -> None:
    line = "answer 0 restarted 0 12 7 00ff returned -5 0102\n"
    assert read_answer(line) == Answer(
        befell=False,
        end=End.RESTARTED,
        status=0,
        cycles=12,
        longest=7,
        outputs=b"\x00\xff",
        again=End.RETURNED,
        again_status=-5,
        again_outputs=b"\x01\x02",
    )
    for other in ("\n", "%Error: NeverBoth failed\n"):
        assert read_answer(other) is None


@pytest.mark.parametrize(
    ("one", "good"),
    [
        (trial(FaultKind.STALL, right=True), True),
        (trial(FaultKind.STALL), False),
        (trial(FaultKind.BIT_FLIP), True),
        (trial(FaultKind.STALL, status=-10), True),
        (trial(FaultKind.RESET, end=End.RESTARTED), True),
        (trial(FaultKind.RESET, end=End.LEFT), True),
        (trial(FaultKind.HANG, end=End.HUNG), False),
        (trial(FaultKind.BIT_FLIP, end=End.HUNG), False),
        (trial(FaultKind.HANG, status=-4, recovered=False), False),
        (trial(FaultKind.BIT_FLIP, recovered=False), False),
    ],
)
def test_only_silence_hangs_and_ruins_fail(one: Trial, good: bool) -> None:
    campaign = campaign_of(trial(FaultKind.READ_ERROR, right=True), one)
    assert campaign.passed == good
    assert verdict(campaign).startswith("passed" if good else f"failed: {one.kind}")


def test_the_report_counts_every_end_once() -> None:
    campaign = campaign_of(
        trial(FaultKind.READ_ERROR, right=True),
        trial(FaultKind.READ_ERROR, status=-10),
        trial(FaultKind.READ_ERROR, status=-10),
        trial(FaultKind.READ_ERROR, status=-5),
        trial(FaultKind.READ_ERROR, end=End.RESTARTED),
        trial(FaultKind.READ_ERROR),
        trial(FaultKind.READ_ERROR, end=End.HUNG, recovered=False),
    )
    (report,) = by_kind(campaign)
    assert (report.injected, report.right, report.restarted) == (7, 1, 1)
    assert (report.silent, report.hung, report.recovered) == (1, 1, 6)
    assert report.codes == {-10: 2, -5: 1}
    ends = report.right + sum(report.codes.values()) + report.restarted + report.silent
    assert ends + report.hung == report.injected
    plain = json.loads(json.dumps(as_json(campaign)))
    assert plain["passed"] is False
    assert plain["kinds"][0]["error_codes"] == {"-10": 2, "-5": 1}
    assert len(plain["faults"]) == 7
    console = Console(width=120, record=True, file=StringIO())
    console.print(table(campaign))
    assert "-10: 2, -5: 1" in console.export_text()


def test_the_table_of_every_kind_fits_a_terminal_of_eighty_columns() -> None:
    grid = table(campaign_of(*(trial(kind, status=-10) for kind in FaultKind)))
    assert max(len(line) for lines in grid.lines(80) for line in lines) <= 80
    assert all(len(lines) == 1 for lines in grid.lines(80))


def fake_model(folder: Path, *lines: str) -> Path:
    """Return a program that answers every task with `lines`."""
    script = folder / "model"
    script.write_text(f"#!{sys.executable}\nprint({chr(10).join(lines)!r})\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def outputs_of(compiled: Compiled) -> str:
    (sample,) = random_sample(compiled.graph)
    values = reference.run(compiled.graph, sample)
    return "".join(values[name].tobytes().hex() for name in compiled.graph.outputs)


def try_on(compiled: Compiled, model: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    monkeypatch.setattr(campaigns, "build_model", lambda soc, **others: model)
    (sample,) = random_sample(compiled.graph)
    return run_campaign(compiled, sample, 1, 1)


@pytest.mark.parametrize(
    "line",
    ["answer 1 returned -4 9 9 {good} returned 0 {good}", "answer 1 returned 0 9 9 00 hung 0 00"],
)
def test_a_network_that_is_wrong_by_itself_is_refused(
    lagoon: Compiled, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fake_model(tmp_path, line.format(good=outputs_of(lagoon)))
    with pytest.raises(SimulationError, match="does not run right on 'lagoon'") as caught:
        try_on(lagoon, model, monkeypatch)
    assert caught.value.faults[0].code == "E088"


def test_faults_that_met_nothing_are_drawn_anew(
    lagoon: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first answer is the run without a fault, the second met nothing, the third counts."""
    good = outputs_of(lagoon)
    model = tmp_path / "model"
    model.write_text(
        f"#!{sys.executable}\nfrom pathlib import Path\n"
        f"count = Path({str(tmp_path / 'count')!r})\n"
        "calls = len(count.read_text()) if count.exists() else 0\n"
        "count.write_text('x' * (calls + 1))\n"
        f"print(f'answer {{int(calls != 1)}} returned 0 900 90 {good} returned 0 {good}')\n"
    )
    model.chmod(model.stat().st_mode | stat.S_IXUSR)
    campaign = try_on(lagoon, model, monkeypatch)
    assert (tmp_path / "count").read_text() == "xxx"
    assert campaign.baseline.cycles == 900
    (only,) = campaign.trials
    assert (only.result.right, only.result.recovered) == (True, True)


@pytest.mark.parametrize("misses", [1, campaigns.DRAWS - 1, campaigns.DRAWS])
def test_a_missed_fault_leaves_its_turn_to_one_of_its_kind(misses: int) -> None:
    """Resets miss some times; only when they always do, the next kind takes their place."""
    kinds = (FaultKind.RESET, FaultKind.STALL, FaultKind.HANG)
    tried: Counter[FaultKind] = Counter()

    def run(faults: Sequence[Fault]) -> Iterator[Trial]:
        for fault in faults:
            tried[fault.kind] += 1
            befell = fault.kind is not FaultKind.RESET or tried[FaultKind.RESET] > misses
            yield replace(trial(fault.kind, befell=befell), subject=fault)

    makers = cycle([lambda kind=kind: trial(kind).subject for kind in kinds])
    found = [each.kind for each in campaigns.take_effective(makers, 2, run)]
    kept = misses < campaigns.DRAWS
    assert found == [FaultKind.STALL, FaultKind.RESET if kept else FaultKind.HANG]
    assert tried[FaultKind.RESET] == (misses + 1 if kept else misses)


def test_a_model_that_breaks_off_is_named(
    lagoon: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    model.write_text(f"#!{sys.executable}\nprint('a promise is broken')\nraise SystemExit(1)\n")
    model.chmod(model.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(SimulationError, match="a promise is broken") as caught:
        try_on(lagoon, model, monkeypatch)
    assert caught.value.faults[0].code == "E087"
