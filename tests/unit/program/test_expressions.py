# SPDX-License-Identifier: Apache-2.0
"""Formulas: what they are, what they are worth, and that C computes the same."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atoll.program.expressions import (
    Applied,
    Expression,
    ExpressionError,
    Name,
    Number,
    c_text,
    names_of,
    parse,
    value_of,
)
from atoll.program.record import compute

VALUES = {"a": 7, "b": 3, "input.bytes": 1000}
WORD = 2**32


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("40 + 3 * a", 61),
        ("ceil(input.bytes, 8)", 125),
        ("min(a, b) - max(a, b)", -4),
        ("input.bytes // a % b", 1),
        ("1 << a | b & 2", 130),
        ("input.bytes >> b", 125),
        ("-a", -7),
        ("0x10", 16),
    ],
)
def test_values(text: str, value: int) -> None:
    assert value_of(parse(text), VALUES) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 / 2", "'//' or 'ceil"),
        ("2 ** 9", "is not supported"),
        ("__import__('os')", "is not supported"),
        ("a.b.c", "is not supported"),
        ("min(1, 2, 3)", "is not supported"),
        ("a if b else 1", "is not supported"),
        ("1.5", "is not supported"),
        ("True", "truth value"),
        ("(", "no expression"),
        ("", "no expression"),
        ("1 + " * 200 + "1", "longer than"),
    ],
)
def test_what_is_no_formula(text: str, said: str) -> None:
    with pytest.raises(ExpressionError, match=said.replace("(", r"\(")):
        parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a // (b - 3)", "by 0"),
        ("1 << 64", "shifts by 64"),
        ("a >> -1", "shifts"),
        ("1 << 63 << 9", "64 bits"),
    ],
)
def test_what_has_no_value(text: str, said: str) -> None:
    with pytest.raises(ExpressionError, match=said):
        value_of(parse(text), VALUES)


def test_names() -> None:
    assert names_of(parse("a * input.bytes + min(b, 3)")) == {"a", "b", "input.bytes"}


def formulas() -> st.SearchStrategy[Expression]:
    """Draw formulas of words that C computes without a sign."""
    leaves = st.one_of(
        st.integers(0, WORD - 1).map(Number), st.sampled_from(["x", "y", "z"]).map(Name)
    )
    return st.recursive(leaves, _applied, max_leaves=8)


def _applied(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    plain = st.builds(
        Applied, st.sampled_from(["+", "-", "*", "&", "|", "min", "max"]), inner, inner
    )
    divided = st.builds(
        Applied, st.sampled_from(["//", "%"]), inner, st.integers(1, 1000).map(Number)
    )
    shifted = st.builds(
        Applied, st.sampled_from(["<<", ">>"]), inner, st.integers(0, 31).map(Number)
    )
    return st.one_of(plain, divided, shifted)


@pytest.fixture(scope="module")
def drawn() -> list[tuple[Expression, dict[str, int]]]:
    cases: list[tuple[Expression, dict[str, int]]] = []

    @settings(max_examples=40, database=None)
    @given(formulas(), *(st.integers(0, WORD - 1),) * 3)
    def draw(formula: Expression, x: int, y: int, z: int) -> None:
        cases.append((formula, {"x": x, "y": y, "z": z}))

    draw()
    return cases


def test_c_computes_what_python_does(
    drawn: list[tuple[Expression, dict[str, int]]], tmp_path: Path
) -> None:
    names: dict[Expression, str] = {Name(name): name for name in "xyz"}
    lines = ["#include <stdint.h>", "#include <stdio.h>", "int main(void) {"]
    for formula, values in drawn:
        given_values = "".join(
            f"uint32_t {name} = {value}u; (void){name}; " for name, value in values.items()
        )
        text = c_text(formula, names)
        lines.append(f'  {{ {given_values}printf("%u\\n", (unsigned)({text})); }}')
    source = tmp_path / "formulas.c"
    source.write_text("\n".join([*lines, "  return 0;", "}"]))
    program = tmp_path / "formulas"
    subprocess.run(["cc", "-O0", "-w", str(source), "-o", str(program)], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    expected = [
        compute(formula, {Name(name): value for name, value in values.items()})
        for formula, values in drawn
    ]
    assert [int(word) for word in printed.split()] == expected


def test_python_does_not_speak_of_formulas(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.raises(ExpressionError):
        parse("32or elements")
    with pytest.raises(ExpressionError):
        parse("'\\d' + 1")
    assert not recwarn.list
