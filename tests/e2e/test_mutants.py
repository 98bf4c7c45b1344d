# SPDX-License-Identifier: Apache-2.0
"""Faults planted in right builds: the simulator notices all of them, and says who did what."""

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_sim.build.model import build_model
from atoll_sim.mutate.campaign import Trial, plant, run_right, try_mutant
from atoll_sim.mutate.kinds import KINDS
from atoll_sim.mutate.mutant import Mutant, Right
from atoll_sim.mutate.report import as_json
from atoll_sim.shadow.rules import RULES

DATA = Path(__file__).parents[1] / "data"
DIGITS = DATA.parents[1] / "examples" / "01_digits" / "digits_int8.tflite"
NAMES = {rule.name for rule in RULES}


@pytest.mark.rtl
def test_every_kind_of_fault_is_noticed_on_lagoon(capsys: pytest.CaptureFixture[str]) -> None:
    absent = {"dropped copy", "dropped wait", "output freed early", "other view"}
    absent |= {"tile moved", "halo short", "double buffer swapped early", "alias taken for memory"}
    absent |= {"code copied wrongly"}
    absent |= {name for name, kind in KINDS.items() if kind.area == "mailbox"}
    count = len(KINDS) - len(absent)
    asked = ["validate", "lagoon", str(DIGITS), "--set", "devices.npu.params.vector=1"]
    assert main([*asked, "--mutants", str(count), "--json"]) == 0, "the core has an operator too"
    printed = json.loads(capsys.readouterr().out)
    (campaign,) = printed["networks"]
    assert printed["passed"]
    assert campaign["right_build"]["placement"]["violations"] == []
    mutants = campaign["mutants"]
    assert {each["kind"] for each in mutants} == KINDS.keys() - absent
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


@pytest.mark.rtl
def test_a_firmware_that_leaves_before_its_run_is_noticed(tmp_path: Path) -> None:
    compiled = compile_file(load_soc("lagoon"), DIGITS)
    executable = build_model(compiled.soc)
    right, report = run_right(compiled, executable, tmp_path)
    assert report.passed
    first, *others = right.segments
    assert first.address == compiled.soc.host_cpu.code.origin
    page = compiled.soc.console.origin
    assert page % 4096 == 0
    lui_t0, sw_zero_exit, jump_here = page | 5 << 7 | 0x37, 0x0002_A223, 0x0000_006F
    code = struct.pack("<III", lui_t0, sw_zero_exit, jump_here)
    leaving = replace(first, data=code + first.data[len(code) :])
    mutant = Mutant(
        subject="start",
        sentence="the firmware leaves at once",
        built=compiled,
        judged=compiled,
        image=(leaving, *others),
    )
    verdict = try_mutant(right, mutant).result
    assert (verdict.by, verdict.detail) == ("early end", "the firmware ends before the run does")


@pytest.mark.rtl
def test_an_interrupted_campaign_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = compile_file(load_soc("lagoon"), DIGITS)
    begun: list[str] = []
    interrupt_at = 3

    def tried(right: Right, mutant: Mutant, toolchain: str | None) -> Trial:
        begun.append(str(mutant))
        if interrupt_at and len(begun) >= interrupt_at:
            raise KeyboardInterrupt
        return try_mutant(right, mutant, toolchain)

    monkeypatch.setattr("atoll_sim.mutate.campaign.try_mutant", tried)
    with pytest.raises(KeyboardInterrupt):
        plant(compiled, 4, seed=1, jobs=1)
    ended, interrupt_at = begun[:2], 0
    begun.clear()
    resumed = plant(compiled, 4, seed=1, jobs=1, resume=True)
    assert len(begun) == 2
    assert not {*begun} & {*ended}
    begun.clear()
    whole = plant(compiled, 4, seed=1, jobs=1, resume=True)
    assert len(begun) == 4, "a campaign that has ended is not resumed"
    assert as_json(resumed)["mutants"] == as_json(whole)["mutants"]


@pytest.mark.rtl
def test_every_word_that_goes_wrong_in_a_mailbox_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = tmp_path / "options.yaml"
    options.write_text("place: {add_3: second, softmax_9: second}\n")
    chip = DATA / "neighbours.yaml"
    asked = ["validate", str(chip), str(DIGITS), "--build", str(options), "--mutants", "48"]
    assert main([*asked, "--json"]) == 0
    (campaign,) = json.loads(capsys.readouterr().out)["networks"]
    found = {each["kind"] for each in campaign["mutants"] if each["area"] == "mailbox"}
    assert found == {name for name, kind in KINDS.items() if kind.area == "mailbox"}


ON_CORES = {
    "mcxn947_rtl": "{add_3: cpu1, softmax_9: cpu1}",
    "esp32p4_rtl": "{add_3: hp_1, softmax_9: hp_1, average_pool_2d_6: lp}",
}
"""Operators on other cores than the host, on chips like sold ones around cores with RTL."""


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize("chip", ON_CORES)
def test_no_fault_stays_unnoticed_on_chips_like_sold_ones(
    chip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = tmp_path / "options.yaml"
    options.write_text(f"place: {ON_CORES[chip]}\n")
    asked = ["validate", str(DATA / f"{chip}.yaml"), str(DIGITS), "--build", str(options)]
    assert main([*asked, "--mutants", "220", "--json"]) == 0
    (campaign,) = json.loads(capsys.readouterr().out)["networks"]
    assert len(campaign["mutants"]) == 220
    words = [each for each in campaign["mutants"] if each["area"] == "mailbox"]
    assert len(words) >= 40


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
