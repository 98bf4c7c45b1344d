# SPDX-License-Identifier: Apache-2.0
"""Estimates beside published measurements: the table of the documentation is that of today."""

from pathlib import Path

import pytest
from benchmarks.published import CORES, HEAD, SUBMISSIONS, table

from atoll.cost.counted import is_counted
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[3]


def test_the_table_of_the_documentation_is_what_estimates_say(shared_models: Path) -> None:
    lines = (ROOT / "docs" / "estimate.md").read_text().splitlines()
    first = lines.index(HEAD[0])
    assert lines[first : first + len(HEAD) + len(SUBMISSIONS)] == [*table(shared_models)]


@pytest.mark.parametrize("core", CORES)
def test_cores_beside_published_times_are_counted(core: str) -> None:
    name, isa = CORES[core]
    soc = load_soc("lagoon", (f"devices.cpu.core={name}", f"devices.cpu.isa={isa}"))
    assert is_counted(soc.host_cpu)
    assert soc.host_cpu.spec.timing is not None
    assert soc.host_cpu.spec.timing.basis == "published"


def test_published_rates_are_of_several_cores_and_kernels() -> None:
    assert len({each.core for each in SUBMISSIONS}) == len(CORES)
    assert sum(len(each.rates) for each in SUBMISSIONS) >= 10
    assert len({each.source for each in SUBMISSIONS}) == len(SUBMISSIONS)
