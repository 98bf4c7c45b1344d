# SPDX-License-Identifier: Apache-2.0
"""`explain` says of every device, cores included, why an operator does not run there."""

import json
import re
from pathlib import Path

import pytest

from atoll.cli import main

DIGITS = str(Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite")
UNLIKE = str(Path(__file__).parents[2] / "data" / "unlike.yaml")


def rejected(
    capsys: pytest.CaptureFixture[str], chip: str, *words: str
) -> dict[str, dict[str, str]]:
    assert main(["explain", chip, DIGITS, *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["operators"]
    return {each["operator"]: each["rejected"] | {each["device"]: "runs it"} for each in found}


def test_every_device_has_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ((), ("--on-device", "*=cpu"), ("--no-accelerators",)):
        told = rejected(capsys, UNLIKE, *words)
        told.pop("reshape_7")
        assert all(set(each) == {"cpu", "quick", "mute", "far"} for each in told.values())
        assert told["conv_2d_0"]["mute"].startswith("has no mailbox")
    asked = rejected(capsys, UNLIKE, "--on-device", "*=cpu")["conv_2d_0"]
    assert asked["quick"] == "'cpu' is asked for"


@pytest.mark.parametrize("chip", ["twin", "quad"])
def test_cores_of_shipped_chips_cost_what_their_mailbox_takes(
    chip: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for operator, others in rejected(capsys, chip, "--no-spread").items():
        if operator == "reshape_7":
            continue
        assert len(others) == {"twin": 5, "quad": 4}[chip]
        for device, why in others.items():
            if device in ("dsp", "cpu1", "cpu2", "cpu3"):
                more = re.search(r"about [\d,]+ cycles.*, ([\d,]+) more", why)
                assert more, (operator, device, why)
                assert int(more[1].replace(",", "")) >= 850, "its constants may be nearer"


def test_helpers_are_not_called_slower(capsys: pytest.CaptureFixture[str]) -> None:
    assert rejected(capsys, "quad")["conv_2d_0"] == {"cpu0": "runs it"}


def test_devices_with_one_reason_share_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "quad", DIGITS]) == 0
    told = "about 2,982 cycles -39 to +74 % (basis: counted x measured), 900 more"
    assert f"cpu1, cpu2, cpu3: {told}" in capsys.readouterr().out
