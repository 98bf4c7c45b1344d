# SPDX-License-Identifier: Apache-2.0
"""The measurement of the gate runs, for each fault, the tests that reach it."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from benchmarks import mutations
from benchmarks.mutations import Result, Trials, equivalent, find_lost, shortest, table
from benchmarks.planted_edits import Edit, find_again
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


DOUBLE, HALF = "return x * 2", "return x / 2"


def result(fault: str, noticed: str) -> Result:
    """Return what became of a fault."""
    return Result("thing", fault, noticed, "", 1, 0, True, 1.0)


def test_a_fault_is_found_where_its_line_is_now(tmp_path: Path) -> None:
    (tmp_path / "thing.py").write_text(f"a\n  {DOUBLE}\n\n\n    {DOUBLE}  # why\n {DOUBLE}\n")
    for number, line in ((1, 2), (3, 2), (5, 6), (9, 6)):
        edit = find_again(f"thing.py:{number}: {DOUBLE}  =>  {HALF}", tmp_path)
        assert edit is not None
        assert (edit.line, edit.new.strip()) == (line, HALF)
    assert find_again(f"thing.py:2: {HALF}  =>  {DOUBLE}", tmp_path) is None
    assert find_again(f"gone.py:2: {DOUBLE}  =>  {HALF}", tmp_path) is None


def test_what_a_test_noticed_it_notices_again_or_the_fault_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root"
    (root / "compiler").mkdir(parents=True)
    (root / MODULE).write_text(f"def first(x):\n    {DOUBLE}\n")

    def first_failed(self: Trials, marks: str, tests: Sequence[str]) -> str:
        made: dict[str, Any] = {}
        exec((self.root / MODULE).read_text(), made)
        wrong = {"test_first": made["first"](2) != 4, "test_that_fails": True}
        return next((f"FAILED {each}" for each in tests if wrong[each.rpartition(":")[2]]), "")

    changed = f"{MODULE}:2: {DOUBLE}  =>  "
    found = [
        result(changed + "return x * 3", "FAILED test_thing.py::test_first - assert 6 == 4"),
        result(changed + "return 4", "FAILED test_thing.py::test_first"),
        result(changed + "return 5", "FAILED test_thing.py::test_that_fails"),
        result(f"{MODULE}:3: {HALF}  =>  pass", "FAILED test_thing.py::test_first"),
        result(changed + "return 6", ""),
    ]
    kept = tmp_path / "results.jsonl"
    kept.write_text("".join(f"{json.dumps(asdict(each))}\n" for each in found))
    monkeypatch.setattr(mutations, "ROOT", root)
    monkeypatch.setattr(Trials, "first_failed", first_failed)
    assert find_lost(kept) == [changed + "return 4", changed + "return 5"]
    said = capsys.readouterr().out
    assert "fails without a fault: FAILED test_thing.py::test_that_fails" in said
    assert said.endswith("1 noticed again, 1 gone, 2 lost\n")


def test_the_table_tells_what_is_open() -> None:
    edits = [Edit(Path("compiler/atoll/x.py"), line, "a = 1", 4, 5, str(line)) for line in range(4)]
    known = {str(edits[0]): result(str(edits[0]), "FAILED"), str(edits[1]): result("", "")}
    *_, every, survives, untried = table(edits, known, {edits[3].words: "no"}).splitlines()
    assert every.split() == ["all", "4", "2", "1", "1", "2", "0"]
    assert survives == f"open: {edits[1]}"
    assert untried == f"open: {edits[2]} (not tried)"


def test_what_is_said_to_change_nothing_is_a_line_of_the_product() -> None:
    for fault, why in equivalent().items():
        path, _, change = fault.partition(": ")
        assert find_again(f"{path}:1: {change}"), f"{fault} is gone: take it out"
        assert why.endswith(".")
