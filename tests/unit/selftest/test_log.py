# SPDX-License-Identifier: Apache-2.0
"""The reader of a self-test's log takes it out of whatever a UART gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atoll.diagnostics.errors import UsageError
from atoll.resolve import load_soc
from atoll_selftest.api import judge
from atoll_selftest.log import read_log
from atoll_selftest.verdict import findings

BEGIN = "selftest begin version=1 chip=lagoon tests=2"
FIRST = "selftest 1 read device=cpu place=shared address=0x10 tag=0x7 expect=works found=works"
SECOND = "selftest 2 known device=npu operator=conv_2d expect=works found=wrong"
WHOLE = "\n".join((BEGIN, FIRST, SECOND, "selftest end failed=1"))


def test_a_whole_log() -> None:
    log = read_log(WHOLE, "it")
    assert (log.chip, log.count, log.ended, log.missing) == ("lagoon", 2, True, ())
    first, second = log.results.values()
    assert (first.kind, first.device, first.place, first.passed) == ("read", "cpu", "shared", True)
    assert (first.value("tag"), first.value("found"), first.value("no")) == (7, None, None)
    assert (second.kind, second.place, second.passed) == ("known", "", False)


def test_times_line_ends_and_other_text_are_left_out() -> None:
    lines = [f"[ 12.{n:03}] {line}" for n, line in enumerate(WHOLE.splitlines())]
    noisy = "\r\n".join(
        ("boot\x00\ufffd", *lines[:2], "firewall: npu may not read 0x0", *lines[2:])
    )
    assert read_log(noisy, "it").results == read_log(WHOLE, "it").results


def test_a_finding_names_the_line_of_its_device() -> None:
    chip = load_soc("lagoon")
    (found,) = judge(WHOLE, chip).findings
    assert (found.devices, found.at) == (("npu",), chip.first_setting("devices.npu."))


def test_the_last_of_several_counts() -> None:
    log = read_log(f"{WHOLE}\n{BEGIN}\n{FIRST}\n", "it")
    assert (list(log.results), log.missing, log.ended) == ([1], (2,), False)


@pytest.mark.parametrize(
    "text",
    ["", "hello\n", FIRST, "selftest begin chip=a tests=3", "selftest begin version=1 tests=x"],
)
def test_what_is_no_self_test_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_log(text, "it")
    assert refused.value.faults[0].code == "E132"


@pytest.mark.parametrize(
    "torn",
    [
        "selftest 1 read device=cpu place=shared expect=works fou",
        "selftest 1 read device=cpu place=shared found=works",
        "selftest 1 rad device=cpu place=shared expect=works found=works",
        "selftest 9 read device=cpu place=shared expect=works found=works",
        "selftest 1 read place=shared expect=works found=works",
    ],
)
def test_a_torn_line_is_missing(torn: str) -> None:
    log = read_log("\n".join((BEGIN, torn, SECOND, "selftest end failed=1")), "it")
    assert log.missing == (1,)
    assert findings(log)[0].what == "the log lacks 1 lines, the first of test 1"


@given(
    st.lists(
        st.sampled_from(
            [*WHOLE.splitlines(), "selftest stopped: no", "selftest silent device=dsp", "\x00\xff"]
        ),
        max_size=12,
    ),
    st.integers(0, 400),
    st.text(max_size=8),
)
def test_any_log_is_judged_or_refused(lines: list[str], at: int, put: str) -> None:
    text = "\n".join(lines)
    try:
        log = read_log(text[:at] + put + text[at:], "it")
    except UsageError:
        return
    told = findings(log)
    failed = [result for result in log.results.values() if not result.passed]
    assert told or not (failed or log.missing), "what failed is told"
