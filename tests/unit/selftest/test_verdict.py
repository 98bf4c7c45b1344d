# SPDX-License-Identifier: Apache-2.0
"""What failed tests mean."""

from collections.abc import Sequence

import pytest

from atoll_selftest.log import read_log
from atoll_selftest.verdict import findings

WORKS, REFUSED = "expect=works", "expect=refused"


def told(*lines: str, count: int | None = None, end: str = "end failed=1") -> list[str]:
    """Return what the findings say of a log with these results."""
    numbered = [f"selftest {n} {line}" for n, line in enumerate(lines, 1)]
    begin = f"selftest begin version=1 chip=a tests={len(lines) if count is None else count}"
    return [
        each.what
        for each in findings(read_log("\n".join((begin, *numbered, f"selftest {end}")), "it"))
    ]


def access(
    kind: str, place: str, expect: str, found: str, device: str = "npu", more: str = ""
) -> str:
    return f"{kind} device={device} place={place}{more} {expect} found={found}"


def march(**fields: object) -> str:
    words = {"wrong": 9, "first": "0x20", "wrote": "0x1", "read": "0x2", "bits": 0, "lines": 0}
    listed = " ".join(f"{name}={value}" for name, value in {**words, **fields}.items())
    return f"march device=cpu place=pool memory=sram {listed} {WORKS} found=wrong"


EXAMPLE = "0x20 has 0x2 where 'cpu' wrote 0x1"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            march(lines="0x400", bits="0xFFFFFFFF", banks="3,3"),
            "address line 10 is stuck or open: words 0x400 bytes apart are one",
        ),
        (
            march(lines="0xC00", banks="1,1"),
            "address lines 10, 11 are stuck or open: words 0x400 or 0x800 bytes apart are one",
        ),
        (march(bits="0x40", banks="0,9"), "bank 1 is dead, of 2: all wrong words lie there"),
        (march(bits="0x41", banks="9,9"), "data lines 0, 6 are stuck or open"),
        (march(bits="0x80000000", banks="9"), "data line 31 is stuck or open"),
        (march(bits="0xFFFF", banks="9,8"), "9 reads were wrong"),
    ],
)
def test_memories(line: str, said: str) -> None:
    assert told(line) == [f"memory 'sram': {said}; {EXAMPLE}"]


def test_a_memory_is_told_once() -> None:
    assert len(told(march(bits="0x1", banks="9,9"), march(bits="0x1", banks="9,9"))) == 1


def test_swapped_windows() -> None:
    lines = [access(kind, "a", WORKS, "refused") for kind in ("read", "write")]
    lines += [access(kind, "b", REFUSED, "works") for kind in ("read", "write")]
    assert told(*lines) == [
        "the windows of 'npu' at 'a' and 'b' are swapped: it cannot read and write the one, which"
        " it may, and can read and write the other, which it may not"
    ]


def test_swapped_windows_of_which_one_side_cannot_be_tried() -> None:
    lines = [access(kind, "a", WORKS, "refused") for kind in ("read", "write")]
    lines += [access("read", "b", REFUSED, "blocked"), access("write", "b", REFUSED, "works")]
    swapped, rest = told(*lines)
    assert swapped.startswith("the windows of 'npu' at 'a' and 'b' are swapped: ")
    assert rest == "1 test of 'npu' could not be made: something that it needs failed"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            [access("read", "a", WORKS, "refused")],
            ["'npu' may read 'a', and is refused"],
        ),
        (
            [access("read", "a", REFUSED, "works"), access("write", "a", REFUSED, "silent")],
            ["'npu' may not read or write 'a', and nothing keeps it back"],
        ),
        (
            [access("read", "a", WORKS, "refused"), access("write", "b", REFUSED, "works")],
            [
                "'npu' may read 'a', and is refused",
                "'npu' may not write 'b', and nothing keeps it back",
            ],
        ),
        (
            [
                access("read", "a", WORKS, "refused"),
                access("read", "b", WORKS, "refused"),
                access("read", "c", REFUSED, "works"),
            ],
            [
                "'npu' may read 'a', and is refused",
                "'npu' may read 'b', and is refused",
                "'npu' may not read 'c', and nothing keeps it back",
            ],
        ),
        (
            [
                access("read", "a", WORKS, "works", "cpu", " tag=0x5"),
                access("read", "b", WORKS, "wrong", "cpu", " tag=0x6 got=0x5"),
                access("read", "c", WORKS, "wrong", "cpu", " tag=0x7 got=0x0"),
            ],
            [
                "'cpu' sees at 'b' what is in 'a'",
                "'cpu' reads 0x0 at 'c', where the host wrote 0x7",
            ],
        ),
        (
            [access("read", "a", WORKS, "wrong"), access("write", "a", WORKS, "wrong")],
            [
                "'npu' does not get from 'a' what is there",
                "what 'npu' writes to 'a' does not arrive",
            ],
        ),
        (
            [
                f"known device=npu operator=add {WORKS} found=wrong",
                f"network device=cpu name=digits {WORKS} found=wrong",
                f"network device=cpu name=words {WORKS} found=blocked",
            ],
            [
                "'npu' computes wrongly: add",
                "network 'digits' is wrong",
                "network 'words' does not end",
            ],
        ),
    ],
)
def test_accesses_and_answers(lines: Sequence[str], said: list[str]) -> None:
    assert told(*lines) == said


def test_how_a_log_ends_early() -> None:
    works = access("read", "a", WORKS, "works")
    assert told(count=3, end="stopped: no such device") == [
        "the devices could not be brought up: no such device"
    ]
    assert told(works, count=3, end="silent device=dsp") == [
        "'dsp' did not answer the host; nothing was tried after that"
    ]
    assert told(works, count=3, end="2 re") == [
        "the log ends after test 1 of 3: what follows the read of 'npu' at 'a' did not come back"
    ]
    assert told(count=3, end="") == [
        "the log ends after test 0 of 3: the first march or access did not come back"
    ]


def test_a_log_without_failures_has_no_finding() -> None:
    assert told(access("read", "a", WORKS, "works"), access("write", "a", REFUSED, "refused")) == []
