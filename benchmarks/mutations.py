# SPDX-License-Identifier: Apache-2.0
"""Plant faults of one line in the product and count how many the tests notice.

Run as ``python -m benchmarks.mutations``. The tests run once to find which of them reach the lines
of the faults; ``--reached`` keeps that. Then each fault is planted in a copy of the checkout, and
the tests that reach it run up to the first that fails, the shortest first. If none fails, test
files run too, the nearest by imports first. Python, SystemVerilog, C, C++, assembler and templates
of every room get faults; equal seeds draw equal faults of equal sources. Each result is a line of
JSON in ``--results``; what is there already is not tried again. What ``equivalent_faults.yaml``
proves to change nothing that a user or a check can see is not tried at all.

``--again`` plants what was noticed a second time, each with the test that noticed it and no other:
the proof that a smaller gate lost no fault takes minutes. Where no other is named, it plants those
of ``planted_faults.jsonl``, the latest run that is kept. ``--told`` prints the table of that run.

With ``--beside CHECKOUT``, another version of the project, lines are drawn that both versions have,
and a survivor is planted there too: the tests of which version notice more is then known from the
survivors alone.
"""

import argparse
import json
import re
import resource
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType

import yaml

from atoll.cli.output import as_command
from atoll.utils.children import TimeLimitError, run
from atoll.utils.scratch import temporary_folder
from benchmarks.near_tests import Nearness
from benchmarks.planted_edits import ROOT, Edit, draw, find_again, lines_of
from benchmarks.reached_tests import PARENT, Reached, environment, record

NOT_COPIED = (".git", ".venv", "*_cache", "__pycache__")
NO_TESTS = 5
GONE = re.compile(r"^ERROR: not found: (.*)", re.MULTILINE)
"""What pytest says if a fault took a test away, which is no failure."""
AT_ONCE = 2
"""Test files that one pytest runs, before the next looks whether there is time left."""
ENDLESS = 1200.0
"""Seconds after which tests are said not to end."""
KEPT = ROOT / "benchmarks" / "planted_faults.jsonl"
EQUIVALENT = ROOT / "benchmarks" / "equivalent_faults.yaml"
"""Faults that change nothing which can be seen, by `Edit.words`, and why."""
TEST = re.compile(r"(?:FAILED|ERROR) (.*?)(?: - .*)?$", re.DOTALL)
GATE = "not slow"
RTL = "not slow and rtl"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a fault.

    Attributes:
        room: of the product.
        fault: the place, and the line before and after.
        noticed: the first test that failed; empty if none did.
        beside: likewise of the other version, for a survivor.
        tests: that reach the fault, and ran one by one.
        files: test files that ran after those.
        all_near: whether those were all from which an import leads to the fault; if not, and if
            none failed, a run with more files or time tries again.
        seconds: of a processor that it took.
    """

    room: str
    fault: str
    noticed: str
    beside: str
    tests: int
    files: int
    all_near: bool
    seconds: float


class Trials:
    """A checkout, and a copy of it that takes one fault after the other."""

    def __init__(self, root: Path, seconds: float, files: int, reached: Reached) -> None:
        self.root, self.seconds, self.files, self.reached = root, seconds, files, reached
        self._near = Nearness(root)

    def find_failure(self, edit: Edit) -> tuple[str, int, int, bool]:
        """Return the first test that fails with a fault, tests and files that ran, if all did."""
        path = self.root / edit.path
        before = path.read_bytes()
        edit.apply(self.root)
        try:
            return self._first_failure(edit)
        finally:
            path.write_bytes(before)
            _forget(path)

    def fails(self, edit: Edit, test: str) -> bool:
        """Tell whether a test fails with a fault."""
        path = self.root / edit.path
        before = path.read_bytes()
        edit.apply(self.root)
        _forget(path)
        try:
            return bool(self.first_failed("", [test]))
        finally:
            path.write_bytes(before)
            _forget(path)

    def _first_failure(self, edit: Edit) -> tuple[str, int, int, bool]:
        _forget(self.root / edit.path)
        begin, ran = _processor_seconds(), 0
        marks = RTL if edit.path.suffix in (".sv", ".svh") else GATE
        tests = shortest(self._reaching(edit), self.seconds)
        if tests and (failed := self.first_failed(GATE, tests)):
            return failed, len(tests), 0, True
        for files in self._batches(edit):
            if _processor_seconds() - begin > self.seconds:
                return "", len(tests), ran, False
            ran += len(files)
            if failed := self.first_failed(marks, files):
                return failed, len(tests), ran, True
        return "", len(tests), ran, ran < self.files

    def _reaching(self, edit: Edit) -> dict[str, float]:
        """Return the tests that reach a fault; where they only open its file, the near ones first.

        Many tests open a file for nothing but its digest.
        """
        tests = self.reached.get(str(edit), {})
        if edit.path.suffix == ".py":
            return tests
        near = {str(file): rank for rank, file in enumerate(self._near.tests(edit.path))}
        rank = {test: near.get(test.partition("::")[0], len(near)) for test in tests}
        return {test: tests[test] for test in sorted(tests, key=lambda test: rank[test])}

    def _batches(self, edit: Edit) -> Iterator[Sequence[str]]:
        files = self._near.tests(edit.path)[: self.files]
        for start in range(0, len(files), AT_ONCE):
            yield [str(file) for file in files[start : start + AT_ONCE]]

    def first_failed(self, marks: str, tests: Sequence[str]) -> str:
        """Return which of some tests fails first; empty if none does."""
        chosen = self.root.parent / "chosen_tests"
        lines = (test.replace(PARENT, str(self.root.parent)) for test in tests)
        chosen.write_text("\n".join(lines), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-m", marks]
        command += ["-p", "no:cacheprovider", "-n", "0", f"@{chosen}"]
        try:
            done = run(
                command, folder=self.root, environment=environment(self.root), seconds=ENDLESS
            )
        except TimeLimitError:
            return f"{tests[0]} and others do not end"
        said = done.stdout + done.stderr
        failed = [line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        if not failed and (gone := tuple(GONE.findall(said))):
            rest = [test for test in tests if not str(self.root / test).startswith(gone)]
            return self.first_failed(marks, rest) if 0 < len(rest) < len(tests) else ""
        if done.returncode in (0, NO_TESTS):
            return ""
        return (failed or [f"the tests broke off with status {done.returncode}"])[0][:200]


def shortest(tests: Mapping[str, float], seconds: float) -> list[str]:
    """Return the first of some tests, which take so long together at most."""
    ends = accumulate(tests.values())
    return [test for test, end in zip(tests, ends, strict=True) if end <= seconds]


def _processor_seconds() -> float:
    """Return what children took so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _forget(path: Path) -> None:
    """Remove bytecode, which may be as old as the next fault to the second."""
    for each in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        each.unlink()


