# SPDX-License-Identifier: Apache-2.0
"""Edits of a text change what they must and nothing else."""

from pathlib import Path

import pytest

from atoll.description.text_edits import edit_text, with_section
from atoll.description.yaml_text import parse_yaml
from atoll.diagnostics.edit import Edit, Patch
from atoll.diagnostics.errors import DescriptionError

CASES: dict[str, tuple[str, Edit | Patch, str]] = {
    "a value": ("a: 1  # one\nb: 2\n", Edit(("a",), "3"), "a: 3  # one\nb: 2\n"),
    "no value yet": ("a:  # none\nb: 2\n", Edit(("a",), "3"), "a: 3  # none\nb: 2\n"),
    "a block": ("a:\n  b: 1\n  c: 2\nd: 3\n", Edit(("a",), "{x: 1}"), "a: {x: 1}\nd: 3\n"),
    "in a flow": ("a: {b: 1, c: 2}\n", Edit(("a", "b"), "[x]"), "a: {b: [x], c: 2}\n"),
    "an item": ("a:\n  - x\n  - y  # y\n", Edit(("a", "1"), "z"), "a:\n  - x\n  - z  # y\n"),
    "a new key": ("a:\n  b: 1  # b\n\n# d\nd: 2\n", Edit(("a", "c"), "3"),
                  "a:\n  b: 1  # b\n  c: 3\n\n# d\nd: 2\n"),
    "at the top": ("a: 1", Edit(("b",), "2"), "a: 1\nb: 2"),
    "behind a block": ("a:\n  b:\n    c: 1\n", Edit(("a", "d"), "2"),
                       "a:\n  b:\n    c: 1\n  d: 2\n"),
    "in a new flow": ("a: {b: 1}\n", Edit(("a", "c"), "2"), "a: {b: 1, c: 2}\n"),
    "in an empty flow": ("a: {}\n", Edit(("a", "c"), "2"), "a: {c: 2}\n"),
    "of two levels": ("a: {b: 1}\n", Edit(("a", "c", "d"), "2"), "a: {b: 1, c: {d: 2}}\n"),
    "below no value": ("a:\nb: 1\n", Edit(("a", "c"), "2"), "a: {c: 2}\nb: 1\n"),
    "below a word": ("a: x\n", Edit(("a", "c"), "2"), "a: {c: 2}\n"),
    "removal": ("# x\na: 1  # one\nb: 2\n", Edit(("a",)), "# x\nb: 2\n"),
    "of a block": ("a:\n  b: 1\n  c:\n    d: 2\n  e: 3\n", Edit(("a", "c")),
                   "a:\n  b: 1\n  e: 3\n"),
    "of the only one": ("a:\n  b: 1\nc: 2\n", Edit(("a", "b")), "a: {}\nc: 2\n"),
    "of the first": ("a: {b: 1, c: 2}\n", Edit(("a", "b")), "a: {c: 2}\n"),
    "of the last": ("a: {b: 1, c: 2}\n", Edit(("a", "c")), "a: {b: 1}\n"),
    "of an item": ("a:\n  - x\n  - y\n", Edit(("a", "0")), "a:\n  - y\n"),
    "of an item in a flow": ("a: [x, y, z]\n", Edit(("a", "1")), "a: [x, z]\n"),
    "of the only item": ("a:\n  - x\nb: 1\n", Edit(("a", "0")), "a: []\nb: 1\n"),
    "of a key in an item": ("a:\n  - b: 1\n    c: 2\n", Edit(("a", "0", "b")), "a:\n  - c: 2\n"),
    "a key's name": ("a: {b: 1}  # b\n", Edit(("a", "b"), name="c"), "a: {c: 1}  # b\n"),
    "everywhere": ("x: {b: b}  # b\nb: [b, bb]\n", Edit(("b",), name="c", everywhere=True),
                   "x: {c: c}  # b\nc: [c, bb]\n"),
    "a name with a dot": ("devices:\n  a.b: {irq: 1}\n", Edit(("devices", "a_b", "irq"), "2"),
                          "devices:\n  a.b: {irq: 2}\n"),
    "not ASCII": ("# é😀\na: 1\n", Edit(("a",), "2"), "# é😀\na: 2\n"),
    "quoted": ("a: 'x: y'\n", Edit(("a",), "z"), "a: z\n"),
    "a new key, CR LF": ("a:\r\n  b: 1\r\nc: 2\r\n", Edit(("a", "d"), "3"),
                         "a:\r\n  b: 1\r\n  d: 3\r\nc: 2\r\n"),
    "a byte order mark": ("\ufeffa: 1\nb: 2\n", Edit(("b",), "3"), "\ufeffa: 1\nb: 3\n"),
    "the second of two": ("a: 1  # a\na: {b: 2}\nc: 3\n", Edit(("a",), begin=10),
                          "a: 1  # a\nc: 3\n"),
    "the second in a flow": ("{a: 1, b: 2, a: 3}", Edit(("a",), begin=13), "{a: 1, b: 2}"),
    "the second, a block": ("a:\n  b: 1\na:\n  c: 1\n", Edit(("a",), begin=10), "a:\n  b: 1\n"),
    "another spelling": ("a-b: 1\na.b: 2\n", Edit(("a.b",), name="c"), "a-b: 1\nc: 2\n"),
    "a patch": ("a: &b 1\n", Patch(3, "&b "), "a: 1\n"),
    "folded": ("a: >\n  x\n  y\nb: 1\n", Edit(("a",), "z"), "a: z\nb: 1\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_edit(name: str) -> None:
    text, edit, expected = CASES[name]
    assert edit_text(text, (edit,)) == expected


def test_what_cannot_be_done_is_not_done() -> None:
    assert edit_text("a: [", (Edit(("a",), "1"),)) is None
    assert edit_text("", (Edit(("a",), "1"),)) is None
    assert edit_text("a: 1\n", (Edit(("b",)),)) is None
    assert edit_text("a: 1\n", (Edit(("b",), name="c"),)) is None
    assert edit_text("a: 1\n", (Patch(3, "2"),)) is None
    assert edit_text("a: 1\na: 2\n", (Edit(("a",), begin=3),)) is None


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("a:\n    b: 1\n\tc: 2  # c\n", "a:\n    b: 1\n    c: 2  # c\n"),
        ("a:\n  b: 1\n\tc: 2\n", "a:\n  b: 1\n  c: 2\n"),
        ("a:\n  b:\n\tc: 2\n\td: 3\n", "a:\n  b:\n    c: 2\n    d: 3\n"),
        ("a:\n\tb:\n\t\tc: 2\n", "a:\n    b:\n        c: 2\n"),
    ],
)
def test_tabs_become_as_many_spaces_as_fit(text: str, right: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        parse_yaml(text, Path("x"))
    ((fix,),) = (fault.fixes for fault in caught.value.faults)
    assert edit_text(text, fix) == right


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a: 1  # one\n", "a: 1  # one\n\nt:\n  b: 2\n"),
        ("a: 1", "a: 1\n\nt:\n  b: 2\n"),
        ("t: {b: 1}\na: 1\n", "a: 1\n\nt:\n  b: 2\n"),
        ("a: 1\nt:\n  b: 1\n# end\n", "a: 1\n# end\n\nt:\n  b: 2\n"),
        ("a: 1\r\n", "a: 1\r\n\r\nt:\r\n  b: 2\r\n"),
        ("{a: 1}\n", None),
        ("a: 1\n...\n", None),
        ("a: &x 1\nb: *x\n", "a: &x 1\nb: *x\n\nt:\n  b: 2\n"),
    ],
)
def test_a_section_is_added_or_replaced_and_nothing_else(text: str, written: str | None) -> None:
    assert with_section(text, "t", "t:\n  b: 2\n") == written
