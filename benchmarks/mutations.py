# SPDX-License-Identifier: Apache-2.0
"""Plant faults of one line in the product and count how many the tests notice.

Run as ``python -m benchmarks.mutations``. All tests run once in a copy that tells which of them
come by the places of the faults. Then each fault is planted in a copy, and those tests run there up
to the first that fails; all, where modules come by as they load. Equal seeds draw equal faults of
equal sources; what is drawn is printed, so that a survivor can be looked at.

With ``--beside CHECKOUT``, another version of the project with an environment of its own, lines are
drawn that both versions have, and a survivor is planted there too: the tests of which version
notice more is then known from the survivors alone.
"""

import argparse
import ast
import os
import random
import shutil
import sys
import time
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from atoll.cli.output import as_command
from atoll.utils.children import Done, run
from atoll.utils.scratch import temporary_folder

ROOT = Path(__file__).parents[1]
PRODUCT = ("compiler/atoll", "hw_sim/atoll_sim")
QUICK, RTL = "not slow and not rtl", "rtl and not slow"
PYTHON = Path(".venv/bin/python")
NOT_COPIED = (".git", ".venv", "*_cache", "__pycache__")
NO_TESTS = 5
LIMIT = 5400.0
TELL = """
import os

seen = set()


def reached(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    if (number, test) not in seen:
        seen.add((number, test))
        with open(os.path.join({folder!r}, str(number)), "a", encoding="utf-8") as file:
            file.write(test + "\\n")
    return False
"""
SWAPS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.FloorDiv: "*",
    ast.And: "or",
    ast.Or: "and",
}


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters of one line, and what takes their place.

    Attributes:
        path: relative to the checkout.
        line: from 1.
        old: the line as it stands.
        begin, end: the characters.
        text: instead of them.
        whole: begin and end of the expression that they are of.
    """

    path: Path
    line: int
    old: str
    begin: int
    end: int
    text: str
    whole: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.new.strip()}"

    @property
    def new(self) -> str:
        """The line with the fault."""
        return self.old[: self.begin] + self.text + self.old[self.end :]

    def apply(self, root: Path) -> None:
        """Make the edit in the copy at `root`."""
        lines = (root / self.path).read_text(encoding="utf-8").splitlines(keepends=True)
        lines[self.line - 1] = self.new + "\n"
        (root / self.path).write_text("".join(lines), encoding="utf-8")

    def at(self, path: Path, line: int, old: str) -> "Edit":
        """The same edit of the same words elsewhere, where they may be indented otherwise."""
        by = old.index(self.old.strip()) - self.old.index(self.old.strip())
        whole = self.whole[0] + by, self.whole[1] + by
        return Edit(path, line, old, self.begin + by, self.end + by, self.text, whole)


def edits(root: Path, path: Path) -> Iterator[Edit]:
    """Yield the faults that fit a file: other operators, other numbers, conditions turned round.

    Options of dataclasses are left alone: without ``slots`` everything works as before.
    """
    text = (root / path).read_text(encoding="utf-8")
    lines = text.splitlines()
    tree = ast.parse(text)
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    options = {each for node in classes for how in node.decorator_list for each in ast.walk(how)}
    for node in ast.walk(tree):
        if node in options or not isinstance(node, ast.expr) or node.lineno != node.end_lineno:
            continue
        whole = (node.col_offset, node.end_col_offset or 0)
        line = lines[node.lineno - 1]
        if not line.isascii():
            continue
        for begin, end, text in _faults(node, line):
            yield Edit(path, node.lineno, line, begin, end, text, whole)


def _faults(node: ast.expr, line: str) -> Iterator[tuple[int, int, str]]:
    """Yield begin and end of characters, and what may take their place."""
    match node:
        case ast.Compare(left=left, ops=[kind], comparators=[right]):
            yield from _between(line, left, right, SWAPS.get(type(kind)))
        case ast.BinOp(left=left, op=kind, right=right):
            yield from _between(line, left, right, SWAPS.get(type(kind)))
        case ast.BoolOp(op=kind, values=[left, right]):
            yield from _between(line, left, right, SWAPS.get(type(kind)))
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            yield node.col_offset, node.end_col_offset or 0, str(number + 1)
        case ast.Constant(value=bool() as flag):
            yield node.col_offset, node.end_col_offset or 0, str(not flag)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node.col_offset, operand.col_offset, ""


def _between(
    line: str, left: ast.expr, right: ast.expr, text: str | None
) -> Iterator[tuple[int, int, str]]:
    """Yield the fault of an operator that stands between its operands."""
    begin = left.end_col_offset or 0
    if text is not None and (old := line[begin : right.col_offset].strip("() ")):
        at = line.index(old, begin)
        yield at, at + len(old), text


def sources(root: Path) -> list[Path]:
    """Return the product's Python files, relative to the checkout at `root`."""
    paths = (path for folder in PRODUCT for path in (root / folder).rglob("*.py"))
    return sorted(path.relative_to(root) for path in paths)


