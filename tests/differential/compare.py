# SPDX-License-Identifier: Apache-2.0
"""Run one network by Atoll and by TFLM, and say how that ended."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.differential import oracle
from tests.differential.case import Case, Ending, Verdict
from tests.differential.expected import refusals
from tests.tflite_builder import Model, write
from tests.tflm_process import RefusedError

from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph
from atoll.report.result import RunReport
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

SAMPLES = 2

Sample = Mapping[str, NDArray[Any]]


NO_ROOM = frozenset({"E061", "E062"})


def verdict_on(case: Case) -> Verdict:
    """Compile, run and compare; whatever goes wrong on the way is a false finding."""
    with tempfile.TemporaryDirectory(prefix="atoll-") as folder:
        path = Path(folder) / "network.tflite"
        path.write_bytes(write(case.model))
        try:
            compiled = compile_case(case, path)
        except AtollError as error:
            return refused(case.model, error)
        except Exception as error:  # noqa: BLE001 - a traceback is what we look for
            return Verdict(Ending.FALSE_FINDING, f"{type(error).__name__} in compile: {error}")
        try:
            return _run(case, compiled)
        except Exception as error:  # noqa: BLE001 - as above
            return Verdict(Ending.FALSE_FINDING, f"{type(error).__name__} in run: {error}")


def compile_case(case: Case, path: Path) -> Compiled:
    """Compile the network that lies at `path` in its setting."""
    return compile_file(case.setting.soc(), path, options_of(case, path))


def options_of(case: Case, path: Path) -> BuildOptions:
    """Return the options for the network that lies at `path`."""
    operators = [op.name for op in load_tflite(path).operators] if case.setting.shared else []
    return case.setting.options(operators, case.seed)


def refused(model: Model, error: AtollError) -> Verdict:
    """Judge a refusal: the documents must announce it, or memory be short."""
    codes = {fault.code for fault in error.faults}
    if codes <= NO_ROOM:
        return Verdict(Ending.NO_ROOM, str(error))
    if codes <= refusals(model):
        return Verdict(Ending.REFUSED, str(error))
    return Verdict(Ending.FALSE_FINDING, f"refused: {error}")


def _run(case: Case, compiled: Compiled) -> Verdict:
    samples = oracle.random_inputs(compiled.graph, case.seed, SAMPLES)
    used = AcceleratorKind.MODEL if case.setting.accelerators else AcceleratorKind.NONE
    (outcome,) = run_models((compiled,), (samples,), cpu=CpuKind.NATIVE, accelerator=used)
    return judged(case.model, compiled.graph, samples, outcome.report, outcome.outputs)


def judged(
    model: Model,
    graph: Graph,
    samples: list[Sample],
    report: RunReport,
    outputs: tuple[Sample, ...],
) -> Verdict:
    """Compare what a run left with what TFLM computes, then ask what the checks found."""
    try:
        inputs = [oracle.file_inputs(model, graph, sample) for sample in samples]
        expected = oracle.run_tflm(model, inputs)
    except RefusedError as fault:
        return Verdict(Ending.ORACLE_REFUSED, str(fault))
    if len(outputs) < len(expected):
        return Verdict(Ending.FALSE_FINDING, f"ended early: {'; '.join(report.notes)}")
    for number, (wanted, found) in enumerate(zip(expected, outputs, strict=True)):
        actual = oracle.file_outputs(model, graph, found)
        for tensor, ours, theirs in zip(model.outputs, actual, wanted, strict=True):
            if not _equal(ours, theirs):
                where = f"sample {number}, output %{tensor}, {_culprit(report)}"
                detail = f"{where}: {_few(ours)} instead of {_few(theirs)}"
                return Verdict(Ending.DIFFERENCE, detail)
    if not report.passed:
        return Verdict(Ending.FALSE_FINDING, "; ".join(_findings(report)))
    return Verdict(Ending.SAME)


def _equal(ours: NDArray[Any], theirs: NDArray[Any]) -> bool:
    return (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype) and np.array_equal(ours, theirs)


def _culprit(report: RunReport) -> str:
    """Say who is wrong: whoever made the first tensor that is not the reference's, or that."""
    if not report.mismatches:
        return "the reference is wrong"
    first = report.mismatches[0]
    return f"{first.operator} on {first.device} is wrong"


def _findings(report: RunReport) -> Iterator[str]:
    for wrong in report.mismatches:
        yield f"'{wrong.tensor}' of {wrong.operator} is not the reference's"
    for found in report.violations:
        yield f"{found.rule} ({found.number}) by {found.device} in {found.operator}: {found.detail}"
    yield from report.notes


def _few(values: NDArray[Any]) -> str:
    text = f"{values.dtype}{list(values.shape)} {values.reshape(-1)[:12].tolist()}"
    return text + " ..." * (values.size > 12)
