# SPDX-License-Identifier: Apache-2.0
"""What a board prints on a serial line is taken down to its end, and not beyond."""

import os
import tty
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.unit.selftest.lines import checked, log_of

import atoll
from atoll.diagnostics.errors import SimulationError
from atoll.diagnostics.progress import announce_to, report_to, silent
from atoll_selftest.listening import MOST_STARTS, listen

RESULTS = ["read device=cpu place=shared expect=works found=works"] * 3
WHOLE = log_of(RESULTS)
BEGIN, FIRST = WHOLE.splitlines(keepends=True)[:2]


class Spoken:
    """A line on which chunks come, and then nothing."""

    path = "PORT"

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = list(chunks)
        self.deadlines: list[float] = []

    def read(self, deadline: float) -> bytes:
        self.deadlines.append(deadline)
        return self._chunks.pop(0) if self._chunks else b""


def heard(*chunks: str) -> str:
    return listen(Spoken(*(chunk.encode() for chunk in chunks)), 60.0, silent).decode()


@pytest.mark.parametrize(
    "end",
    [
        WHOLE.removeprefix(BEGIN),
        checked("selftest stopped: no such device"),
        checked("selftest silent device=dsp"),
    ],
)
def test_nothing_is_read_after_the_end(end: str) -> None:
    assert heard(BEGIN + end[:9], end[9:], "more\n") == BEGIN + end


def test_a_log_without_checks_ends_too() -> None:
    old = "selftest begin version=1 chip=a tests=0\nselftest end failed=0\n"
    assert heard(old, "more\n") == old


def test_a_damaged_last_line_is_no_end() -> None:
    damaged = WHOLE.replace("selftest end", "selftest ennd")
    assert heard(damaged, "more\n") == f"{damaged}more\n"


def test_a_board_that_begins_again_and_again_is_left() -> None:
    assert heard(*[BEGIN + FIRST] * 9).count("begin") == MOST_STARTS


def test_a_board_that_says_nothing() -> None:
    with pytest.raises(SimulationError, match=r"E272.*nothing came from 'PORT' in 1 min 0 s"):
        heard()


def test_text_of_others_is_no_sign_of_life() -> None:
    line = Spoken(*[b"boot: 1\n"] * 3, BEGIN.encode(), b"hot\n")
    listen(line, 60.0, silent)
    assert len(set(line.deadlines[:4])) == 1
    assert line.deadlines[4] > line.deadlines[3]
    assert line.deadlines[4:] == [line.deadlines[4]] * 2


@contextmanager
def board(log: bytes) -> Iterator[tuple[str, list[str]]]:
    """Print a log when somebody listens at a terminal; give its path, and what is announced."""
    near, far = os.openpty()
    tty.setraw(far)
    announced: list[str] = []

    def reset(what: str) -> None:
        announced.append(what)
        os.write(near, log)

    try:
        with announce_to(reset):
            yield os.ttyname(far), announced
    finally:
        os.close(near)
        os.close(far)


def test_a_board_at_a_terminal() -> None:
    told: list[str] = []

    def tell(what: str, /, *, left: float | None = None) -> None:
        told.append(what)

    with board(f"boot\r\n{WHOLE}".encode()) as (path, announced), report_to(tell):
        found = atoll.run_selftest(path, soc="lagoon")
    assert announced == [f"listening at '{path}': reset the board"]
    assert (found.passed, found.passed_tests, found.lost) == (True, 3, ())
    assert told == [line.partition(" crc")[0] for line in WHOLE.splitlines()]


def test_a_board_that_falls_silent() -> None:
    with board((BEGIN + FIRST).encode()) as (path, _):
        found = atoll.run_selftest(path, silence=0.1)
    assert [each.message for each in found.findings] == [
        "the log ends after test 1 of 3: what follows the read of 'cpu' at 'shared' did not come"
        " back"
    ]


def test_messages_name_the_port() -> None:
    with board(b"\xff\x00\n" * 9) as (path, _), pytest.raises(atoll.UsageError) as refused:
        atoll.run_selftest(path, silence=0.1)
    assert str(refused.value).startswith(f"error[E132]: '{path}' has no line 'selftest begin ...'")
