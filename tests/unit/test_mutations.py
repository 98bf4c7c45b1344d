# SPDX-License-Identifier: Apache-2.0
"""The measurement of the gate runs, for each fault, the tests that reach it."""

from pathlib import Path

import pytest
from benchmarks.mutations import Trials, shortest
from benchmarks.planted_edits import Edit
from benchmarks.reached_tests import record, with_probes

ROOT = Path(__file__).parents[2]
PROBE = '__import__("fault_probe").note(7)'
SOURCE = '''FIRST = 1


class Thing:
    """A class."""

    size: int = 2


def odd(number: int = 3) -> bool:
    """A function."""
    if number < 0:
        return False
    elif number in (
        1,
        3,
    ):
        return True

    @cache
    def inner() -> int: return 5

    return inner() == number
'''
DATA, MODULE = "compiler/template.j2", "compiler/thing.py"
TESTS = """import subprocess, sys
from pathlib import Path
import thing

def test_first() -> None:
    assert thing.first(2) == 4

def test_second() -> None:
    assert thing.second(2) == 6
    assert thing.first(3) == 6

def test_in_a_child() -> None:
    subprocess.run([sys.executable, "-c", "import thing; thing.second(1)"], check=True)

def test_of_the_template() -> None:
    subprocess.run(["cat", thing.TEMPLATE], check=True)

def test_that_fails() -> None:
    assert thing.second(1) == 0
"""


@pytest.mark.parametrize(
    ("line", "before"),
    [
        (12, "if number < 0:"),
        (13, "return False"),
        (14, "if number < 0:"),
        (16, "if number < 0:"),
        (18, "return True"),
        (21, "@cache"),
        (23, "return inner() == number"),
        *((line, "if number < 0:") for line in (1, 7, 10)),
    ],
)
def test_a_probe_is_in_front_of_the_statement(line: int, before: str) -> None:
    lines = with_probes(SOURCE, {7: line}).splitlines()
    probes = [at for at, each in enumerate(lines) if each.strip() == PROBE]
    assert [lines[at + 1].strip() for at in probes] == [before]
    assert [each for each in lines if each.strip() != PROBE] == SOURCE.splitlines()


def test_tests_are_found_by_what_they_reach(tmp_path: Path) -> None:
    (tmp_path / "compiler").mkdir()
    for name in ("compiler/atoll", "benchmarks"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / DATA).write_text("1\n")
    (tmp_path / MODULE).write_text(
        f"TEMPLATE = {str(tmp_path / DATA)!r}\n"
        "def first(x):\n    return x * 2\ndef second(x):\n    return x * 3\n"
    )
    (tmp_path / "test_thing.py").write_text(TESTS)
    first, second = (Edit(Path(MODULE), line, "", 0, 0, "") for line in (3, 5))
    everywhere, data = Edit(Path(MODULE), 1, "", 0, 0, ""), Edit(Path(DATA), 1, "1", 0, 1, "2")
    edits = (first, second, everywhere, data)
    reached = record(edits, tmp_path, "-n", "0", "--rootdir", str(tmp_path), "test_thing.py")
    found = {edit: {test.partition("::test_")[2] for test in reached[str(edit)]} for edit in edits}
    assert found == {
        first: {"first", "second"},
        second: {"second", "in_a_child"},
        everywhere: {"first", "second", "in_a_child"},
        data: {"of_the_template"},
    }
    for tests in reached.values():
        assert [*tests.values()] == sorted(tests.values())


def test_the_shortest_tests_run_up_to_a_time() -> None:
    assert shortest({"a": 0.1, "b": 0.2, "c": 5.0}, 1.0) == ["a", "b"]


def test_a_test_that_a_fault_takes_away_did_not_fail(tmp_path: Path) -> None:
    tests = tmp_path / "test_two.py"
    tests.write_text("def test_one() -> None:\n    assert ONE\nONE = True\n")
    trials = Trials(tmp_path, 60.0, 9, {})
    asked = ["test_two.py::test_gone[1]", "test_two.py::test_one"]
    assert trials.first_failed("", asked) == ""
    tests.write_text(tests.read_text().replace("True", "False"))
    assert trials.first_failed("", asked).startswith("FAILED test_two.py::test_one")
    tests.write_text("import gone\n")
    assert trials.first_failed("", asked).startswith("ERROR test_two.py")
