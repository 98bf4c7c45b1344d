# SPDX-License-Identifier: Apache-2.0
"""Run the networks of several seeds in one firmware, cores and accelerators in RTL."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tests.differential import oracle
from tests.differential.campaign import Tally
from tests.differential.case import Case, case_of
from tests.differential.compare import SAMPLES, compile_case, judged, options_of, refused
from tests.differential.setting import Setting
from tests.tflite_builder import write

from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import compile_models
from atoll_sim.runs.checked_run import run_models

PER_IMAGE = 10
"""Networks in one firmware."""


def run_in_rtl(seeds: Sequence[int], setting: Setting, folder: Path) -> Tally:
    """Run the networks of `seeds` in turn, all in one setting; refused ones are left out."""
    tally = Tally()
    cases = [replace(case_of(seed), setting=setting) for seed in seeds]
    fitting = [(case, path) for case, path in _written(cases, folder) if _fits(case, path, tally)]
    paths = [path for _, path in fitting]
    options = [options_of(case, path) for case, path in fitting]
    models = compile_models(setting.soc(), paths, options)
    pairs = list(zip([case for case, _ in fitting], models, strict=True))
    samples = [oracle.random_inputs(model.graph, case.seed, SAMPLES) for case, model in pairs]
    outcomes = run_models(models, samples)
    for (case, model), drawn, outcome in zip(pairs, samples, outcomes, strict=True):
        verdict = judged(case.model, model.graph, drawn, outcome.report, outcome.outputs)
        tally.add(case, verdict)
    return tally


def _written(cases: Sequence[Case], folder: Path) -> Iterator[tuple[Case, Path]]:
    for case in cases:
        path = folder / f"network_{case.seed}.tflite"
        path.write_bytes(write(case.model))
        yield case, path


def _fits(case: Case, path: Path, tally: Tally) -> bool:
    """Tell whether a network compiles on its own; count it if not."""
    try:
        compile_case(case, path)
    except AtollError as error:
        tally.add(case, refused(case.model, error))
        return False
    return True
