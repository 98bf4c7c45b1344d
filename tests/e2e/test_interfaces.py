# SPDX-License-Identifier: Apache-2.0
"""Whatever inputs and outputs a model has, each output is there when the caller reads it."""

from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, Literal

import numpy as np
import pytest
from tests.effort import in_gate
from tests.requests import load_requests

from atoll.artifacts.samples import random_sample
from atoll.contract.program_check import program_faults
from atoll.diagnostics.errors import ModelError, PlanError
from atoll.driver import planned
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.tir import IRModule
from atoll.memory.build_problem import build_problem
from atoll.memory.checker import violations
from atoll.memory.problem import Problem
from atoll.resolve import load_soc
from atoll_sim.build.model import build_model
from atoll_sim.host.native_run import run_native
from atoll_sim.mutate.campaign import run_right, try_mutant
from atoll_sim.mutate.mutant import Mutant, Right
from atoll_sim.mutate.plan import output_freed_early
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

NAMES = (
    *("outputs_read_later", "an_early_output", "an_output_twice", "an_output_that_is_an_input"),
    *("an_output_that_is_a_constant", "only_a_constant", "an_output_with_a_view"),
    *("outputs_that_are_views", "an_unused_input", "only_unused_inputs", "a_dead_tail"),
    *("no_operators", "one_operand_twice", "one_operand_twice_kept"),
)
MAPPED = ("interface.map_inputs=true", "interface.map_outputs=true")
Overlap = Literal["none", "free", "all"]


@pytest.fixture(scope="module")
def models(tflite_builder: ModuleType, tflite_samples: ModuleType) -> dict[str, bytes]:
    made: dict[str, Any] = tflite_samples.interfaces(tflite_builder)
    return {name: tflite_builder.write(model) for name, model in made.items()}


def compiled(
    models: dict[str, bytes],
    name: str,
    folder: Path,
    *overrides: str,
    chip: str = "lagoon",
    overlap: Overlap | None = None,
) -> Compiled:
    path = folder / f"{name}.tflite"
    path.write_bytes(models[name])
    options = BuildOptions(requests=load_requests(None, (), (), (), overlap))
    return compile_file(load_soc(chip, overrides), path, options)


def test_every_kind_of_interface_is_tried(models: dict[str, bytes]) -> None:
    assert tuple(models) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_runs_bit_exactly_without_a_finding(
    models: dict[str, bytes], name: str, tmp_path: Path
) -> None:
    ways: tuple[tuple[str, tuple[str, ...], Overlap], ...] = (
        ("lagoon", (), "free"),
        ("lagoon", MAPPED, "all"),
        ("twin", (), "none"),
    )
    for chip, overrides, overlap in ways:
        program = compiled(models, name, tmp_path, *overrides, chip=chip, overlap=overlap)
        kinds = {"cpu": CpuKind.NATIVE, "accelerator": AcceleratorKind.MODEL}
        samples = [random_sample(program.graph, seed)[0] for seed in (1, 2)]
        report = run_models((program,), (samples,), **kinds)[0].report  # type: ignore[arg-type]
        assert report.passed, report
        assert not report.violations
        assert len(program.graph.outputs) == len(set(program.graph.outputs))


@pytest.mark.rtl
@pytest.mark.parametrize(
    "name", in_gate(["outputs_read_later", "an_unused_input", "no_operators"], 0, 1)
)
def test_so_does_the_firmware(models: dict[str, bytes], name: str, tmp_path: Path) -> None:
    program = compiled(models, name, tmp_path)
    samples = [random_sample(program.graph, seed)[0] for seed in (1, 2)]
    kinds = {"cpu": CpuKind.RTL, "accelerator": AcceleratorKind.RTL}
    report = run_models((program,), (samples,), **kinds)[0].report  # type: ignore[arg-type]
    assert report.passed, report
    assert not report.violations


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64", "bool"])
def test_what_is_no_result_is_copied_in_every_type(
    dtype: str, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    """An input as well, a constant, and a result that is declared twice."""
    tensor, data = tflite_builder.Tensor, np.arange(6).reshape(2, 3).astype(dtype)
    kept: dict[str, Any] = {"dtype": dtype}
    kept |= {"scales": (0.5,), "zero_points": (0,)} if dtype == "int16" else {}
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=(2, 3), **kept),
            tensor(shape=(2, 3), data=data, **kept),
            tensor(shape=(6,), **kept),
        ),
        operators=(tflite_builder.Operator(code="RESHAPE", inputs=(0,), outputs=(2,)),),
        inputs=(0,),
        outputs=(0, 1, 2, 2),
    )
    program = compiled({"copies": tflite_builder.write(model)}, "copies", tmp_path)
    (outcome,) = run_models(
        (program,), ([{program.graph.inputs[0]: data[::-1]}],), cpu=CpuKind.NATIVE
    )
    assert outcome.report.passed
    found = [outcome.outputs[0][name] for name in program.graph.outputs]
    for values, wanted in zip(found, (data[::-1], data, *[data[::-1].ravel()] * 2), strict=True):
        np.testing.assert_array_equal(values, wanted)


