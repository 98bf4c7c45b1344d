# SPDX-License-Identifier: Apache-2.0
"""Problems with a known optimum, and the planner's benchmark beside another program."""

import sys
from pathlib import Path
from random import Random

import pytest
from benchmarks.planner import MADE, beside, measure, write_instances
from benchmarks.planner_tables import Gap, gap_table, instance_table
from benchmarks.random_cuts import random_cuts

from atoll.diagnostics.errors import ToolchainError
from atoll.memory.problem import MemoryPlan
from atoll.memory.solve import solve

INSTANCE = "id,lower,upper,size\na,0,2,4\nb,1,3,5\nc,2,4,4\n"

PEER = """#!{python}
import csv, sys
options = dict(option.lstrip("-").split("=") for option in sys.argv[1:])
rows = list(csv.DictReader(open(options["input"])))
with open(options["output"], "w") as file:
    file.write("id,lower,upper,size,offset\\n")
    for place, row in enumerate(rows):
        file.write(",".join(row.values()) + f",{{place * 10}}\\n")
"""


@pytest.mark.parametrize("pinwheels", [0.0, 0.5, 1.0])
def test_random_cuts_fill_every_step(pinwheels: float) -> None:
    problem = random_cuts(60, 1 << 16, pinwheels, Random(3))
    assert len(problem.buffers) == 60
    area = sum(b.size * (b.live[0][1] - b.live[0][0]) for b in problem.buffers)
    assert area == (1 << 16) * (1 << 20)
    plan = solve(problem)
    assert isinstance(plan, MemoryPlan)
    assert plan.optimal


def test_an_instance_is_measured_beside_a_program_of_the_user(tmp_path: Path) -> None:
    path, peer = tmp_path / "x.9.csv", tmp_path / "minimalloc"
    path.write_text(INSTANCE)
    peer.write_text(PEER.format(python=sys.executable))
    peer.chmod(0o755)
    result = measure(path, peer)
    assert (result.used, result.bound, result.peer_used) == (9, 9, 24)
    assert result.ratio is not None
    assert result.ratio > 0
    assert instance_table([result]).row_count == 2


def test_a_program_that_finds_no_plan_has_only_a_time(tmp_path: Path) -> None:
    peer = tmp_path / "minimalloc"
    peer.write_text(f"#!{sys.executable}\nraise SystemExit(1)\n")
    peer.chmod(0o755)
    assert beside(peer, tmp_path / "x.9.csv", 9)[0] is None


def test_a_program_that_fails_is_an_error(tmp_path: Path) -> None:
    peer = tmp_path / "minimalloc"
    peer.write_text(
        f"#!{sys.executable}\nimport sys\nprint('no such flag', file=sys.stderr)\nsys.exit(2)\n"
    )
    peer.chmod(0o755)
    with pytest.raises(ToolchainError, match="minimalloc failed: no such flag"):
        beside(peer, tmp_path / "x.9.csv", 9)
    with pytest.raises(ToolchainError, match="absent failed"):
        beside(tmp_path / "absent", tmp_path / "x.9.csv", 9)


def test_instances_are_made_where_none_are_given(tmp_path: Path) -> None:
    paths = sorted(write_instances(tmp_path).iterdir())
    assert len(paths) == len(MADE)
    result = measure(paths[0], None)
    assert result.used is not None
    assert result.bound <= result.used <= result.capacity


def test_gaps_have_a_row_for_each_kind_of_cut() -> None:
    found = [
        Gap(buffers=count, pinwheels=0.5, algorithm=name, median=1.0, worst=1.25)
        for count in (25, 50)
        for name in ("auto", "first-fit")
    ]
    assert gap_table(found).row_count == 2
