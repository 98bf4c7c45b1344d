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
    counts = {code.lower(): count for code, count in json.loads(told).items()}
    tried = {kind: counts.get(kind, 0) for kind in OPERATORS if kind not in MADE}
    assert {kind: count for kind, count in tried.items() if count < LEAST} == {}
