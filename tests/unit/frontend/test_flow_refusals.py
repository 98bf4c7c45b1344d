# SPDX-License-Identifier: Apache-2.0
"""What IF and WHILE may not do, each with its place and reason."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.flow_samples import QUANTIZED, ROWS, branched, looped
from tests.operator_samples import Tree
from tests.recurrent_samples import svdf

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite import flow
from atoll.frontend.tflite.load import load_tflite

Change = Callable[[Any], Any]


def with_tensor(model: Any, at: int, **changes: Any) -> Any:
    tensors = list(model.tensors)
    tensors[at] = replace(tensors[at], **changes)
    return replace(model, tensors=tuple(tensors))


def with_other(model: Any, at: int, change: Change) -> Any:
    others = list(model.others)
    others[at] = change(others[at])
    return replace(model, others=tuple(others))


def with_loop(model: Any, **changes: Any) -> Any:
    return replace(
        model, operators=(*model.operators[:-1], replace(model.operators[-1], **changes))
    )


def faults(model: Any, builder: ModuleType, folder: Path) -> list[str]:
    path = folder / "flow.tflite"
    path.write_bytes(builder.write(model))
    with pytest.raises(ModelError) as found:
        load_tflite(path)
    assert all(fault.remedy for fault in found.value.faults)
    return [f"{each.code} {each.message.removeprefix(f'{path}: ')}" for each in found.value.faults]


WHERE = "operator 0 (WHILE)"
LOOPS: tuple[tuple[Change, str], ...] = (
    (lambda m: with_loop(m, table="", options={}), "E052 operator 0 (WHILE): has no WhileOptions"),
    (lambda m: with_loop(m, inputs=(0, 2)), f"E052 {WHERE}: has 2 inputs and 3 outputs"),
    (lambda m: with_loop(m, inputs=(-1, 2, 1)), f"E052 {WHERE}: lacks an input"),
    (
        lambda m: with_other(m, 0, lambda test: replace(test, outputs=())),
        "E052 operator 0 (WHILE): its condition, subgraph 1, has no result",
    ),
    (
        lambda m: with_other(m, 0, lambda test: replace(test, outputs=(3,))),
        "E054 operator 0 (WHILE): its condition, tensor 3 ('t3'), is int32 [] instead of one "
        "truth value",
    ),
    (
        lambda m: with_other(m, 0, lambda test: replace(test, inputs=(0, 1))),
        "E052 operator 0 (WHILE): has 3 inputs for the 2 of subgraph 1",
    ),
    (
        lambda m: with_other(m, 1, lambda body: replace(body, outputs=body.outputs[:2])),
        "E052 operator 0 (WHILE): has 3 outputs for the 2 of subgraph 2",
    ),
    (
        lambda m: with_other(m, 1, lambda body: with_tensor(body, 2, scales=(0.1,))),
        "E054 operator 0 (WHILE): tensor 1 ('t1') of int8 [2, 6], scale 0.05, zero point -3 is "
        "copied to tensor 2 ('t2') of int8 [2, 6], scale 0.1, zero point -3",
    ),
    (
        lambda m: with_other(m, 1, lambda body: with_tensor(body, 0, data=np.zeros(ROWS, np.int8))),
        f"E052 {WHERE}: gives a value to tensor 0 ('t0') of subgraph 2, which is a constant",
    ),
    (
        lambda m: with_other(m, 1, lambda body: replace(body, outputs=(99, 1, 0))),
        "E052 subgraph 2's outputs name tensor 99; there are 7",
    ),
)


@pytest.mark.parametrize(("change", "text"), LOOPS)
def test_loops(change: Change, text: str, tflite_builder: ModuleType, tmp_path: Path) -> None:
    assert faults(change(looped(tflite_builder)), tflite_builder, tmp_path) == [text]


def test_what_a_body_has_is_named(tflite_builder: ModuleType, tmp_path: Path) -> None:
    """By turn and place; kinds that there are not, and options that are not supported."""

    def unknown(body: Any) -> Any:
        first, *others = body.operators
        return replace(body, operators=(replace(first, code="SKIP_GRAM"), *others))

    changed = with_other(looped(tflite_builder), 1, unknown)
    assert faults(changed, tflite_builder, tmp_path) == [
        "E053 operator while_0_0_skip_gram_0 (SKIP_GRAM), tensor 5 ('t5'): the operator is not "
        "supported, nor is operator while_0_1_skip_gram_0 of the same kind: 2 of 2 operators"
    ]
    changed = with_other(looped(tflite_builder), 1, lambda body: with_tensor(body, 4, shape=(5, 6)))
    changed = with_other(changed, 1, lambda b: with_tensor(b, 4, data=np.zeros((5, 6), np.int8)))
    (fault,) = faults(changed, tflite_builder, tmp_path)
    assert fault.startswith("E054 operator while_0_0_fully_connected_0 (FULLY_CONNECTED), tensor '")
    assert fault.endswith("; likewise operator while_0_1_fully_connected_0")


def test_bodies_are_in_order(tflite_builder: ModuleType, tmp_path: Path) -> None:
    """What is computed when the file is loaded, too."""

    def backwards(body: Any) -> Any:
        (_, added), first = body.operators[1].inputs, len(body.tensors)
        early = replace(body.operators[1], inputs=(first, added), outputs=(first + 1,))
        late = replace(early, inputs=(added, added), outputs=(first,))
        more = (replace(body.tensors[1], name=name) for name in ("late", "early"))
        operators = (early, *body.operators, late)
        return replace(body, tensors=(*body.tensors, *more), operators=operators)

    changed = with_other(looped(tflite_builder, turns=1), 1, backwards)
    (fault,) = faults(changed, tflite_builder, tmp_path)
    assert fault.startswith(
        "E052 operator while_0_0_add_0 (ADD), tensor 7 ('late'): is read before"
    )


def stateful(inner: Any) -> Any:
    """Add an SVDF to a body; its result is the first of it."""
    tree = Tree(import_module("tests.tflite_builder"), list(inner.tensors), [])
    said = svdf(tree, 0, units=6, rank=1, steps=2)
    tree.tensors[said] = replace(tree.tensors[said], **QUANTIZED[ROWS])
    return replace(
        inner,
        tensors=tuple(tree.tensors),
        operators=(*inner.operators, *tree.operators),
        outputs=(said, *inner.outputs[1:]),
    )


def test_a_body_that_runs_twice_has_one_state(tflite_builder: ModuleType, tmp_path: Path) -> None:
    """TFLM has each subgraph once; it is told where the state is, once for each operator."""
    model = with_other(branched(tflite_builder, known=True), 0, stateful)
    (branch,) = model.operators
    results = tuple(replace(model.tensors[n], name=f"again{n}") for n in branch.outputs)
    first = len(model.tensors)
    again = replace(branch, outputs=tuple(range(first, first + 3)))
    tensors, outputs = (*model.tensors, *results), (branch.outputs[0], first)
    twice = replace(model, tensors=tensors, operators=(branch, again), outputs=outputs)
    said = faults(twice, tflite_builder, tmp_path)
    assert len(said) == 2
    assert all(each.endswith(": is a variable that is read twice") for each in said)


def test_a_state_stays_out_of_bodies(tflite_builder: ModuleType, tmp_path: Path) -> None:
    """One turn is as good as none at all."""
    loop = with_other(looped(tflite_builder), 1, stateful)
    assert faults(loop, tflite_builder, tmp_path) == [
        "E054 operator while_0_1_svdf_2 (SVDF): changes a state, and operator 0 (WHILE) runs it "
        "more than once"
    ]
    branch = with_other(branched(tflite_builder), 1, stateful)
    assert faults(branch, tflite_builder, tmp_path) == [
        "E054 operator if_3_else_svdf_0 (SVDF): changes a state, and operator 3 (IF) runs it "
        "conditionally"
    ]
    early = with_other(looped(tflite_builder, turns=1, early=True), 1, stateful)
    assert faults(early, tflite_builder, tmp_path) == [
        "E054 operator while_0_0_svdf_2 (SVDF): changes a state, and operator 0 (WHILE) runs it "
        "conditionally"
    ]
    path = tmp_path / "once.tflite"
    once = with_other(looped(tflite_builder, turns=1), 1, stateful)
    path.write_bytes(tflite_builder.write(once))
    assert "while_0_0_svdf_2" in {op.name for op in load_tflite(path).operators}


def test_there_is_an_end(
    tflite_builder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = looped(tflite_builder, turns=5, step=-1)
    monkeypatch.setattr(flow, "MOST_TURNS", 4)
    longer = faults(looped(tflite_builder, turns=5), tflite_builder, tmp_path)
    assert longer == ["E054 operator 0 (WHILE): runs more than 4 iterations"]
    assert load_once(looped(tflite_builder, turns=4), tflite_builder, tmp_path) == 4
    assert load_once(endless, tflite_builder, tmp_path) == 2
    monkeypatch.setattr(flow, "MOST_OPERATORS", 9)
    (larger,) = faults(looped(tflite_builder, turns=4), tflite_builder, tmp_path)
    assert larger.endswith("is one of more than 9 operators over all iterations")


def load_once(model: Any, builder: ModuleType, folder: Path) -> int:
    path = folder / "flow.tflite"
    path.write_bytes(builder.write(model))
    return len(load_tflite(path).operators)
