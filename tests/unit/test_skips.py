# SPDX-License-Identifier: Apache-2.0
"""A skip is counted, and is a failure where tools are promised."""

from pathlib import Path

import pytest
from tests.skips import EXPECTED, NO_SKIPS, is_expected, summary

pytest_plugins = ("pytester",)
ROOT = Path(__file__).parents[2]
SKIP = "import pytest\ndef test_it():\n    pytest.skip({!r})\n"
MODULES = {
    "test_tool": SKIP.format("dtc is not installed"),
    "test_module": "import pytest\npytest.importorskip('there_is_no_such_module')\n",
    "test_known": SKIP.format("ATOLL_FREERTOS names no kernel"),
    "test_wrong": "import pytest\n@pytest.mark.xfail\ndef test_it():\n    assert False\n",
}


def run(pytester: pytest.Pytester) -> pytest.RunResult:
    pytester.makepyfile(**MODULES)
    pytester.makeconftest(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\npytest_plugins = ('tests.skips',)\n"
    )
    return pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "--continue-on-collection-errors"
    )


def test_a_machine_without_tools_counts_them(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(NO_SKIPS, raising=False)
    result = run(pytester)
    assert result.ret == 0
    result.assert_outcomes(skipped=3, xfailed=1)
    result.stdout.fnmatch_lines(["3 skipped: *1 dtc is not installed*"])


def test_where_tools_are_promised_a_skip_fails(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NO_SKIPS, "1")
    result = run(pytester)
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*skipped, where nothing may be: dtc is not installed*"])
    result.stdout.fnmatch_lines(["*could not import 'there_is_no_such_module'*"])


def test_the_line_counts_reasons_the_most_frequent_first() -> None:
    assert summary(["a", "b", "b"]) == "3 skipped: 2 b; 1 a"
    assert summary([]) == "nothing skipped"


def test_expected_reasons_are_a_short_list() -> None:
    assert len(EXPECTED) <= 6
    assert is_expected("ZEPHYR_BASE names no Zephyr tree")
    assert not is_expected("qemu-system-arm is not installed")
