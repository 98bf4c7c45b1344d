# SPDX-License-Identifier: Apache-2.0
"""Escaping, cutting and places of text from outside."""

from pathlib import Path

import pytest

from atoll.diagnostics.errors import MOST_FAULTS, AtollError, Fault, SourceLoc
from atoll.diagnostics.shown import columns_of, cut, printable, window


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plain", "plain"),
        ("Größe, 面积, площадь", "Größe, 面积, площадь"),
        ("a\x1b[0m", r"a\x1b[0m"),
        ("a\tb\nc", r"a\tb\nc"),
        ("\x7f\x9b", r"\x7f\x9b"),
        ("\u202e\u2066\u200f\u061c\ufeff", r"\u202e\u2066\u200f\u061c\ufeff"),
        ("\u2028\u2029\ud800", r"\u2028\u2029\ud800"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_only_what_is_no_printable_text_is_escaped(text: str, wanted: str) -> None:
    assert printable(text) == wanted
    assert printable(wanted) == wanted


def test_a_cut_keeps_both_ends() -> None:
    text = f"begin{'x' * 100}end"
    assert cut(text, 20).startswith("begin")
    assert cut(text, 20).endswith("end")
    assert len(cut(text, 20)) == 20
    assert cut(text, 200) == text


def test_long_words_go_first() -> None:
    fault = Fault(code="E001", message=f"cannot read '{'x' * 10_000}': no such file")
    assert fault.message.startswith("cannot read 'xxx")
    assert fault.message.endswith("xxx': no such file")
    assert len(fault.message) < 200


def test_a_fault_is_one_line_unless_it_has_a_tools_log() -> None:
    assert Fault(code="E011", message="a\nb").message == r"a\nb"
    assert Fault(code="E073", message="a:\nb\x1b").message == "a:\nb\\x1b"


def test_many_faults_are_not_all_printed() -> None:
    error = AtollError.all(Fault(code="E052", message=str(number)) for number in range(5000))
    assert len(error.faults) == MOST_FAULTS + 1
    assert str(error).endswith(
        f"error[E016]: {5000 - MOST_FAULTS} more faults are not shown\n"
        "  help: correct those above first"
    )
    assert AtollError.all(error.faults).faults == error.faults


def excerpt(tmp_path: Path, line: str, column: int, columns: int = 60) -> tuple[str, str]:
    path = tmp_path / "file.yaml"
    path.write_text(line)
    text, caret = SourceLoc(path, 1, column).excerpt(columns)
    return text, caret


@pytest.mark.parametrize(
    "line",
    [
        "key: {name: X, b: 2}",
        "\tkey: {name: X, b: 2}",
        "ключ: {имя: X, b: 2}",
        "面积: {名字: X, b: 2}",
        "e\u0301te\u0301: X",
        "\ufeffkey: X",
        f"{'a: b, ' * 100}X{'c: d, ' * 100}",
        f"X{'c: d, ' * 100}",
        f"{'a: b, ' * 100}X",
        f"{'面积' * 100}X{'面积' * 100}",
        "\x1b[31m: X",
    ],
)
def test_the_caret_is_under_its_column(tmp_path: Path, line: str) -> None:
    text, caret = excerpt(tmp_path, line, line.removeprefix("\ufeff").index("X") + 1)
    assert columns_of(text) <= 60
    assert columns_of(text[: text.index("X")]) == caret.index("^")
    assert text.isprintable()


def test_a_wide_line_has_an_ellipsis_at_both_ends(tmp_path: Path) -> None:
    line = f"{'a: b, ' * 100}X{'c: d, ' * 100}"
    text, _ = excerpt(tmp_path, line, line.index("X") + 1)
    assert text.startswith("    1 | ...")
    assert text.endswith("...")


def test_a_window_at_an_end_has_one_ellipsis() -> None:
    assert window("abcdefghijklmnop", 0, 10) == ("abcdefg...", 0)
    assert window("abcdefghijklmnop", 15, 10) == ("...jklmnop", 9)
    assert window("abc", 3, 10) == ("abc", 3)
