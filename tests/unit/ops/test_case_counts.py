# SPDX-License-Identifier: Apache-2.0
"""Every operator is held against TFLM in many random cases, of `make test` and `make test-all`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.case_counts import MADE

from atoll.frontend.tflite.islands import FUNCTIONS
from atoll.ops.registry import OPERATORS

ROOT = Path(__file__).parents[3]
LEAST = {"test": 50, "test-all": 1000}


@pytest.mark.slow
def test_every_operator_has_enough_cases() -> None:
    command = [sys.executable, "-m", "tests.case_counts", "--json"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    wanted = {kind for kind in OPERATORS if kind not in MADE} | {*map(str.lower, FUNCTIONS)}
    for target, least in LEAST.items():
        counts = {code.lower(): count for code, count in json.loads(told)[target].items()}
        tried = {kind: counts.get(kind, 0) for kind in wanted}
        assert {kind: count for kind, count in tried.items() if count < least} == {}, target
