"""Plant faults of one line in the product and count how many the tests notice.

Run as ``python -m benchmarks.mutations``. Each fault is planted in a copy of the checkout, and the
tests run there up to their first failure: those without RTL, then the others. Equal seeds draw
equal faults of equal sources; what is drawn is printed, so that a survivor can be looked at.
"""

import argparse
import ast
import os
import random
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from atoll.children import run
from atoll.cli.output import as_command
from atoll.scratch import temporary_folder

ROOT = Path(__file__).parents[1]
PRODUCT = ("compiler/atoll", "hw_sim/atoll_sim")
PARTS = ("not slow and not rtl", "rtl and not slow")
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
    """Characters of one line, and what takes their place."""

    path: Path
    line: int
    begin: int
    end: int
    text: str

    def __str__(self) -> str:
        old = self.path.read_text(encoding="utf-8").splitlines()[self.line - 1]
        new = old[: self.begin] + self.text + old[self.end :]
        return f"{self.path.relative_to(ROOT)}:{self.line}: {new.strip()}"

    def apply(self, root: Path) -> None:
        """Make the edit in the copy at `root`."""
        path = root / self.path.relative_to(ROOT)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.begin] + self.text + line[self.end :]
        path.write_text("".join(lines), encoding="utf-8")


def edits(path: Path) -> Iterator[Edit]:
    """Yield the faults that fit a file: other operators, other numbers, conditions turned round.

    Options of dataclasses are left alone: without ``slots`` everything works as before.
    """
    text = path.read_text(encoding="utf-8")
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
                yield Edit(path, node.lineno, node.col_offset, operand.col_offset, "")


def _between(
    path: Path, lines: Sequence[str], left: ast.expr, right: ast.expr, text: str | None
) -> Iterator[Edit]:
    """Yield the edit of an operator that stands between its operands on one line."""
    begin, end = left.end_col_offset, right.col_offset
    if text is None or begin is None or left.end_lineno != right.lineno:
        return
    between = lines[right.lineno - 1][begin:end]
    if between.strip("() ") and lines[right.lineno - 1].isascii():
        old = between.strip("() ")
        at = begin + between.index(old)
        yield Edit(path, right.lineno, at, at + len(old), text)


def _instead(path: Path, lines: Sequence[str], node: ast.Constant, text: str) -> Iterator[Edit]:
    if node.end_col_offset is not None and lines[node.lineno - 1].isascii():
        yield Edit(path, node.lineno, node.col_offset, node.end_col_offset, text)


def drawn(count: int, seed: int) -> list[Edit]:
    """Return `count` edits of different lines, in the order in which they are tried."""
    paths = sorted(path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py"))
    found = {(each.path, each.line): each for path in paths for each in edits(path)}
    return random.Random(seed).sample([found[key] for key in sorted(found)], count)


def caught(edit: Edit, root: Path) -> str:
    """Return the first test that fails with the edit, or nothing."""
    edit.apply(root)
    paths = os.pathsep.join(str(root / Path(folder).parent) for folder in PRODUCT)
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    for part in PARTS:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", "--dist", "worksteal"]
        done = run([*command, "-m", part], folder=root, environment=environment, seconds=LIMIT)
        if done.returncode:
            lines = [
                line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))
            ]
            return (lines or ["the tests could not be collected"])[0]
    return ""


def main() -> int:
    """Try all edits and print a line for each; the status is the number of survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="faults to plant")
    parser.add_argument("--seed", type=int, default=1, help="decides which")
    parser.add_argument("--list", action="store_true", help="print the faults; try none")
    arguments = parser.parse_args()
    chosen = drawn(arguments.count, arguments.seed)
    if arguments.list:
        print("\n".join(map(str, chosen)))
        return 0
    survivors = 0
    for number, edit in enumerate(chosen, 1):
        begin = time.monotonic()
        with temporary_folder() as folder:
            root = folder / "atoll"
            unwanted = shutil.ignore_patterns(".git", ".venv", "build", "*_cache", "__pycache__")
            shutil.copytree(ROOT, root, ignore=unwanted)
            found = caught(edit, root)
        survivors += not found
        print(f"{number:3} {edit}\n    {found or 'SURVIVES'} ({time.monotonic() - begin:.0f} s)")
        sys.stdout.flush()
    print(f"{len(chosen) - survivors} of {len(chosen)} noticed")
    return survivors


if __name__ == "__main__":
    sys.exit(as_command(main))
