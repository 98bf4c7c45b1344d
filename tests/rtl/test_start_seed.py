# SPDX-License-Identifier: Apache-2.0
"""A run in RTL begins with values of the seed that is asked for, and says which."""

import json
from pathlib import Path
from typing import Any

import pytest

import atoll
from atoll.cli import main

pytestmark = pytest.mark.rtl
DIGITS = str(Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite")


def test_a_run_begins_with_the_seed_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "lagoon", DIGITS, "--start-seed", "7", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["bit_exact"], found["start_seed"]) == (True, 7)
    made = atoll.compile("lagoon", DIGITS)
    told: list[Any] = [atoll.run(made, start_seed=seed).to_json() for seed in (None, 9)]
    assert [each["start_seed"] for each in told] == [1, 9]


def test_a_seed_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "lagoon", DIGITS, "--start-seed", "-1"]) == 1
    assert "error[E090]" in capsys.readouterr().err
