# SPDX-License-Identifier: Apache-2.0
"""Any text is an instance whose plan is right, or is refused with a place."""

import csv
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.effort import cases

from atoll.diagnostics.errors import AtollError, Fault
from atoll.interchange.instance import load_instance, solution_csv
from atoll.memory.checker import check
from atoll.memory.solve import plan_memory

NUMBERS = st.integers(-3, 40) | st.integers(-(2**70), 2**70)
CELLS = NUMBERS.map(str) | st.sampled_from(
    ["", "a", " 7 ", "1e3", "0x10", "+1", "\u0661", '"1"', "-"]
)
HEADS = st.sampled_from(
    ["id,lower,upper,size", "size, upper ,lower,id", "id,lower,upper,size,alignment", "id,size", ""]
)
ROWS = st.lists(st.lists(CELLS, max_size=6).map(",".join), max_size=8)
FUZZ = settings(
    max_examples=cases(300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "fuzz.csv"


def faults_of(file: Path) -> tuple[Fault, ...]:
    """Plan what is in the file, unless it is refused."""
    try:
        problem = load_instance(file)
    except AtollError as error:
        return error.faults
    check(plan_memory(problem))
    return ()


def planned_or_refused(file: Path) -> None:
    faults = faults_of(file)
    assert {fault.code for fault in faults} <= {"E002", "E057", "E058"}
    placed = [fault for fault in faults if fault.code in ("E057", "E058")]
    assert all(fault.at and fault.remedy for fault in placed)


@FUZZ
@given(HEADS, ROWS, st.sampled_from(["\n", "\r\n", "\r"]))
def test_tables(file: Path, head: str, rows: list[str], end: str) -> None:
    file.write_text(end.join([head, *rows]), newline="")
    planned_or_refused(file)


@FUZZ
@given(st.binary(max_size=200))
def test_bytes(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    planned_or_refused(file)


BUFFERS = st.lists(
    st.tuples(st.integers(-9, 50), st.integers(1, 20), st.integers(1, 999)), min_size=1, max_size=12
)


@FUZZ
@given(BUFFERS, st.integers(0, 5), st.permutations(["id", "lower", "upper", "size"]))
def test_what_is_written_is_read(
    file: Path, buffers: list[tuple[int, int, int]], power: int, columns: list[str]
) -> None:
    rows = [
        {"id": f"b{number}", "lower": lower, "upper": lower + length, "size": size}
        for number, (lower, length, size) in enumerate(buffers)
    ]
    lines = [",".join(columns), *(",".join(str(row[name]) for name in columns) for row in rows)]
    file.write_text("\n".join(lines))
    problem = load_instance(file, alignment=1 << power)
    plan = plan_memory(problem)
    solution = list(csv.DictReader(StringIO(solution_csv(plan))))
    assert [{key: row[key] for key in columns} for row in solution] == [
        {key: str(value) for key, value in row.items()} for row in rows
    ]
    assert all(int(row["offset"]) % (1 << power) == 0 for row in solution)
    file.write_text(solution_csv(plan))
    assert load_instance(file, alignment=1 << power) == problem
