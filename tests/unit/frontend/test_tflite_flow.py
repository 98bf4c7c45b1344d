# SPDX-License-Identifier: Apache-2.0
"""IF and WHILE become what they run, with TFLM's bytes."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import in_gate, seeded
from tests.flow_samples import ROWS, Flow, branched, looped

from atoll.diagnostics.errors import ModelError
from atoll.driver.pipeline import compile_file
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph
from atoll.ops import reference
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import run_models

OTHER = {"shares": 9999, "dtype": "float16"}
Values = np.ndarray[Any, Any]
Compare = Callable[[Any, np.random.Generator], None]
Oracle = Callable[..., Values]
Hold = Callable[[Any, np.random.Generator], Graph]


@pytest.fixture
def held(tmp_path: Path, tflite_builder: ModuleType, tflm: Oracle) -> Hold:
    """Compare the reference with the oracle on two random samples, and return the graph."""

    def compare(model: Any, rng: np.random.Generator) -> Graph:
        data, path = tflite_builder.write(model), tmp_path / "model.tflite"
        path.write_bytes(data)
        graph = load_tflite(path)
        for _ in range(2):
            given = [rng.integers(-128, 128, graph.tensor(n).shape, np.int8) for n in graph.inputs]
            values = reference.run(graph, dict(zip(graph.inputs, given, strict=True)))
            for number, name in enumerate(graph.outputs):
                found, expected = values[name], tflm(data, given, number)
                assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
                np.testing.assert_array_equal(found, expected)
        return graph

    return compare


@seeded(1000)
def test_random_bodies(seed: int, tflite_builder: ModuleType, held: Hold) -> None:
    rng = np.random.default_rng(seed)
    graph = held(Flow(tflite_builder, rng).model(), rng)
    assert len({op.name for op in graph.operators}) == len(graph.operators)


@seeded(40, 1)
def test_machine_code(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(seed)
    equals_tflm(Flow(tflite_builder, rng).model(), rng)


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_a_body_is_there_for_each_turn(turns: int, tflite_builder: ModuleType, held: Hold) -> None:
    """Its two values change places; what no turn makes is a copy of an input."""
    graph = held(looped(tflite_builder, turns=turns, step=3), np.random.default_rng(turns))
    names = [op.name for op in graph.operators]
    assert names[:turns] == [f"while_0_{turn}_fully_connected_0" for turn in range(turns)]
    assert [op.kind for op in graph.operators[turns:]] == ["reshape"] * (2 - turns)


@pytest.mark.parametrize(
    "damage",
    [{"data": np.ones(3, np.int8)}, {"data": np.ones(8, np.int8)}, {"shares": 9999}, OTHER],
    ids=["short", "long", "elsewhere", "of another type"],
)
@pytest.mark.parametrize("part", ["counter", "limit", "step"])
def test_a_damaged_constant_is_refused(
    part: str, damage: dict[str, Any], tflite_builder: ModuleType, tmp_path: Path
) -> None:
    model = looped(tflite_builder, turns=3)

    def damaged(each: Any) -> Any:
        tensors = (
            replace(tensor, **damage)
            if tensor.data is not None and tensor.dtype == "int32"
            else tensor
            for tensor in each.tensors
        )
        return replace(each, tensors=tuple(tensors))

    test, body = model.others
    if part == "counter":
        model = damaged(model)
    else:
        others = (damaged(test), body) if part == "limit" else (test, damaged(body))
        model = replace(model, others=others)
    (tmp_path / "model.tflite").write_bytes(tflite_builder.write(model))
    with pytest.raises(ModelError, match="E052"):
        load_tflite(tmp_path / "model.tflite")


def test_a_run_may_leave_a_loop(tflite_builder: ModuleType, tmp_path: Path, tflm: Oracle) -> None:
    """All turns are computed, with a counter that is known, and those that a run makes count."""
    data = tflite_builder.write(looped(tflite_builder, turns=3, early=True))
    path, rng, left = tmp_path / "model.tflite", np.random.default_rng(1), set[int]()
    path.write_bytes(data)
    graph = load_tflite(path)
    assert [op.name for op in graph.operators if op.kind == "fully_connected"] == [
        f"while_0_{turn}_fully_connected_0" for turn in range(3)
    ]
    conditions = [op.outputs[0] for op in graph.operators if op.kind == "less"]
    for _ in range(40):
        given = [rng.integers(-128, 128, ROWS, np.int8) for _ in graph.inputs]
        values = reference.run(graph, dict(zip(graph.inputs, given, strict=True)))
        truths = [bool(values[name]) for name in conditions]
        left.add(truths.index(False) if False in truths else 3)
        for number, name in enumerate(graph.outputs):
            np.testing.assert_array_equal(values[name], tflm(data, given, number))
    assert left == {0, 1, 2, 3}


@pytest.mark.parametrize("known", [None, False, True])
def test_a_known_branch_is_alone(
    known: bool | None, tflite_builder: ModuleType, held: Hold
) -> None:
    """Else both are there; of what both hand on alike nothing is chosen."""
    graph = held(branched(tflite_builder, known=known), np.random.default_rng(5))
    kinds = [op.kind for op in graph.operators]
    assert ("add" in kinds) is (known is not False)
    assert kinds.count("select_v2") == (2 if known is None else 0)


def test_both_branches_are_taken(tflite_builder: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(branched(tflite_builder)))
    graph = load_tflite(path)
    assert {*_taken(graph)} == {False, True}


def test_a_signature_has_bodies(tflite_builder: ModuleType, tmp_path: Path) -> None:
    """The function that is chosen runs others, which keep their numbers."""
    first, second = branched(tflite_builder, known=True), looped(tflite_builder)
    (loop,) = second.operators
    loop = replace(loop, options={"CondSubgraphIndex": 4, "BodySubgraphIndex": 5})
    bodies = (*first.others, replace(second, operators=(loop,), others=()), *second.others)
    names = (("choose", 0), ("turn", 3))
    path = tmp_path / "two.tflite"
    path.write_bytes(tflite_builder.write(replace(first, others=bodies, signatures=names)))
    for name, kinds in (("choose", {"add", "reshape"}), ("turn", {"fully_connected"})):
        graph = load_tflite(path.with_name(f"two.tflite#{name}"))
        assert {op.kind for op in graph.operators} == kinds


@pytest.mark.rtl
@pytest.mark.parametrize("make", in_gate([looped, partial(looped, early=True), branched], -1))
def test_in_full_rtl(
    make: Callable[[ModuleType], Any],
    tflite_builder: ModuleType,
    tmp_path: Path,
    tflm: Oracle,
) -> None:
    """Four samples, of which two take each branch."""
    data, path = tflite_builder.write(make(tflite_builder)), tmp_path / "network.tflite"
    path.write_bytes(data)
    compiled = compile_file(load_soc("lagoon"), path)
    graph, rng = compiled.graph, np.random.default_rng(1)
    samples = []
    for less in (True, False, True, False):
        given = [rng.integers(-128, 128, ROWS, np.int8) for _ in graph.inputs]
        given[0][1, 2], given[1][1, 2] = (-5, 5) if less else (5, -5)
        samples.append(dict(zip(graph.inputs, given, strict=True)))
    (outcome,) = run_models((compiled,), (samples,))
    assert outcome.report.passed, outcome.report
    for found, sample in zip(outcome.outputs, samples, strict=True):
        for number, name in enumerate(graph.outputs):
            np.testing.assert_array_equal(found[name], tflm(data, [*sample.values()], number))


def _taken(graph: Graph) -> Iterator[bool]:
    """Yield the condition that several samples have, and see that the first output follows it."""
    (first, second), rng = graph.inputs, np.random.default_rng(3)
    for _ in range(9):
        given = {name: rng.integers(-128, 128, ROWS, np.int8) for name in graph.inputs}
        values = reference.run(graph, given)
        condition = bool(given[first][1, 2] < given[second][1, 2])
        side = values["if_3_then_add_0_out"] if condition else given[second]
        np.testing.assert_array_equal(values[graph.outputs[0]], side)
        yield condition
