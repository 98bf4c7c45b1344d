# SPDX-License-Identifier: Apache-2.0
"""The house's structure: no circle of imports, prose in its columns, functions named as such."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
ROOTS = [TOP / folder for folder in ("compiler", "hw_sim")]
MOST_COLUMNS_OF_PROSE = 120


@cache
def parsed() -> Mapping[str, ast.Module]:
    """Return the product's modules by dotted name."""
    return {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            path.read_text("utf-8")
        )
        for root in ROOTS
        for path in sorted(root.rglob("*.py"))
    }


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a module in order of depth, without looking into expressions."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(node, field, ())
        for each in inner if isinstance(inner, list) else ():
            if isinstance(each, ast.stmt):
                yield each
            yield from statements(each)


def imports(module: ast.Module, known: Mapping[str, object]) -> Iterator[str]:
    """Yield the modules that a module imports, those that a function imports included."""
    for node in statements(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else str(node.module)


def circle(modules: Mapping[str, ast.Module]) -> list[str]:
    """Return a circle of imports, empty if there is none."""
    arrows = {name: {*imports(tree, modules)} & {*modules} for name, tree in modules.items()}
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_circle_of_imports() -> None:
    assert circle(parsed()) == []


@pytest.mark.parametrize(
    ("b", "found"), [("import a", True), ("def f():\n    from a import x", True), ("", False)]
)
def test_a_circle_is_found(b: str, found: bool) -> None:
    assert bool(circle({"a": ast.parse("import b"), "b": ast.parse(b)})) is found


def wide_prose(text: str) -> Iterator[str]:
    """Yield the lines of a document that are too wide; tables and code are as wide as they must."""
    code = False
    for line in text.splitlines():
        code ^= line.lstrip().startswith("```")
        if not code and len(line) > MOST_COLUMNS_OF_PROSE and not line.lstrip().startswith("|"):
            yield line


def test_prose_fits_its_columns() -> None:
    root = ROOTS[0].parent
    paths = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("examples/*/*.md")]
    assert len(paths) > 30
    wide = {path: [*wide_prose(path.read_text("utf-8"))] for path in paths}
    assert {name: lines for name, lines in wide.items() if lines} == {}
    assert [*wide_prose("x" * 121 + "\n```\n" + "y" * 121 + "\n```\n|" + "z" * 121)] == ["x" * 121]


IRREGULAR = {
    *("befallen", "begun", "broken", "brought", "built", "caught", "chosen", "done", "drawn"),
    *("driven", "fallen", "fed", "found", "forgotten", "given", "gone", "grown", "held", "hidden"),
    *("kept", "known", "laid", "led", "left", "lent", "lost", "made", "meant", "met", "misled"),
    *("misspelt", "overridden", "overwritten", "paid", "rewritten", "said", "seen", "sent"),
    *("shown", "shrunk", "spelt", "spent", "stood", "taken", "taught", "thrown", "told", "torn"),
    *("understood", "undone", "unread", "unseen", "untaken", "unwritten", "withdrawn", "worn"),
    *("written", "began", "ran", "saw", "went", "wrote"),
}
VERBS = {"embed", "exceed", "feed", "need", "proceed", "seed", "speed", "succeed"}
PARTICLES = {
    *("above", "after", "again", "against", "alone", "apart", "around", "as", "at", "away"),
    *("back", "before", "behind", "beside", "between", "by", "early", "elsewhere", "everywhere"),
    *("first", "for", "from", "in", "into", "last", "later", "like", "of", "off", "on", "once"),
    *("onto", "out", "over", "there", "to", "together", "twice", "under", "up", "with", "without"),
}
ALLOWED = {"lowered", "sealed"}
"""Documented methods: of what builds kernels, and of emitters."""


def is_participle(name: str) -> bool:
    """Tell whether a name is a participle alone, or with a preposition or an adverb."""
    first, *others = name.strip("_").split("_")
    alone = not others or others[0] in PARTICLES
    return alone and (first in IRREGULAR or (first.endswith("ed") and first not in VERBS))


def participles(module: ast.Module) -> Iterator[str]:
    """Yield the functions of a module, properties aside, whose names say neither verb nor noun."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_participle(node.name):
            decorators = [ast.unparse(each) for each in node.decorator_list]
            if not any("property" in each for each in decorators):
                yield node.name


def test_functions_are_verbs_or_nouns() -> None:
    paths = sorted((TOP / "benchmarks").rglob("*.py"))
    modules = {str(path): ast.parse(path.read_text("utf-8")) for path in paths} | {**parsed()}
    assert len(modules) > 900
    found = {name: {*participles(tree)} - ALLOWED for name, tree in modules.items()}
    assert {name: functions for name, functions in found.items() if functions} == {}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("def _written(): ...", True),
        ("def left_out(): ...", True),
        ("class A:\n    async def told(self): ...", True),
        ("class A:\n    @property\n    def told(self): ...", False),
        ("def padded_shape(): ...", False),
        ("def need(): ...", False),
    ],
)
def test_a_participle_is_found(code: str, found: bool) -> None:
    assert bool([*participles(ast.parse(code))]) is found


def test_dataclasses_are_the_quick_ones() -> None:
    slow = [
        f"{name}:{node.lineno}"
        for name, tree in parsed().items()
        for node in statements(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if name != "atoll.records" and "dataclass" in {alias.name for alias in node.names}
    ]
    assert not slow, "import dataclass from atoll.records"
