# SPDX-License-Identifier: Apache-2.0
"""M9, C3: hardware faults end in a right result, an error code or a restart, never in a hang."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from tests.requests import load_requests

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc
from atoll_sim.cli.validate import validate
from atoll_sim.faults.campaign import Campaign, Trial, run_campaign
from atoll_sim.faults.kinds import FaultKind
from atoll_sim.faults.report import KindReport, by_kind, verdict

pytestmark = pytest.mark.rtl

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
FEW, MANY = len(FaultKind), 10 * len(FaultKind)
TIMEOUT, DEVICE, BUS = -4, -5, -10


def campaign(chip: str, count: int, seed: int, place: Sequence[str] = ()) -> Campaign:
    options = BuildOptions(requests=load_requests(None, place, (), (), None))
    compiled = compile_file(load_soc(chip), DIGITS, options)
    (sample,) = random_sample(compiled.graph)
    return run_campaign(compiled, sample, count, seed)


def check(campaign: Campaign, count: int) -> None:
    """Hold every kind against what the hardware and the firmware promise for it."""
    assert len(campaign.trials) == count
    assert campaign.passed, verdict(campaign)
    reports = {report.kind: report for report in by_kind(campaign)}
    assert set(reports) == set(FaultKind)
    for kind, codes in {
        FaultKind.READ_ERROR: {BUS},
        FaultKind.WRITE_ERROR: {BUS},
        FaultKind.SILENCE: {BUS, TIMEOUT},
        FaultKind.HANG: {TIMEOUT},
        FaultKind.DESCRIPTOR: {DEVICE},
    }.items():
        assert set(reports[kind].codes) <= codes, kind
    assert all(_right(reports[kind]) for kind in (FaultKind.STALL, FaultKind.LOST_INTERRUPT))
    assert reports[FaultKind.RESET].restarted == reports[FaultKind.RESET].injected
    assert (
        sum(reports[FaultKind.DESCRIPTOR].codes.values()) == reports[FaultKind.DESCRIPTOR].injected
    )


def _right(report: KindReport) -> bool:
    return report.right == report.injected


def test_m9_c3_faults_of_every_kind_have_a_defined_end() -> None:
    check(campaign("lagoon", FEW, seed=5), FEW)


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["lagoon", "atoll2", "twin"])
def test_m9_c3_many_faults_per_chip(chip: str) -> None:
    check(campaign(chip, MANY, seed=1), MANY)


@pytest.mark.slow
def test_m9_c3_a_second_core_fails_as_an_engine_does() -> None:
    found = campaign("twin", 90, 4, ("add_3=dsp", "softmax_9=dsp"))
    check(found, 90)
    ends = {(trial.kind, trial.result.answer.status) for trial in found.trials if _at_dsp(trial)}
    assert ends >= {(FaultKind.HANG, TIMEOUT), (FaultKind.LOST_INTERRUPT, 0)}


def _at_dsp(trial: Trial) -> bool:
    return trial.subject.place == "dsp"


def test_the_command_reports_and_its_status_tells(capsys: pytest.CaptureFixture[str]) -> None:
    validate(Path("lagoon"), [DIGITS], faults=1, seed=3, machine=True)
    plain = json.loads(capsys.readouterr().out)
    assert plain["passed"] is True
    (kind,) = plain["faults"][0]["kinds"]
    assert (kind["kind"], kind["injected"], kind["passed"]) == (FaultKind.READ_ERROR, 1, True)
    validate(Path("lagoon"), [DIGITS], faults=1, seed=3)
    assert "passed: no hang" in capsys.readouterr().out


def test_the_command_fails_where_the_chip_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same chip with a firmware whose watchdog sleeps: a host that traps hangs for good."""
    monkeypatch.setattr("atoll_sim.faults.campaign.WATCHDOG_PATIENCE", 10**4)
    with pytest.raises(typer.Exit) as caught:
        validate(Path("lagoon"), [DIGITS], faults=1, seed=1)
    assert caught.value.exit_code == 1
