# SPDX-License-Identifier: Apache-2.0
"""Records: what is known when memory is planned is a word, the rest is computed by steps."""

from atoll.program.expressions import Name, parse
from atoll.program.record import in_c, layout_of
from atoll.program.steps import Step, Verb, last_wait

START = Step(verb=Verb.WRITE, name="CONTROL", value="1")
WAIT = Step(verb=Verb.WAIT, name="STATUS", mask=1, equals=0)
MOVED = Step(
    verb=Verb.PUSH,
    name="DATA",
    buffer="input",
    offset="row * pitch + 4 * (width - 1)",
    value="min(32, bytes - 32 * row)",
)
ROWS = Step(verb=Verb.REPEAT, name="row", value="ceil(bytes, 32)", steps=(MOVED,))
VALUES = {"input.address": 0x2000_0010, "pitch": 24, "width": 5, "bytes": 100}


def test_words_hold_the_greatest_parts_that_no_count_is_in() -> None:
    layout = layout_of((START, ROWS, WAIT))
    assert set(layout.slots) == {
        Name("input.address"),
        parse("ceil(bytes, 32)"),
        Name("pitch"),
        parse("4 * (width - 1)"),
        Name("bytes"),
    }
    assert layout.size == 4 * 6


def test_a_record_is_read_as_it_was_packed() -> None:
    layout = layout_of((START, ROWS, WAIT))
    record = layout.pack(3, VALUES)
    assert record[:4] == b"\3\0\0\0"
    known = layout.values(record, {"row": 2})
    assert known[Name("input.address")] == VALUES["input.address"]
    assert known[parse("ceil(bytes, 32)")] == 4
    assert known[Name("row")] == 2


def test_negative_values_are_words_of_two_complements() -> None:
    step = Step(verb=Verb.WRITE, name="ZERO", value="zero")
    assert layout_of([step]).pack(0, {"zero": -128})[4:] == b"\x80\xff\xff\xff"


def test_c_names_words_and_counts() -> None:
    layout = layout_of((ROWS,))
    places = {slot: f"r[{layout.place(slot)}]" for slot in layout.slots}
    left = f"({places[Name('bytes')]} - (32u * n_row))"
    assert in_c(parse(MOVED.value), layout) == f"(32u < {left} ? 32u : {left})"


def test_another_operator_may_run_from_the_last_wait_on() -> None:
    assert last_wait((START, WAIT, ROWS, WAIT, START)) == 3
    assert last_wait((START, ROWS)) == 2
    assert last_wait(()) == 0
