# SPDX-License-Identifier: Apache-2.0
"""A damaged line of a self-test is no passed test and no evidence against the chip."""

import re

import pytest
from tests.unit.selftest.lines import checked, damage, judged, log_of

from atoll.diagnostics.errors import UsageError
from atoll_selftest.api import judge
from atoll_selftest.log import read_log

RESULTS = [
    f"{kind} device={device} place={place} address=0x{number:08X} expect={expect} found={expect}"
    for kind in ("march", "read", "write")
    for number, (device, place, expect) in enumerate(
        [("cpu", "shared", "works"), ("npu", "private", "refused"), ("npu", "shared", "works")]
    )
]
WHOLE = log_of(RESULTS)
ABOUT = f"version=2 chip=lagoon tests={len(RESULTS)}"
SEEDS = 400


def test_a_whole_log_passes() -> None:
    found = judge(WHOLE, None)
    assert (found.passed, found.passed_tests, found.lost) == (True, len(RESULTS), ())


@pytest.mark.parametrize("share", [0.002, 0.01, 0.05])
def test_no_damage_is_a_fault_of_the_chip(share: float) -> None:
    count = lost = 0
    for seed in range(SEEDS):
        found = judged(damage(WHOLE.encode(), share, seed))
        if found is None:
            continue
        count += 1
        lost += bool(found.lost)
        assert found.findings == ()
        assert found.lost == found.missing
        assert all(f" {each.number} {each.kind} " in WHOLE for each in found.results)
        assert all(each.expect == each.found for each in found.results)
    assert lost
    assert share > 0.02 or count > SEEDS / 2


@pytest.mark.parametrize("share", [0.0, 0.01])
def test_what_did_not_pass_never_does(share: float) -> None:
    """A digit or a word that is damaged into another one is not taken for it."""
    failing = [result.replace("found=works", "found=wrong") for result in RESULTS]
    whole = log_of(failing, failed=6).encode()
    for seed in range(SEEDS if share else 1):
        found = judged(damage(whole, share, seed))
        assert found is None or not found.passed
        assert {each.found for each in (found.results if found else ())} <= {"wrong", "refused"}


@pytest.mark.parametrize("count", [0, 1, 5])
def test_where_a_board_stopped(count: int) -> None:
    lines = WHOLE.splitlines(keepends=True)[: count + 1]
    [found] = judge("".join(lines), None).findings
    assert found.message.startswith(f"the log ends after test {count} of {len(RESULTS)}: ")
    for seed in range(SEEDS):
        text = lines[0] + damage("".join(lines[1:]).encode(), 0.01, seed).decode(errors="replace")
        for each in judge(text + "\n", None).findings:
            assert each.message == found.message


@pytest.mark.parametrize(
    ("was", "becomes", "lost"),
    [
        ("selftest 3 ", "selfXest 3 ", (3,)),
        ("\nselftest 3 ", "selftest 3 ", ()),
        ("\nselftest 3 ", "xselftest 3 ", ()),
        ("selftest begin", "selftest begn", ()),
        ("selftest end", "elftest end", ()),
        ("\nselftest 4 ", "\nselftest 5 ", (4,)),
    ],
)
def test_what_is_whole_counts(was: str, becomes: str, lost: tuple[int, ...]) -> None:
    assert WHOLE.count(was) == 1
    found = judge(WHOLE.replace(was, becomes), None)
    assert (found.lost, found.missing, found.findings) == (lost, lost, ())
    assert found.passed is not bool(lost)
    assert ("run the self-test again" in found.text()) is bool(lost)


def test_what_follows_a_whole_line_is_looked_at() -> None:
    """A line whose beginning and the line end before it are lost is damaged, not missing."""
    begun = WHOLE.partition("selftest end")[0].replace("\nselftest 9 ", "self 9 ")
    found = judge(begun, None)
    assert (found.lost, found.findings) == ((9,), ())


def test_a_run_whose_first_line_is_lost_is_none_of_the_run_before() -> None:
    again = "".join(WHOLE.splitlines(keepends=True)[1:4])
    with pytest.raises(UsageError, match="neither the first nor the last line"):
        read_log(WHOLE + again, "it")
    begun = "".join(WHOLE.splitlines(keepends=True)[:5])
    assert list(read_log(begun + WHOLE.replace("begin", "bein"), "it").results) == [*range(1, 10)]
    with pytest.raises(UsageError, match="neither the first nor the last line"):
        read_log(begun + again, "it")


@pytest.mark.parametrize("version", "123")
def test_a_log_without_a_whole_line(version: str) -> None:
    """A log with checks of which all are damaged is not taken for one without."""
    about = f"selftest begin {ABOUT.replace('=2', f'={version}')} crc=0x12345678"
    with pytest.raises(UsageError, match="neither the first nor the last line"):
        read_log(f"{about}\nselftest 1 {RESULTS[0]} crc=0x00000000\n", "it")


def test_a_log_of_a_version_to_come() -> None:
    with pytest.raises(UsageError, match="of version 3, not 2"):
        read_log(checked("selftest begin version=3 chip=a tests=1"), "it")


def test_logs_without_checks_are_read() -> None:
    old = re.sub(" crc=0x.{8}", "", WHOLE).replace("version=2", "version=1")
    found = judge(old, None)
    assert (found.passed, found.lost, found.to_json()["lost"]) == (True, None, None)
    [missing] = judge(old.replace("selftest 3 ", "sXlftest 3 "), None).findings
    assert missing.message == "the log lacks 1 lines, the first of test 3"
