"""Plant faults of one line in the product and count how many the tests notice.

Run as ``python -m benchmarks.mutations``. Each fault is planted in a copy of the checkout, and the
tests run there up to their first failure: those of the room, all without RTL, then the others.
Equal seeds draw equal faults of equal sources; what is drawn is printed, so that a survivor can be
looked at.

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
from dataclasses import dataclass
from pathlib import Path

from atoll.children import run
from atoll.cli.output import as_command
from atoll.scratch import temporary_folder

ROOT = Path(__file__).parents[1]
PRODUCT = ("compiler/atoll", "hw_sim/atoll_sim")
QUICK, RTL = "not slow and not rtl", "rtl and not slow"
PYTHON = Path(".venv/bin/python")
NOT_COPIED = (".git", ".venv", "*_cache", "__pycache__")
LIMIT = 1800.0
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
    """Characters of one line, and what takes their place; `path` is relative to the checkout."""

    path: Path
    line: int
    old: str
    begin: int
    end: int
    text: str

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
        return Edit(path, line, old, self.begin + by, self.end + by, self.text)


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
        if node in options:
            continue
        match node:
            case ast.Compare(left=left, ops=[kind], comparators=[right]):
                yield from _between(path, lines, left, right, SWAPS.get(type(kind)))
            case ast.BinOp(left=left, op=kind, right=right):
                yield from _between(path, lines, left, right, SWAPS.get(type(kind)))
            case ast.BoolOp(op=kind, values=[left, right]):
                yield from _between(path, lines, left, right, SWAPS.get(type(kind)))
            case ast.Constant(value=int() as number) if not isinstance(number, bool):
                yield from _instead(path, lines, node, str(number + 1))
            case ast.Constant(value=bool() as flag):
                yield from _instead(path, lines, node, str(not flag))
            case ast.UnaryOp(op=ast.Not(), operand=operand) if operand.lineno == node.lineno:
                line = lines[node.lineno - 1]
                yield Edit(path, node.lineno, line, node.col_offset, operand.col_offset, "")


def _between(
    path: Path, lines: Sequence[str], left: ast.expr, right: ast.expr, text: str | None
) -> Iterator[Edit]:
    """Yield the edit of an operator that stands between its operands on one line."""
    begin, end = left.end_col_offset, right.col_offset
    if text is None or begin is None or left.end_lineno != right.lineno:
        return
    line = lines[right.lineno - 1]
    between = line[begin:end]
    if between.strip("() ") and line.isascii():
        old = between.strip("() ")
        at = begin + between.index(old)
        yield Edit(path, right.lineno, line, at, at + len(old), text)


def _instead(path: Path, lines: Sequence[str], node: ast.Constant, text: str) -> Iterator[Edit]:
    line = lines[node.lineno - 1]
    if node.end_col_offset is not None and line.isascii():
        yield Edit(path, node.lineno, line, node.col_offset, node.end_col_offset, text)


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


def caught(edit: Edit, checkout: Path, python: Path) -> str:
    """Return the first test of a checkout that fails with the edit, or nothing."""
    with temporary_folder() as folder:
        root = folder / "atoll"
        shutil.copytree(checkout, root, ignore=shutil.ignore_patterns(*NOT_COPIED))
        (folder / "shared").symlink_to(checkout.parent / "shared")
        edit.apply(root)
        paths = os.pathsep.join(str(root / Path(folder).parent) for folder in PRODUCT)
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        near = Path("tests/unit", edit.path.parts[2])
        parts = (
            (QUICK, near if (root / near).is_dir() else "tests/unit"),
            (QUICK, "."),
            (RTL, "."),
        )
        for marks, tests in parts:
            command = [str(python), "-m", "pytest", "-x", "-q", "-n", "2", "--dist", "worksteal"]
            command += ["-m", marks, str(tests)]
            done = run(command, folder=root, environment=environment, seconds=LIMIT)
            if done.returncode:
                lines = done.stdout.splitlines()
                failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
                return (failed or ["the tests could not be collected"])[0]
    return ""


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
    survivors = 0
    for number, edit in enumerate(chosen, 1):
        found = timed(f"{number:3} {edit}", edit, ROOT, Path(sys.executable))
        survivors += not found
        if theirs is not None and not found:
            other = edit.at(*theirs[edit.old.strip()])
            timed(f"    beside: {other}", other, arguments.beside, arguments.beside / PYTHON)
    print(f"{len(chosen) - survivors} of {len(chosen)} noticed")
    return survivors


def timed(title: str, edit: Edit, checkout: Path, python: Path) -> str:
    """Try an edit, print what noticed it and how long that took, and return the test."""
    begin = time.monotonic()
    found = caught(edit, checkout, python)
    print(f"{title}\n    {found or 'SURVIVES'} ({time.monotonic() - begin:.0f} s)", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(as_command(main))
