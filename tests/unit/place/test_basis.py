"""Figures of cores that nobody measured say so, and what they would decide otherwise."""

import json
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.place.basis import basis_of
from atoll.resolve import load_soc

DIGITS = str(Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite")
IBEX = ("--set", "devices.cpu.core=ibex")


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main([*words, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def bases(value: object) -> list[str]:
    """Return what is below every key `basis`."""
    if isinstance(value, list):
        return [each for item in value for each in bases(item)]
    if not isinstance(value, dict):
        return []
    own = [value["basis"]] if "basis" in value else []
    return [*own, *(each for item in value.values() for each in bases(item))]


def test_all_estimates_rest_on_the_core_that_stands_in(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("estimate", "explain"):
        assert set(bases(told(capsys, command, "lagoon", DIGITS))) == {"measured"}
    found = told(capsys, "explain", "lagoon", DIGITS, *IBEX)
    kinds = {each["operator"]: each["basis"] for each in found["operators"]}  # type: ignore[attr-defined]
    assert kinds.pop("reshape_7") == "measured", "no figure decided about it"
    assert {*kinds.values(), *bases(found["coverage"])} == {"picorv32"}
    cycles = told(capsys, "estimate", "lagoon", DIGITS, *IBEX)["cycles"]
    assert cycles["basis"] == "picorv32"  # type: ignore[index]
    assert set(bases(cycles["by_layer"])) == {"picorv32", "measured"}  # type: ignore[index]


@pytest.mark.parametrize("command", ["estimate", "explain"])
def test_a_stand_in_is_marked_in_text(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "lagoon", DIGITS]) == 0
    assert "basis" not in capsys.readouterr().out
    assert main([command, "lagoon", DIGITS, *IBEX]) == 0
    assert "(basis: picorv32)" in capsys.readouterr().out


def test_one_core_of_two_is_measured() -> None:
    soc = load_soc("twin", ("devices.dsp.core=ibex",))
    assert basis_of(soc, ("npu",)) == "measured"
    assert basis_of(soc, ("dsp",)) == "picorv32"


@pytest.mark.parametrize(("core", "turns_to"), [("ibex", "cpu"), ("picorv32", None)])
def test_explain_says_when_a_faster_core_would_get_an_operator(
    core: str, turns_to: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The accelerator takes two thirds of what PicoRV32 takes."""
    (tmp_path / "slow.yaml").write_text(
        "accelerator: slow\nversion: 1\noperators:\n  CONV_2D: {cost: 20 * macs}\n"
    )
    chip = tmp_path / "chip.yaml"
    npu = "{accelerator: ./slow.yaml, params: null}"
    chip.write_text(f"extends: lagoon\nsoc: own\ndevices: {{npu: {npu}}}\n")
    words = ("explain", str(chip), DIGITS, "--set", f"devices.cpu.core={core}")
    first = told(capsys, *words)["operators"][0]  # type: ignore[index]
    assert (first["device"], first["turns_to"]) == ("npu", turns_to)
    sentence = "; 'cpu' if unmeasured cores are 10 times faster than that"
    assert first["reason"].endswith(sentence) == (turns_to is not None)


def test_a_pin_that_makes_an_operator_many_times_slower_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pin = ("--pin", "image=private")
    note = "conv_2d_0 takes 223 times as long on 'cpu' as on 'npu': "
    assert main(["plan", "lagoon", DIGITS]) == 0
    assert capsys.readouterr().err == ""
    assert main(["plan", "lagoon", DIGITS, *pin]) == 0
    assert note in capsys.readouterr().err.replace("\n  ", " ")
    assert any(note in each for each in told(capsys, "estimate", "lagoon", DIGITS, *pin)["notes"])  # type: ignore[attr-defined]
