"""The table of operators names those that Atoll has, with the types that it takes.

`python -m benchmarks.operator_table CHECKOUT` writes it anew; a row may as well be changed by hand.
"""

from collections import defaultdict

from benchmarks.operator_table import (
    ASSIGNED,
    FIRST,
    INSIDE,
    LEFT_OUT,
    TABLE,
    listed,
    takes,
    trials,
)

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
        said[code] = listed({*said[code].split(", ")} - {dtype})
    for code, types in taken.items():
        if types and code not in LEFT_OUT:
            assert listed(types) == said[code], code
    tried = {code for code, types in taken.items() if types}
    assert {code for code, text in said.items() if text} - tried <= {*LEFT_OUT, *ASSIGNED, "FILL"}
