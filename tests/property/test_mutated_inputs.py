# SPDX-License-Identifier: Apache-2.0
"""Mutated YAML, TFLite and NumPy files end well, or in faults that are short, printable and timely.

`mutants.mutant(kind, 17)` makes the mutant that a finding names.
"""

import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.all_samples import fixed_samples
from tests.effort import cases
from tests.limits import within_limits

from atoll.artifacts.build_tree import texts_of
from atoll.artifacts.samples import load_samples, random_sample
from atoll.diagnostics.errors import AtollError, Fault
from atoll.driver.pipeline import compile_file
from atoll.resolve import explain, load_soc
from atoll.resolve.tables import as_text

FEW, CHUNK, CHUNKS, SAMPLES = cases(300), 1_000, 2, 2_000
LONGEST_FAULT, LONGEST_ALL = 2_000, 150_000

Act = Callable[[Path], object]
Judge = Callable[[str, range], list[str]]


def described(path: Path) -> None:
    text = as_text(explain.explain(load_soc(path)))
    assert text.replace("\n", "").isprintable()


def compiled(path: Path) -> None:
    result = compile_file(load_soc("lagoon"), path)
    texts = "".join(texts_of(result).values())
    assert texts.replace("\n", "").isprintable()
    assert random_sample(result.graph)


def sampled(graph: Any) -> Act:
    return lambda path: load_samples(path, graph)


def faults_of(act: Act, path: Path) -> tuple[Fault, ...]:
    """Return what Atoll reports."""
    try:
        act(path)
    except AtollError as error:
        return error.faults
    return ()


def complaint(act: Act, path: Path) -> str:
    """Return what is wrong with how an input ends, "" if nothing is."""
    faults: tuple[Fault, ...] = ()
    try:
        with within_limits():
            faults = faults_of(act, path)
    except Exception:  # noqa: BLE001
        return traceback.format_exc().strip()[-600:]
    texts = [str(fault) for fault in faults]
    if any(len(text) > LONGEST_FAULT for text in texts) or sum(map(len, texts)) > LONGEST_ALL:
        return f"{len(texts)} faults have {sum(map(len, texts))} characters, {texts[0][:200]}"
    lines = [line for text in texts for line in text.split("\n")]
    return next((f"not printable: {line!a}" for line in lines if not line.isprintable()), "")


@pytest.fixture
def judged(tmp_path: Path, mutants: ModuleType, tflite_builder: ModuleType) -> Judge:
    """Return what is wrong with how mutants of a kind end."""

    samples = fixed_samples(tflite_builder)

    def judge(name: str, numbers: range) -> list[str]:
        path = tmp_path / f"mutant.{name}"
        act: Act
        if name == "yaml":
            kind, act = mutants.yaml_kind(), described
        elif name == "tflite":
            kind, act = mutants.tflite_kind(tflite_builder, samples), compiled
        else:
            graph = compile_file(load_soc("lagoon"), mutants.DIGITS).graph
            kind, act = mutants.numpy_kind(), sampled(graph)
        found = []
        for number in numbers:
            path.write_bytes(mutants.mutant(kind, number))
            if reason := complaint(act, path):
                found.append(f"{name} {number}: {reason}")
        return found

    return judge


@pytest.mark.parametrize("name", ["yaml", "tflite", "numpy"])
def test_some(name: str, judged: Judge) -> None:
    assert judged(name, range(FEW)) == []


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("name", ["yaml", "tflite"])
def test_many(name: str, chunk: int, judged: Judge) -> None:
    assert judged(name, range(chunk * CHUNK, (chunk + 1) * CHUNK)) == []


@pytest.mark.slow
def test_many_samples(judged: Judge) -> None:
    assert judged("numpy", range(SAMPLES)) == []
