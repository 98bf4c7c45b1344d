# SPDX-License-Identifier: Apache-2.0
"""Operators that cannot be compiled: all of a file in one run, those of one fault together."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite
from atoll.frontend.unsupported import Unsupported, list_labels, list_unsupported


def refused(model: Any, builder: ModuleType, folder: Path) -> list[str]:
    path = folder / "network.tflite"
    path.write_bytes(builder.write(model))
    with pytest.raises(ModelError) as caught:
        load_tflite(path)
    return [
        f"{fault.code} {fault.message.partition('tflite: ')[2]}" for fault in caught.value.faults
    ]


def test_operators_of_one_kind_are_one_fault(
    every_operator: Any, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    operators = list(every_operator.operators)
    for number in (4, 8, 11):
        operators[number] = replace(operators[number], code="SKIP_GRAM")
    (fault,) = refused(
        replace(every_operator, operators=tuple(operators)), tflite_builder, tmp_path
    )
    assert fault.startswith("E053 operator 4 (SKIP_GRAM), tensor 10 (")
    assert fault.endswith("nor are operators 8 and 11 of the same kind: 3 of 15 operators")


def test_what_else_is_wrong_is_said_in_the_same_run(
    every_operator: Any, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    operators = list(every_operator.operators)
    operators[4] = replace(operators[4], code="SKIP_GRAM")
    operators[8] = replace(operators[8], options={"Axis": 4})
    first, second = refused(
        replace(every_operator, operators=tuple(operators)), tflite_builder, tmp_path
    )
    assert "(SKIP_GRAM)" in first
    assert second.startswith("E054 operator 8 (CONCATENATION)")


def test_operators_that_are_refused_alike_are_one_fault(
    every_operator: Any, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    """Both poolings have a stride of 0."""
    operators = list(every_operator.operators)
    pool = replace(operators[6], options={**operators[6].options, "StrideH": 0})
    tensors = list(every_operator.tensors)
    operators[6], operators[7] = pool, replace(pool, outputs=operators[7].outputs)
    changed = replace(every_operator, operators=tuple(operators), tensors=tuple(tensors))
    (fault,) = refused(changed, tflite_builder, tmp_path)
    assert fault.startswith("E054 operator 6 (MAX_POOL_2D)")
    assert fault.endswith("stride_h is 0, the least is 1; likewise operator 7")


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "operator 0"),
        (2, "operators 0 and 1"),
        (8, "operators 0, 1, 2, 3, 4, 5, 6 and 7"),
        (12, "operators 0, 1, 2, 3, 4, 5, 6, 7 and 4 more"),
    ],
)
def test_many_are_counted(count: int, text: str) -> None:
    assert list_labels([*map(str, range(count))]) == text


@pytest.mark.parametrize(
    ("code", "word"),
    [("CUSTOM FlexErf", "TFLITE_BUILTINS_INT8"), ("CUSTOM Mine", "extending")],
)
def test_the_remedy_suits_the_operator(code: str, word: str) -> None:
    (fault,) = list_unsupported([Unsupported(code, "3", f"operator 3 ({code})")], 9)
    assert fault.remedy is not None
    assert word in fault.remedy
