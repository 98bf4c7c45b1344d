"""Faults planted in right builds: the simulator notices all of them, and says who did what."""

import json
from pathlib import Path

import pytest

from atoll.cli import main
from atoll_sim.finding_rules import RULES
from atoll_sim.mutate.kinds import KINDS

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
NAMES = {rule.name for rule in RULES}


@pytest.mark.rtl
def test_every_kind_of_fault_is_noticed_on_lagoon(capsys: pytest.CaptureFixture[str]) -> None:
    count = len(KINDS) - 2
    assert main(["validate", "lagoon", str(DIGITS), "--mutants", str(count), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    (campaign,) = printed["networks"]
    assert printed["passed"]
    assert campaign["right_build"]["placement"]["violations"] == []
    mutants = campaign["mutants"]
    assert {each["kind"] for each in mutants} == KINDS.keys() - {"dropped copy", "dropped wait"}
    for each in mutants:
        assert each["caught"] != bool(each["equivalent"]), each
        assert each["shadow"] == (each["by"] in NAMES), each
    shadows = [each for each in mutants if each["shadow"]]
    assert len(shadows) >= count // 2
    assert all(each["number"] and each["detail"] for each in shadows)


@pytest.mark.rtl
def test_a_right_build_has_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "lagoon", str(DIGITS)]) == 0
    assert capsys.readouterr().out.startswith("digits_int8 on lagoon: 0 findings in ")


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize("chip", ["lagoon", "atoll2", "twin"])
def test_no_fault_stays_unnoticed(
    chip: str, shared_models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kws = shared_models / "kws_ref_model.tflite"
    command = ["validate", chip, str(DIGITS), str(kws), "--mutants", "200", "--seed", "2"]
    assert main([*command, "--json"]) == 0
    campaigns = json.loads(capsys.readouterr().out)["networks"]
    for campaign in campaigns:
        assert len(campaign["mutants"]) == 100
        assert campaign["right_build"]["placement"]["violations"] == []
        silent = [m for m in campaign["mutants"] if not m["caught"] and not m["equivalent"]]
        assert silent == []