def test_an_output_that_nothing_writes_is_refused(
    tflite_builder: ModuleType, tflite_samples: ModuleType, tmp_path: Path
) -> None:
    model = tflite_samples.interfaces(tflite_builder)["no_operators"]
    path = tmp_path / "nothing.tflite"
    path.write_bytes(tflite_builder.write(replace(model, outputs=(1,))))
    with pytest.raises(
        ModelError, match=r"the model's output, tensor 1 \('a'\): nothing writes it"
    ):
        compile_file(load_soc("lagoon"), path)


def test_m7_inputs_that_stay_mapped_hold_their_values_after_the_run(
    models: dict[str, bytes], tmp_path: Path
) -> None:
    program = compiled(models, "an_unused_input", tmp_path, *MAPPED, overlap="all")
    kept = {span.buffer for span in program.contract.outputs}
    assert kept == {*program.graph.outputs, *program.graph.inputs}
    ends = {each.span.buffer: each.last for each in program.contract.lifetimes}
    assert all(ends[name] is None for name in kept)
    lives = {buffer.name: buffer.live for buffer in program.plan.problem.buffers}
    steps = len(program.module.entry.steps)
    assert all(lives[name][-1][1] == steps + 1 for name in kept)


def freed_early(program: Compiled) -> Mutant:
    right: Any = type("Planned", (), {"compiled": program})
    drawn = (output_freed_early(right, Random(seed)) for seed in range(20))
    return next(mutant for mutant in drawn if mutant is not None)


@pytest.mark.parametrize("name", ["outputs_read_later", "an_early_output", "an_output_with_a_view"])
def test_an_output_freed_early_is_seen_by_each_check_on_its_own(
    models: dict[str, bytes], name: str, tmp_path: Path
) -> None:
    program = compiled(models, name, tmp_path)
    mutant = freed_early(program)
    wrong, output = mutant.built, mutant.subject
    steps = len(program.module.entry.steps)
    # The lives that the planner is told, and the checker of plans.
    lives = {buffer.name: buffer.live for buffer in program.plan.problem.buffers}
    assert lives[output][-1][1] == steps + 1
    assert any(f.code == "E063" and f"'{output}'" in f.message for f in violations(wrong.plan))
    # The check that follows the program and is told no lives.
    lost = [fault.message for fault in program_faults(wrong.module, wrong.plan)]
    assert any(f"'{output}' is read when the run has ended" in message for message in lost)
    # The contract, from which the shadow memory judges.
    (life,) = (each for each in wrong.contract.lifetimes if each.span.buffer == output)
    assert life.last is None
    pairs = {pair for phase in wrong.contract.phases.values() for pair in phase.overlaps}
    assert output not in {read for _, read in pairs}
    found = run_native((wrong,), (random_sample(wrong.graph),)).findings
    rules = {(each.violation.rule, each.violation.buffer) for each in found}
    assert ("overlap clobber", output) in rules
    assert ("overwritten before read", output) in rules
    # What the caller gets.
    kinds = {"cpu": CpuKind.NATIVE, "accelerator": AcceleratorKind.MODEL}
    outcome = run_models((wrong,), (random_sample(wrong.graph),), **kinds)[0]  # type: ignore[arg-type]
    assert not outcome.report.passed


def test_a_plan_of_lives_that_forget_an_output_is_refused_by_the_program(
    models: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checker of plans believes what it is told of lives."""

    def forgetful(module: IRModule, *others: Any) -> Problem:
        entry = replace(module.entry, outputs=module.entry.outputs[-1:])
        return build_problem(replace(module, entry=entry), *others)

    monkeypatch.setattr(planned, "build_problem", forgetful)
    with pytest.raises(PlanError, match=r"E063.*'quantize_0_out' is read when the run has ended"):
        compiled(models, "outputs_read_later", tmp_path)


@pytest.mark.rtl
def test_an_output_freed_early_is_noticed_in_rtl(models: dict[str, bytes], tmp_path: Path) -> None:
    program = compiled(models, "outputs_read_later", tmp_path)
    executable = build_model(program.soc)
    right: Right
    right, report = run_right(program, executable, tmp_path)
    assert report.passed, report
    trial = try_mutant(right, freed_early(program))
    assert (trial.result.by, trial.result.shadow) == ("overlap clobber", True)