def drawn(count: int, seed: int, only: Container[str] | None = None) -> list[Edit]:
    """Return `count` edits of different lines, in the order in which they are tried."""
    ours = lines_of(ROOT)
    found = {(each.path, each.line): each for path in sources(ROOT) for each in edits(ROOT, path)}
    fit = [
        each
        for _, each in sorted(found.items())
        if only is None or (each.old.strip() in ours and each.old.strip() in only)
    ]
    return random.Random(seed).sample(fit, count)


def lines_of(root: Path) -> dict[str, tuple[Path, int, str]]:
    """Return where each line of the product stands that it has once, by its words."""
    every: dict[str, list[tuple[Path, int, str]]] = {}
    for path in sources(root):
        for number, line in enumerate((root / path).read_text("utf-8").splitlines(), 1):
            every.setdefault(line.strip(), []).append((path, number, line))
    return {words: places[0] for words, places in every.items() if len(places) == 1}


def caught(edit: Edit, near: Sequence[str] | None, checkout: Path, python: Path) -> str:
    """Return the first test of a checkout that fails with the edit, or nothing.

    `near` are the tests that reach it; None if they are not known. Those of the room come first.
    """
    with copied(checkout) as root:
        edit.apply(root)
        chosen = root.parent / "tests.txt"
        for marks, tests in _stages(edit, near, root):
            chosen.write_text("\n".join(tests), encoding="utf-8")
            done = tested(root, python, f"@{chosen}", "-x", "-m", marks)
            if done.returncode not in (0, NO_TESTS):
                lines = done.stdout.splitlines()
                failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
                return (failed or ["the tests could not be collected"])[0]
    return ""


