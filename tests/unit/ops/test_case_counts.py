"""Every operator is held against TFLM in at least 1,000 random cases of `make test-all`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.case_counts import MADE

from atoll.ops.registry import OPERATORS

ROOT = Path(__file__).parents[3]
LEAST = 1000


@pytest.mark.slow
def test_every_operator_has_enough_cases() -> None:
    command = [sys.executable, "-m", "tests.case_counts", "--json"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    full = {code.lower(): full for code, (_, full) in json.loads(told).items()}
    few = {kind: full.get(kind, 0) for kind in OPERATORS if full.get(kind, 0) < LEAST}
    assert {kind: count for kind, count in few.items() if kind not in MADE} == {}
