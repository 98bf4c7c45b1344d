# SPDX-License-Identifier: Apache-2.0
"""docs/semantics.md: every number has a row, and what a row claims is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NUMBERS = {"D": 5, "S": 5, "P": 7, "C": 7, "K": 7, "W": 2, "M": 9, "A": 14}
ROW = re.compile(r"^\| ([A-Z]\d+) \|([^|]+)\|([^|]*)\|([^|]*)\|$", re.M)


def rows() -> dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return (rule, modules, tests) by number."""
    text = (ROOT / "docs" / "semantics.md").read_text()
    return {
        number: (rule, tuple(re.findall("`([^`]+)`", where)), tuple(re.findall("`([^`]+)`", tests)))
        for number, rule, where, tests in ROW.findall(text)
    }


def named_tests() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        found.update(re.findall(r"^(?:async )?def (test_\w+)", path.read_text(), re.M))
    return found


def numbers_of(test: str) -> list[str]:
    """Return the numbers in the name of a test, as in ``test_c6_k5_every_network``.

    U1 to U4 are the use cases of M7, not numbers of their own.
    """
    prefix = re.match(r"test_((?:(?:[a-z]\d|a1\d)_)+)", test)
    numbers = prefix[1].upper().strip("_").split("_") if prefix else []
    return [number for number in numbers if number[0] != "U"]


def test_every_number_has_a_row() -> None:
    wanted = [f"{letter}{n}" for letter, last in NUMBERS.items() for n in range(1, last + 1)]
    assert list(rows()) == wanted


@pytest.mark.parametrize("number", rows())
def test_a_claimed_number_has_modules_and_tests_named_after_it(number: str) -> None:
    _, modules, tests = rows()[number]
    assert bool(modules) == bool(tests)
    for module in modules:
        assert (ROOT / "compiler" / "atoll" / module).exists(), module
    known = named_tests()
    for test in tests:
        assert test in known, test
        assert number in numbers_of(test), test


def test_every_number_has_a_row_that_lists_a_test_and_pytest_selects_one() -> None:
    """`pytest -k k1` finds something for each number, and the table says what."""
    listed = {number: tests for number, (_, _, tests) in rows().items()}
    assert [number for number, tests in listed.items() if not tests] == []
    selected = {number for test in named_tests() for number in numbers_of(test)}
    assert [number for number in listed if number not in selected] == []


def test_tests_are_named_after_numbers_that_exist() -> None:
    used = {number for test in named_tests() for number in numbers_of(test)}
    assert used <= set(rows())
