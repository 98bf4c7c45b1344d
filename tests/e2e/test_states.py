# SPDX-License-Identifier: Apache-2.0
"""Networks that keep states: several in one firmware, own pools, C source, data caches."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.cached_chips import cached_lagoon
from tests.effort import in_gate
from tests.operator_samples import SCALE, Tree
from tests.recurrent_samples import recurrent
from tests.requests import load_requests

from atoll.artifacts.build_tree import Emit, build
from atoll.artifacts.samples import Sample
from atoll.contract.maintenance_check import maintenance_faults
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file, compile_models
from atoll.ops import reference
from atoll.resolve import load_soc
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, Outcome, run_models
from atoll_sim.simulate.rtl_run import requests_for

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
RUNS = 3
ON_REEF = load_requests(None, ("conv_2d_2=npu",))
KEPT = (
    "pools.shared.size=128 KiB",
    "pools.kept={memory: sram, role: state, reach: {cpu: rw, npu: rw}}",
)


@pytest.fixture
def network(tmp_path: Path, tflite_builder: ModuleType) -> Path:
    """An SVDF, an LSTM and a variable."""
    path = tmp_path / "streaming.tflite"
    path.write_bytes(tflite_builder.write(recurrent(tflite_builder)))
    return path


@pytest.fixture
def feedback(tmp_path: Path, tflite_builder: ModuleType) -> Path:
    """A sum over runs, whose value the accelerator mixes."""
    tree = Tree(tflite_builder)
    x = tree.add((1, 8, 8, 4), **SCALE)
    handle, old = tree.add((), dtype="resource"), tree.add((1, 8, 8, 4), **SCALE)
    options = {"Container": "", "SharedName": "sum"}
    tree.apply_to_several("VAR_HANDLE", (), (handle,), "VarHandleOptions", **options)
    tree.apply("READ_VARIABLE", (handle,), old)
    steps: dict[str, float] = {"StrideH": 1, "StrideW": 1}
    mixed = tree.add((1, 8, 8, 4), **SCALE)
    tree.apply("CONV_2D", (old, tree.weights((4, 3, 3, 4))), mixed, "Conv2DOptions", **steps)
    new = tree.apply("ADD", (mixed, x), tree.add((1, 8, 8, 4), **SCALE), "AddOptions")
    tree.apply_to_several("ASSIGN_VARIABLE", (handle, new), ())
    tree.apply("RELU", (new,), tree.add((1, 8, 8, 4), **SCALE))
    path = tmp_path / "feedback.tflite"
    path.write_bytes(tflite_builder.write(tree.model()))
    return path


def samples_of(compiled: Compiled) -> list[Sample]:
    rng = np.random.default_rng(7)
    tensors = [compiled.graph.tensor(name) for name in compiled.graph.inputs]
    return [
        {each.name: rng.integers(-128, 128, each.shape).astype(each.dtype) for each in tensors}
        for _ in range(RUNS)
    ]


def holds(compiled: Compiled, samples: list[Sample], outputs: Any) -> None:
    """Require what the reference computes in turn, which is not what it computes alone."""
    expected = [*reference.run_in_turn(compiled.network, samples)]
    for wanted, found in zip(expected, outputs, strict=True):
        for name, values in found.items():
            np.testing.assert_array_equal(values, wanted[name])
    alone = reference.run(compiled.network, samples[-1])
    assert any((alone[name] != expected[-1][name]).any() for name in compiled.graph.outputs)


def run(compiled: tuple[Compiled, ...], *, rtl: bool) -> tuple[Outcome, ...]:
    samples = [samples_of(each) for each in compiled]
    kinds: dict[str, Any] = {}
    if not rtl:
        kinds = {"cpu": CpuKind.NATIVE, "accelerator": AcceleratorKind.MODEL}
    outcomes = run_models(compiled, samples, **kinds)
    for outcome in outcomes:
        assert outcome.report.passed, outcome.report
    return outcomes


@pytest.mark.parametrize("rtl", [False, pytest.param(True, marks=pytest.mark.rtl)])
@pytest.mark.parametrize("first", in_gate([False, True], 1))
def test_another_network_between_the_runs(network: Path, first: bool, rtl: bool) -> None:
    files = (network, DIGITS) if first else (DIGITS, network)
    compiled = compile_models(load_soc("lagoon"), files)
    keeper = compiled[0 if first else 1]
    outcomes = run(compiled, rtl=rtl)
    holds(keeper, samples_of(keeper), outcomes[0 if first else 1].outputs)


def test_states_lie_in_a_pool_of_their_own_if_there_is_one(network: Path) -> None:
    compiled = compile_file(load_soc("lagoon", KEPT), network)
    placed = {name: each.pool for name, each in compiled.plan.placements.items()}
    states = compiled.module.entry.states
    assert len(states) == 4
    assert {name for name, pool in placed.items() if pool == "kept"} == {*states}
    run((compiled,), rtl=False)


@pytest.mark.rtl
def test_c_source_resets_states(network: Path, tmp_path: Path) -> None:
    compiled = compile_file(load_soc("lagoon"), network)
    tree = build((compiled,), tmp_path / "build", emit=Emit.C)
    assert "void streaming_reset(void);" in (tmp_path / "build" / "bsp" / "streaming.h").read_text()
    samples = samples_of(compiled)
    held(compiled, tree.firmware.elves, samples, tmp_path, evictions=0)


@pytest.mark.parametrize("evictions", [0, 1, 2, 3])
def test_states_behind_a_data_cache(feedback: Path, tmp_path: Path, evictions: int) -> None:
    pytest.importorskip("unicorn")
    compiled = compile_file(cached_lagoon(), feedback, BuildOptions(requests=ON_REEF))
    assert {op.device for op in compiled.graph.operators} == {"cpu", "npu"}
    assert compiled.module.entry.reset
    tree = build((compiled,), tmp_path / "build")
    held(compiled, tree.firmware.elves, samples_of(compiled), tmp_path, evictions=evictions)


def test_a_state_that_stays_in_the_cache_is_refused(feedback: Path) -> None:
    compiled = compile_file(cached_lagoon(), feedback, BuildOptions(requests=ON_REEF))
    assert compiled.module.entry.after
    wrong = replace(compiled.module, entry=replace(compiled.module.entry, after=()))
    faults = [*maintenance_faults(wrong, compiled.plan, compiled.soc)]
    assert ["'state_sum' is read by the next run" in fault.message for fault in faults] == [True]


def held(
    compiled: Compiled,
    elves: tuple[Path, ...],
    samples: list[Sample],
    folder: Path,
    *,
    evictions: int,
) -> None:
    """Run firmware on the instruction-set simulator, and compare."""
    request = requests_for((compiled,), elves, (samples,), Path(), folder / "run", beats=False)
    soc = compiled.soc
    result = simulate(
        request, lambda memory: make_models(soc, memory, (compiled,)), evictions=evictions
    )
    assert (result.results, result.findings) == ((0,) * RUNS, ())
    tensors = {name: compiled.graph.tensor(name) for name in compiled.graph.outputs}
    outputs = [
        {name: each.values_in(found[name]) for name, each in tensors.items()}
        for found in result.outputs
    ]
    holds(compiled, samples, outputs)
