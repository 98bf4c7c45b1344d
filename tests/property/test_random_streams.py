# SPDX-License-Identifier: Apache-2.0
"""Random networks whose constants are copied ahead compute, on every byte, what they should."""

import random
from pathlib import Path
from types import ModuleType

import pytest
from benchmarks.streaming import CHIP, streaming
from tests.effort import cases
from tests.property.test_random_networks import random_network

from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

GROUPS = cases(6)
PER_GROUP = 12
ROOMS = ("256 KiB", "64 KiB", "24 KiB", "8 KiB")


def runs_streamed(path: Path, chance: random.Random, cpu: CpuKind) -> int:
    """Run a network; return into how many parts what is streamed was cut, 0 if it does not fit."""
    settings = [f"pools.shared.size={chance.choice(ROOMS)}"]
    settings += chance.choice(
        (
            ["pools.weights.preference=2"],
            ["pools.weights.size=2 KiB", "pools.external.reach.npu=none"],
        )
    )
    try:
        compiled = compile_file(load_soc(str(CHIP), tuple(settings)), path, streaming("always"))
    except AtollError as error:
        faults = error.faults
    else:
        faults = ()
    if faults:
        assert all(fault.code in ("E061", "E062") for fault in faults), faults
        return 0
    kind = AcceleratorKind.MODEL if cpu is CpuKind.NATIVE else AcceleratorKind.RTL
    (run,) = run_models((compiled,), (random_sample(compiled.graph),), cpu=cpu, accelerator=kind)
    assert run.report.passed, (run.report.mismatches, run.report.violations)
    return sum(each.parts for each in compiled.streaming.streams)


@pytest.mark.parametrize("group", range(GROUPS))
def test_streamed_networks_run_as_planned(
    group: int, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    chance, path, parts = random.Random(f"streams {group}"), tmp_path / "network.tflite", 0
    for _ in range(PER_GROUP):
        path.write_bytes(random_network(tflite_builder, chance))
        parts += runs_streamed(path, chance, CpuKind.NATIVE)
    assert parts > PER_GROUP // 2


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize(
    "count", [3, pytest.param(40, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_streamed_networks_in_full_rtl(
    count: int, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    chance, path, parts = random.Random("streams in RTL"), tmp_path / "network.tflite", 0
    for _ in range(count):
        path.write_bytes(random_network(tflite_builder, chance))
        parts += runs_streamed(path, chance, CpuKind.RTL)
    assert parts >= count
