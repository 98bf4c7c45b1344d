# SPDX-License-Identifier: Apache-2.0
"""Faults of one line: other operators, other numbers, conditions turned round, statements gone."""

import ast
import random
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = tuple(
    sorted(
        path.parent.relative_to(ROOT)
        for folder in ("compiler", "hw_sim")
        for path in (ROOT / folder).glob("*/__init__.py")
    )
)
NATIVE = (".sv", ".svh", ".c", ".cpp", ".h", ".S", ".j2")
LEFT_OUT = {
    "children.py": "a fault might end processes of others",
    "child_guard.py": "likewise",
    "held.py": "a fault might remove folders that others use",
}
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
TOKENS = {"==": "!=", "!=": "==", "&&": "||", "||": "&&", "<": "<=", ">": ">=", "+": "-", "-": "+"}
_TOKEN = re.compile(r"(?<= )(==|!=|&&|\|\||<|>|\+|-)(?= )")
_NUMBER = re.compile(r"(?<![\w.'#])[0-9]+(?![\w.'])")
_BIT = re.compile(r"1'b([01])\b")
_NOT = re.compile(r"!(?=[\w(])")
_STATEMENT = re.compile(
    r"(?P<left>[\w.\[\]:>-]+) (?:<=|=|\+=|-=|\|=|&=) [^;]*;|[\w.>-]+\([^;]*\);|\w+\+\+;"
)
_COMMENT = re.compile(r"^\s*(//|/\*|\*|#(?!include)|\{#|`)|^#")
_DECLARES = re.compile(r"^\s*(typedef|import|parameter|localparam|using|extern|timeunit)\b")


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters of one line, and what takes their place.

    Attributes:
        path: relative to the checkout.
        line: from 1.
        old: the line as it stands.
        begin, end: the characters.
        text: instead of them.
    """

    path: Path
    line: int
    old: str
    begin: int
    end: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.old.strip()}  =>  {self.new.strip()}"

    @property
    def new(self) -> str:
        """The line with the fault."""
        return self.old[: self.begin] + self.text + self.old[self.end :]

    @property
    def room(self) -> str:
        """The folder of a package that the line is in, and for other languages which."""
        inside = self.path.parts[1:-1]
        language = "" if self.path.suffix == ".py" else f" {self.path.suffix}"
        return "/".join(inside[:2]) + language

    def apply(self, root: Path) -> None:
        """Make the edit in the copy at `root`."""
        lines = (root / self.path).read_text(encoding="utf-8").splitlines(keepends=True)
        assert lines[self.line - 1].rstrip("\n") == self.old
        lines[self.line - 1] = self.new + "\n"
        (root / self.path).write_text("".join(lines), encoding="utf-8")

    @property
    def words(self) -> str:
        """What `str` says without the number of the line, which other changes move."""
        return f"{self.path}: {self.old.strip()}  =>  {self.new.strip()}"

    def at(self, path: Path, line: int, old: str) -> "Edit":
        """The same edit of the same words elsewhere, where they may be indented otherwise."""
        by = old.index(self.old.strip()) - self.old.index(self.old.strip())
        return Edit(path, line, old, self.begin + by, self.end + by, self.text)


def edits(root: Path, path: Path) -> Iterator[Edit]:
    """Yield the faults that fit a file."""
    text = (root / path).read_text(encoding="utf-8")
    yield from _python(path, text) if path.suffix == ".py" else _native(path, text)


def _changes(edit: Edit) -> bool:
    """Say whether an edit makes another program, which can be read."""
    if edit.path.suffix != ".py":
        return True
    lines = (ROOT / edit.path).read_text(encoding="utf-8").splitlines()
    before = ast.dump(ast.parse("\n".join(lines)))
    lines[edit.line - 1] = edit.new
    try:
        return ast.dump(ast.parse("\n".join(lines))) != before
    except SyntaxError:
        return False


def _python(path: Path, text: str) -> Iterator[Edit]:
    """Yield faults of Python.

    Options of dataclasses are left alone: without ``slots`` everything works as before.
    """
    lines = text.splitlines()
    tree = ast.parse(text)
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    options = {each for node in classes for how in node.decorator_list for each in ast.walk(how)}
    for node in ast.walk(tree):
        if node in options or not isinstance(node, ast.expr | ast.stmt):
            continue
        line = lines[node.lineno - 1]
        if node.lineno == node.end_lineno and line.isascii():
            for begin, end, words in _faults(node, line):
                yield Edit(path, node.lineno, line, begin, end, words)


def _faults(node: ast.expr | ast.stmt, line: str) -> Iterator[tuple[int, int, str]]:
    """Yield begin and end of characters, and what may take their place."""
    begin, end = node.col_offset, node.end_col_offset or 0
    match node:
        case ast.Compare(left=left, ops=[kind], comparators=[right]):
            yield from _between(line, left, right, SWAPS.get(type(kind)))
        case ast.BinOp(left=left, op=kind, right=right):
            yield from _between(line, left, right, SWAPS.get(type(kind)))
        case ast.BoolOp(op=kind, values=[left, right]):
            yield from _between(line, left, right, SWAPS.get(type(kind)))
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            yield begin, end, str(number + 1)
        case ast.Constant(value=bool() as flag):
            yield begin, end, str(not flag)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield begin, operand.col_offset, ""
        case ast.IfExp(test=test) if test.lineno == test.end_lineno:
            yield test.col_offset, test.col_offset, "not "
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Raise():
            yield begin, end, "pass"


def _between(
    line: str, left: ast.expr, right: ast.expr, text: str | None
) -> Iterator[tuple[int, int, str]]:
    """Yield the fault of an operator that stands between its operands."""
    begin = left.end_col_offset or 0
    if text is not None and (old := line[begin : right.col_offset].strip("() ")):
        at = line.index(old, begin)
        yield at, at + len(old), text


def _native(path: Path, text: str) -> Iterator[Edit]:
    """Yield faults of SystemVerilog, C, C++ and templates."""
    for number, line in enumerate(text.splitlines(), 1):
        code = re.split(r"//|/\*|`", line)[0].rstrip()
        if not code.isascii() or _COMMENT.match(line) or _DECLARES.match(line):
            continue
        for begin, end, words in _tokens(code):
            yield Edit(path, number, line, begin, end, words)


def _tokens(code: str) -> Iterator[tuple[int, int, str]]:
    for found in _TOKEN.finditer(code):
        yield *found.span(), TOKENS[found[1]]
    for found in _NUMBER.finditer(code):
        yield *found.span(), str(int(found[0]) + 1)
    for found in _BIT.finditer(code):
        yield *found.span(), f"1'b{1 - int(found[1])}"
    for found in _NOT.finditer(code):
        yield *found.span(), ""
    if whole := _STATEMENT.fullmatch(code.strip()):
        begin = code.index(whole[0])
        yield begin, len(code), ";"


def sources(root: Path) -> list[Path]:
    """Return the product's files, relative to the checkout at `root`."""
    paths = (path for folder in PACKAGES for path in (root / folder).rglob("*"))
    fit = (path for path in paths if path.suffix in (".py", *NATIVE))
    return sorted(path.relative_to(root) for path in fit if path.name not in LEFT_OUT)