def _stages(
    edit: Edit, near: Sequence[str] | None, root: Path
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield marks and tests, the likely ones first."""
    room = f"tests/unit/{Path(edit.path.parts[2]).stem}"
    for marks, prefix in ((QUICK, room), (QUICK, "tests/unit"), (QUICK, "tests"), (RTL, "tests")):
        if near is None:
            tests = [prefix] if (root / prefix).is_dir() else []
        else:
            tests = [test for test in near if test.startswith(prefix)]
        if tests:
            yield marks, tests


def reached(chosen: Sequence[Edit], checkout: Path, python: Path) -> list[Sequence[str] | None]:
    """Return for each edit the tests that come by its place; None where that cannot be told.

    All tests run once in a copy that tells where they come by. What a test comes by before it
    begins may serve all tests of its file.
    """
    with copied(checkout) as root:
        told = root.parent / "reached"
        told.mkdir()
        (root / PRODUCT[0] / "reached.py").write_text(TELL.format(folder=str(told)))
        marked = [mark(edit, number, root) for number, edit in enumerate(chosen)]
        tested(root, python, "-m", f"({QUICK}) or ({RTL})")
        return [
            _tests(told / str(number)) if known else None for number, known in enumerate(marked)
        ]


def _tests(told: Path) -> Sequence[str] | None:
    """Return the tests of what one place has told; None if modules come by as they load."""
    lines = set(told.read_text(encoding="utf-8").splitlines()) if told.is_file() else set()
    if "" in lines:
        return None
    found = set()
    for line in lines:
        test, _, phase = line.rpartition(" ")
        found.add(test if phase == "(call)" else test.partition("::")[0])
    return sorted(each for each in found if "::" not in each or each.split("::")[0] not in found)


def mark(edit: Edit, number: int, root: Path) -> bool:
    """Let the place of an edit tell who comes by; False where no call can stand."""
    path, words = root / edit.path, f"(__reached__({number}) or "
    before = path.read_text(encoding="utf-8")
    lines = before.splitlines(keepends=True)
    line = next(at for at, text in enumerate(lines) if text == edit.old + "\n")
    begin, end = edit.whole
    lines[line] = edit.old[:begin] + words + edit.old[begin:end] + ")" + edit.old[end:] + "\n"
    after = "".join(lines)
    try:
        tree = ast.parse(after)
    except SyntaxError:
        return False
    first = next(
        each.lineno - 1
        for each in tree.body
        if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        and not (isinstance(each, ast.ImportFrom) and each.module == "__future__")
    )
    lines.insert(first, "from atoll.reached import reached as __reached__\n")
    path.write_text("".join(lines), encoding="utf-8")
    return True


@contextmanager
def copied(checkout: Path) -> Iterator[Path]:
    """Copy a checkout to where its tests find the shared data."""
    with temporary_folder() as folder:
        root = folder / "atoll"
        shutil.copytree(checkout, root, ignore=shutil.ignore_patterns(*NOT_COPIED))
        (folder / "shared").symlink_to(checkout.parent / "shared")
        yield root


def tested(root: Path, python: Path, *options: str) -> Done:
    """Run tests of a copy."""
    paths = os.pathsep.join(str(root / Path(folder).parent) for folder in PRODUCT)
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(python), "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", *options]
    return run(command, folder=root, environment=environment, seconds=LIMIT)


def main() -> int:
    """Try all edits and print a line for each; the status is the number of survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="faults to plant")
    parser.add_argument("--seed", type=int, default=1, help="decides which")
    parser.add_argument("--beside", type=Path, help="a checkout of another version, with .venv")
    parser.add_argument("--list", action="store_true", help="print the faults; try none")
    arguments = parser.parse_args()
    theirs = lines_of(arguments.beside) if arguments.beside else None
    chosen = drawn(arguments.count, arguments.seed, theirs)
    if arguments.list:
        print("\n".join(map(str, chosen)))
        return 0
    left = survivors(chosen, ROOT, Path(sys.executable))
    print(f"{len(chosen) - len(left)} of {len(chosen)} noticed", flush=True)
    if theirs is not None and left:
        beside = arguments.beside.resolve()
        there = [edit.at(*theirs[edit.old.strip()]) for edit in left]
        more = len(survivors(there, beside, beside / PYTHON))
        print(f"{len(left) - more} of the other {len(left)} noticed beside")
    return len(left)


def survivors(chosen: Sequence[Edit], checkout: Path, python: Path) -> list[Edit]:
    """Try edits, print what noticed each and how long that took; return the others."""
    left = []
    for number, (edit, near) in enumerate(
        zip(chosen, reached(chosen, checkout, python), strict=True), 1
    ):
        begin = time.monotonic()
        found = caught(edit, near, checkout, python)
        where = "all tests" if near is None else f"reached from {len(near)}"
        print(f"{number:3} {edit}\n    {found or 'SURVIVES'}")
        print(f"    {where}, {time.monotonic() - begin:.0f} s", flush=True)
        left += [] if found else [edit]
    return left


if __name__ == "__main__":
    sys.exit(as_command(main))
