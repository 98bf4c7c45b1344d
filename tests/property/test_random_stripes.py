# SPDX-License-Identifier: Apache-2.0
"""Random networks in random stripes compute, on every byte, what they compute as they are."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.cached_chips import cached_lagoon, cached_twin
from tests.effort import cases
from tests.operator_samples import SCALE, Tree
from tests.property.test_random_networks import CHIPS, random_network
from tests.recurrent_samples import before

from atoll.artifacts.samples import random_sample
from atoll.description.build import CutRequest
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph
from atoll.ops import reference
from atoll.ops.registry import kind_of
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.tile.cut import Cut, Tiling, tile
from atoll.tile.stripes import Chain, stripes_of
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

GROUPS = cases(6)
PER_GROUP = 12


def random_cuts(network: Graph, chance: random.Random) -> Iterator[Cut]:
    """Yield disjoint chains that can be cut."""
    number = 0
    while number < len(network.operators):
        end = chance.randint(number + 1, len(network.operators))
        count = chance.choice((2, 3, 5, 8))
        if stripes_of(Chain(network, number, end), count):
            yield Cut(begin=number, end=end, stripes=count)
            number = end
        number += 1


def requests_for(network: Graph, cuts: tuple[Cut, ...]) -> BuildOptions:
    names = [op.name for op in network.operators]
    asked = tuple(
        CutRequest(first=names[cut.begin], last=names[cut.end - 1], stripes=cut.stripes)
        for cut in cuts
    )
    options = BuildOptions()
    model = options.requests.model.model_copy(update={"cuts": asked})
    return replace(options, requests=replace(options.requests, model=model))


@pytest.mark.parametrize("group", range(GROUPS))
def test_stripes_compute_the_rows_of_the_network(
    group: int, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    chance, path, rows = random.Random(f"rows {group}"), tmp_path / "network.tflite", 0
    for _ in range(4 * PER_GROUP):
        path.write_bytes(random_network(tflite_builder, chance))
        network = load_tflite(path)
        cut = tile(network, Tiling(cuts=tuple(random_cuts(network, chance))))
        for op in cut.operators:
            kind_of(op).check(op, cut)
        (sample,) = random_sample(network)
        whole, made = reference.run(network, sample), reference.run(cut, sample)
        for tensor in cut.tensors:
            if tensor.rows_of:
                rows += 1
                first, last = tensor.first_row, tensor.first_row + tensor.shape[1]
                np.testing.assert_array_equal(
                    made[tensor.name], whole[tensor.rows_of][:, first:last]
                )
        for name in network.outputs:
            np.testing.assert_array_equal(made[name], whole[name])
    assert rows > 4 * PER_GROUP


def runs_in_stripes(path: Path, chip: str, chance: random.Random, cpu: CpuKind) -> int:
    """Run a network in stripes; return how many operators it had more, 0 if it does not fit."""
    network = load_tflite(path)
    cuts = tuple(random_cuts(network, chance))
    try:
        compiled = compile_file(load_soc(chip), path, requests_for(network, cuts))
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
    return len(compiled.graph.operators) - len(network.operators)


@pytest.mark.parametrize("group", range(GROUPS))
def test_networks_in_stripes_run_as_planned(
    group: int, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    chance, path, more = random.Random(f"stripes {group}"), tmp_path / "network.tflite", 0
    for _ in range(PER_GROUP):
        path.write_bytes(random_network(tflite_builder, chance))
        more += runs_in_stripes(path, chance.choice(CHIPS), chance, CpuKind.NATIVE)
    assert more > PER_GROUP


@pytest.mark.parametrize("chip", [cached_lagoon, cached_twin])
def test_stripes_share_no_line_of_a_cache_with_another_device(
    chip: Callable[[], ResolvedSoc], tmp_path: Path, tflite_builder: ModuleType
) -> None:
    """Cache maintenance is checked byte by byte as each network is compiled."""
    chance, path, made = random.Random(5), tmp_path / "network.tflite", 0
    codes: set[str] = set()
    for _ in range(cases(30)):
        path.write_bytes(random_network(tflite_builder, chance))
        network = load_tflite(path)
        options = requests_for(network, tuple(random_cuts(network, chance)))
        try:
            made += len(compile_file(chip(), path, options).module.entry.parts)
        except AtollError as error:
            codes |= {fault.code for fault in error.faults}
    assert made > cases(30)
    assert codes <= {"E061", "E062"}


@pytest.mark.rtl
@pytest.mark.parametrize(
    "count", [3, pytest.param(40, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_networks_in_stripes_in_full_rtl(
    count: int, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    chance, path, more = random.Random("stripes in RTL"), tmp_path / "network.tflite", 0
    for _ in range(count):
        path.write_bytes(random_network(tflite_builder, chance))
        more += runs_in_stripes(path, "lagoon", chance, CpuKind.RTL)
    assert more > count


@pytest.mark.parametrize("chip", ["lagoon", "twin"])
def test_stripes_of_a_state(chip: str, tflite_builder: ModuleType, tmp_path: Path) -> None:
    """Rows that are taken of a state are no states, and have what it was before the run."""
    tree = Tree(tflite_builder)
    x, shape = tree.add((1, 6, 6, 8), **SCALE), (1, 6, 6, 8)
    y = before(tree, x)
    steps: dict[str, float] = {"StrideH": 1, "StrideW": 1}
    for _ in range(2):
        operands = (y, tree.weights((8, 3, 3, 8)))
        y = tree.apply("CONV_2D", operands, tree.add(shape, **SCALE), "Conv2DOptions", **steps)
    path = tmp_path / "network.tflite"
    path.write_bytes(tflite_builder.write(tree.model()))
    network, cuts = load_tflite(path), (Cut(begin=0, end=2, stripes=3),)
    assert tile(network, Tiling(cuts=cuts)).states == network.states
    compiled = compile_file(load_soc(chip), path, requests_for(network, cuts))
    samples = [random_sample(network, seed)[0] for seed in range(3)]
    kinds = {"cpu": CpuKind.NATIVE, "accelerator": AcceleratorKind.MODEL}
    report = run_models((compiled,), (samples,), **kinds)[0].report  # type: ignore[arg-type]
    assert report.passed, (report.mismatches, report.violations)