def draw(
    count: int, seed: int, only: Container[str] | None = None, rooms: Sequence[str] = ()
) -> list[Edit]:
    """Return edits of different lines: one of each room, a second of each, and so on.

    `only` are words that a line must have, `rooms` begins of the names of rooms.
    """
    ours = lines_of(ROOT) if only is not None else {}
    found: dict[str, dict[tuple[Path, int], list[Edit]]] = {}
    for path in sources(ROOT):
        for edit in edits(ROOT, path):
            words = edit.old.strip()
            if only is None or (words in ours and words in only):
                lines = found.setdefault(edit.room, {})
                lines.setdefault((edit.path, edit.line), []).append(edit)
    queues = []
    for room in sorted(found):
        if not rooms or room.startswith(tuple(rooms)):
            chance = random.Random(f"{seed} {room}")
            queue = [chance.choice(each) for each in found[room].values()]
            chance.shuffle(queue)
            queues.append(queue)
    random.Random(seed).shuffle(queues)
    rounds = range(max(map(len, queues), default=0))
    every = (queue[number] for number in rounds for queue in queues if number < len(queue))
    return list(islice(filter(_changes, every), count))


def find_again(fault: str, root: Path = ROOT) -> Edit | None:
    """Return the edit that was printed as `fault` where its line stands now, None if nowhere."""
    place, _, change = fault.partition(": ")
    path, _, number = place.rpartition(":")
    old, _, new = change.partition("  =>  ")
    lines = (root / path).read_text("utf-8").splitlines() if (root / path).is_file() else []
    places = [at for at, line in enumerate(lines, 1) if line.strip() == old]
    if not places:
        return None
    at = min(places, key=lambda each: abs(each - int(number)))
    begin = lines[at - 1].index(old)
    return Edit(Path(path), at, lines[at - 1], begin, begin + len(old), new)


def lines_of(root: Path) -> dict[str, tuple[Path, int, str]]:
    """Return where each line of the product stands that it has once, by its words."""
    every: dict[str, list[tuple[Path, int, str]]] = {}
    for path in sources(root):
        for number, line in enumerate((root / path).read_text("utf-8").splitlines(), 1):
            every.setdefault(line.strip(), []).append((path, number, line))
    return {words: places[0] for words, places in every.items() if len(places) == 1}
