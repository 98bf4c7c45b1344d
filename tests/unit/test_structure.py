# SPDX-License-Identifier: Apache-2.0
"""The house's structure: no circle of imports, prose that fits its columns."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
ROOTS = [TOP / folder for folder in ("compiler", "hw_sim")]
MOST_COLUMNS_OF_PROSE = 120


def parsed() -> dict[str, ast.Module]:
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
