# SPDX-License-Identifier: Apache-2.0
"""A cursor's place is told from the text before it, which need be no YAML."""

import time

import pytest

from atoll_lsp.cursor import cursor_at

SECONDS = 2
PLACES = {
    "block key": ("devices:\n  cpu:\n    kind: cpu\n    st|", ("devices", "cpu"), "st"),
    "empty line": ("devices:\n  cpu:\n    kind: cpu\n    |", ("devices", "cpu"), ""),
    "dedented": ("devices:\n  cpu:\n    kind: cpu\n  |", ("devices",), ""),
    "top": ("devices:\n  cpu: {kind: cpu}\n|", (), ""),
    "value": ("pools:\n  a:\n    memory: sr|", ("pools", "a", "memory"), "sr"),
    "value with a space": ("memories:\n  a: {size: 64 K|", ("memories", "a", "size"), "64 K"),
    "flow key": ("devices:\n  n: {kind: npu, ac|", ("devices", "n"), "ac"),
    "flow value": ("devices:\n  n: {kind: n|", ("devices", "n", "kind"), "n"),
    "closed flow": ("devices:\n  n: {kind: npu}\n  |", ("devices",), ""),
    "flow over lines": ("a:\n  b: {c: 1,\n      d: |", ("a", "b", "d"), ""),
    "nested flow": ("p:\n  s: {m: x, reach: {cpu: r|", ("p", "s", "reach", "cpu"), "r"),
    "after nested flow": ("p:\n  s: {reach: {cpu: rw}, ro|", ("p", "s"), "ro"),
    "flow list": ("d:\n  n:\n    runs: [CONV_2D, AD|", ("d", "n", "runs", "1"), "AD"),
    "block list": (
        "d:\n  n:\n    runs:\n      - CONV_2D\n      - AD|",
        ("d", "n", "runs", "1"),
        "AD",
    ),
    "list at its key": ("runs:\n- CONV_2D\n- A|", ("runs", "1"), "A"),
    "mapping in a list": ("cuts:\n  - first: a\n    la|", ("cuts", "0"), "la"),
    "next item": ("cuts:\n  - first: a\n    last: b\n  - fi|", ("cuts", "1"), "fi"),
    "comment": ("a:  # c: d\n  b: |", ("a", "b"), ""),
    "quoted colon": ("a: 'x: {y'\nb: |", ("b",), ""),
    "stray bracket": ("a: }\nb:\n  c: |", ("b", "c"), ""),
    "half a line before": ("devices:\n  cpu\n  npu:\n    ki|", ("devices", "npu"), "ki"),
}


@pytest.mark.parametrize("name", PLACES)
def test_path_and_word(name: str) -> None:
    text, path, word = PLACES[name]
    cursor = cursor_at(text.replace("|", ""), text.index("|"))
    assert (cursor.path, cursor.word) == (path, word)


def test_what_was_read_before_is_known() -> None:
    cursor = cursor_at("devices:\n  n: {kind: npu, ", 28)
    assert cursor.before == {"devices": {"n": {"kind": "npu"}}}
    assert cursor.writes_key
    assert not cursor.writes_value


@pytest.mark.parametrize("line", ["a{}b", "a: b{}", "a: b{}c", "x: {{a{}", "x: {{a{}b"])
def test_a_line_of_blanks_is_no_long_work(line: str) -> None:
    text = line.format(" " * 20_000)
    begin = time.process_time()
    cursor_at(text, len(text))
    cursor_at(f"{text}\n", len(text) + 1)
    assert time.process_time() - begin < SECONDS
