# SPDX-License-Identifier: Apache-2.0
"""Random layers on a chip with little near memory: what comes of far memory is exact."""

import random
from itertools import chain

import pytest
from benchmarks.estimate import DATA, NOWHERE
from tests.effort import cases

from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import AtollError
from atoll.driver.compiled import expected_length
from atoll.driver.pipeline import Compiled, compile_graph
from atoll.resolve import load_soc
from atoll_sim.core_calibration.random_layers import random_network
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

SHOAL = str(DATA / "shoal.yaml")
SIZES = (1024, 2048, 4096, 8192)
PER_GROUP = 4
MOST_CYCLES = 5_000_000
"""By estimate; a core that reads all of far memory takes longer."""


def compiled(seed: int) -> Compiled | None:
    """Return a network of random layers for near memory of some size, None if it does not fit."""
    chance = random.Random(f"far {seed}")
    reach, size = chance.choice(("rw", "none")), chance.choice(SIZES)
    overrides = (f"pools.slow.reach.npu={reach}", f"pools.shared.size={size}")
    try:
        return compile_graph(load_soc(SHOAL, overrides), random_network(seed), NOWHERE)
    except AtollError as error:
        codes = {fault.code for fault in error.faults}
    assert codes <= {"E061", "E062"}
    return None


def rows_of(made: Compiled) -> int:
    """Return how many copies of rows the DMA engine makes."""
    graph = made.graph
    moved = (op for op in graph.operators if op.device == "dma")
    touched = chain.from_iterable((*op.inputs[:1], *op.outputs) for op in moved)
    return sum(bool(graph.tensor(name).rows_of) for name in touched)


def rows_of_those_that_ran(seeds: range, cpu: CpuKind) -> int:
    """Run networks; return how many copies of rows all of them have."""
    rows = 0
    kind = AcceleratorKind.MODEL if cpu is CpuKind.NATIVE else AcceleratorKind.RTL
    for made in filter(None, map(compiled, seeds)):
        if expected_length(made) > MOST_CYCLES:
            continue
        (run,) = run_models((made,), (random_sample(made.graph),), cpu=cpu, accelerator=kind)
        assert run.report.passed, (run.report.mismatches, run.report.violations)
        rows += rows_of(made)
    return rows


@pytest.mark.parametrize("group", range(cases(2)))
def test_networks_run_as_planned(group: int) -> None:
    seeds = range(group * PER_GROUP, (group + 1) * PER_GROUP)
    assert rows_of_those_that_ran(seeds, CpuKind.NATIVE) > PER_GROUP


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize(
    "count", [2, pytest.param(40, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_networks_run_in_full_rtl(count: int) -> None:
    assert rows_of_those_that_ran(range(500, 500 + count), CpuKind.RTL) > count
