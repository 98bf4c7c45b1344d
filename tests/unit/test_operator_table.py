# SPDX-License-Identifier: Apache-2.0
"""The table of operators names those that Atoll has, with the types that it takes.

`python -m benchmarks.operator_table CHECKOUT` writes it anew; a row may as well be changed by hand.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

import pytest
from benchmarks import vela_types
from benchmarks.operator_table import (
    ASSIGNED,
    FIRST,
    INSIDE,
    LEFT_OUT,
    TABLE,
    list_types,
    takes,
    trials,
)
from tests.tflite_builder import Model

from atoll.frontend.tflite.islands import FUNCTIONS
from atoll.report.operators import supported_operators

BY_CASES = {"QUANTIZE": "int32", "UNIDIRECTIONAL_SEQUENCE_LSTM": "int16"}
"""Types that cases of TFLM's tests have, and no operator of the sample networks alone."""


def column() -> dict[str, str]:
    """Return what the table says of Atoll, by operator."""
    rows = TABLE.read_text().partition(FIRST)[2].splitlines()
    cells = ([cell.strip() for cell in row.split("|")] for row in rows)
    return {cell[1]: cell[2] for cell in cells if cell[2]}


def test_the_operators_are_those_that_atoll_has() -> None:
    named = {each.operator for each in supported_operators(None)}
    assert {*column()} == named | {*LEFT_OUT} | {*FUNCTIONS}


def test_the_types_are_those_that_atoll_takes() -> None:
    taken = defaultdict[str, set[str]](set)
    for code, dtype, model in trials():
        if dtype not in taken[code] and takes(model):
            taken[code].add(dtype)
    said = {code: text.removesuffix(INSIDE).removesuffix(", ") for code, text in column().items()}
    for code, dtype in BY_CASES.items():
        said[code] = list_types({*said[code].split(", ")} - {dtype})
    for code, types in taken.items():
        if types and code not in LEFT_OUT:
            assert list_types(types) == said[code], code
    tried = {code for code, types in taken.items() if types}
    assert {code for code, text in said.items() if text} - tried <= {*LEFT_OUT, *ASSIGNED, "FILL"}


def of_vela(code: str) -> str:
    """Return what the table says of an operator on U55."""
    (line,) = re.findall(rf"^\| {code} \| [^|]*\| [^|]*\|([^|]*)\|", TABLE.read_text(), re.M)
    return str(line).strip()


def tried(code: str) -> Iterator[tuple[str, str, Model]]:
    """Yield files of an operator in int8 and int16."""
    both = (*trials(), *vela_types.trials())
    return (each for each in both if each[0] == code and each[1] in ("int8", "int16"))


@pytest.mark.parametrize(
    "code",
    [
        "HARD_SWISH",
        *(pytest.param(c, marks=pytest.mark.slow) for c in ("FULLY_CONNECTED", "REVERSE_V2")),
    ],
)
def test_the_types_of_vela_are_those_that_it_places(code: str) -> None:
    pytest.importorskip("ethosu.vela")
    assert list_types(vela_types.types_by_npu(tried(code))[code]["u55"]) == of_vela(code)