@contextmanager
def copy_checkout(checkout: Path) -> Iterator[Path]:
    """Copy a checkout to where its tests find the shared data."""
    with temporary_folder() as folder:
        root = folder / "atoll"
        shutil.copytree(checkout.resolve(), root, ignore=shutil.ignore_patterns(*NOT_COPIED))
        (folder / "shared").symlink_to(checkout.resolve().parent / "shared")
        yield root


def main() -> int:
    """Try the edits and print a line for each; the status is the number of survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=150, help="faults to plant")
    parser.add_argument("--seed", type=int, default=1, help="decides which")
    parser.add_argument("--rooms", nargs="*", default=(), help="begins of their names")
    parser.add_argument("--beside", type=Path, help="a checkout of another version")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "mutations.jsonl")
    parser.add_argument("--reached", type=Path, default=ROOT / "build" / "reached.json")
    parser.add_argument("--within", nargs="*", default=(), help="tests to ask, such as folders")
    parser.add_argument("--seconds", type=float, default=300, help="of a processor, for a fault")
    parser.add_argument("--files", type=int, default=999, help="of tests, for a fault")
    parser.add_argument("--list", action="store_true", help="print the faults; try none")
    parser.add_argument(
        "--told", action="store_true", help="print what is kept and --results; try none"
    )
    parser.add_argument("--again", nargs="?", type=Path, const=KEPT, help="results to prove again")
    arguments = parser.parse_args()
    if arguments.again:
        return len(find_lost(arguments.again))
    theirs = lines_of(arguments.beside) if arguments.beside else {}
    only = theirs if arguments.beside else None
    chosen = draw(arguments.count, arguments.seed, only, arguments.rooms)
    if arguments.list:
        print("\n".join(f"{edit.room:30} {edit}" for edit in chosen))
        return 0
    known, same = _read(arguments.results), equivalent()
    if arguments.told:
        print(table(chosen, _read(KEPT) | known, same))
        return 0
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    trying = [edit for edit in chosen if edit.words not in same]
    reached = reaching(trying, arguments.reached, arguments.within)
    with ExitStack() as stack:
        trials, *others = (
            Trials(
                stack.enter_context(copy_checkout(each)),
                arguments.seconds,
                arguments.files,
                reached,
            )
            for each in filter(None, (ROOT, arguments.beside))
        )
        for edit in trying:
            before = known.get(str(edit))
            if before is None or not (
                before.noticed or before.all_near or before.files >= arguments.files
            ):
                result = try_edit(edit, trials, others, theirs)
                known[result.fault] = result
                with arguments.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(result)) + "\n")
                print(f"{result.fault}\n    {result.noticed or 'SURVIVES'}", flush=True)
    print(table(chosen, known, same))
    return sum(not known[str(edit)].noticed for edit in trying)


def equivalent() -> dict[str, str]:
    """Return the faults that change nothing, and why."""
    return {each["fault"]: each["why"] for each in yaml.safe_load(EQUIVALENT.read_text("utf-8"))}


def find_lost(results: Path) -> list[str]:
    """Return the faults of `results` that their tests notice no more, and print what became of all.

    The tests run without a fault first: one that fails then notices nothing.
    """
    noticed = [each for each in _read(results).values() if each.noticed]
    counts, gone, missed = Counter[str](), list[str](), list[str]()
    with copy_checkout(ROOT) as root:
        trials = Trials(root, ENDLESS, 0, {})
        tests = {each.fault: _test_in(each.noticed) for each in noticed}
        while wrong := trials.first_failed("", [*dict.fromkeys(filter(None, tests.values()))]):
            print(f"fails without a fault: {wrong}", flush=True)
            tests = {
                fault: "" if test == _test_in(wrong) else test for fault, test in tests.items()
            }
        for fault, test in tests.items():
            edit = find_again(fault, ROOT)
            if edit is None:
                counts["gone"] += 1
                gone.append(fault)
            elif test and trials.fails(edit, test):
                counts["noticed"] += 1
            else:
                missed.append(fault)
                print(f"LOST {fault}\n    {test}", flush=True)
    print("\n".join(f"its line is gone: {fault}" for fault in gone))
    print(f"{counts['noticed']} noticed again, {counts['gone']} gone, {len(missed)} lost")
    return missed


def _test_in(noticed: str) -> str:
    """Return the test that a line of pytest names."""
    found = TEST.match(noticed)
    return found[1] if found else ""


def reaching(edits: Sequence[Edit], kept: Path, within: Sequence[str]) -> Reached:
    """Return which tests of the gate reach each edit; run it once for what is not known."""
    known: Reached = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    if fresh := [edit for edit in edits if str(edit) not in known]:
        with copy_checkout(ROOT) as root:
            options = ("-m", GATE, "-n", "2", "--dist", "worksteal")
            known |= record(fresh, root, *options, *within)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(known, indent=1), encoding="utf-8")
    return known


def try_edit(
    edit: Edit, trials: Trials, others: Sequence[Trials], theirs: dict[str, tuple[Path, int, str]]
) -> Result:
    """Plant one fault, and if it survives in the other version too, if there is one."""
    begin = _processor_seconds()
    noticed, tests, files, whole = trials.find_failure(edit)
    beside = ""
    for other in others:
        if not noticed:
            beside, *_ = other.find_failure(edit.at(*theirs[edit.old.strip()]))
    seconds = round(_processor_seconds() - begin, 1)
    return Result(edit.room, str(edit), noticed, beside, tests, files, whole, seconds)


def table(
    chosen: Sequence[Edit],
    known: Mapping[str, Result],
    same: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return a line for each room, what became of its faults, and one for each that is open."""
    columns = ("planted", "tried", "noticed", "equivalent", "open", "beside")
    rooms: dict[str, Counter[str]] = {}
    survivors = []
    for edit in chosen:
        result, count = known.get(str(edit)), rooms.setdefault(edit.room, Counter())
        count["planted"] += 1
        if edit.words in same:
            count["equivalent"] += 1
            continue
        count["tried"] += result is not None
        count["noticed"] += result is not None and bool(result.noticed)
        count["beside"] += result is not None and bool(result.beside)
        if result is None or not result.noticed:
            count["open"] += 1
            survivors.append(f"open: {edit}" + ("" if result else " (not tried)"))
    rows = [*sorted(rooms.items()), ("all", sum(rooms.values(), Counter()))]
    lines = [f"{'room':30} {' '.join(columns)}"]
    for room, count in rows:
        lines.append(f"{room:30} " + " ".join(f"{count[each]:{len(each)}}" for each in columns))
    return "\n".join((*lines, *survivors))


def _read(path: Path) -> dict[str, Result]:
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return {result.fault: result for result in (Result(**json.loads(line)) for line in lines)}


if __name__ == "__main__":
    sys.exit(as_command(main))
