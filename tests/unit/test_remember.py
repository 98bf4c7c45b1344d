# SPDX-License-Identifier: Apache-2.0
"""Results are kept by value, in bounded tables."""

from collections.abc import Callable, Hashable

from atoll.utils.remember import Alike, forget, remember


def _doubler(most: int) -> tuple[list[int], Callable[[int], list[int]]]:
    asked: list[int] = []

    def key(value: int) -> Hashable:
        return None if value < 0 else value

    @remember(key, most=most)
    def double(value: int) -> list[int]:
        asked.append(value)
        return [2 * value]

    return asked, double


def test_what_was_asked_is_not_asked_again() -> None:
    asked, double = _doubler(2)
    assert double(1) is double(1)
    assert asked == [1]


def test_the_first_result_makes_room() -> None:
    asked, double = _doubler(2)
    for value in (1, 2, 3, 2, 3, 1):
        assert double(value) == [2 * value]
    assert asked == [1, 2, 3, 1]


def test_without_a_key_nothing_is_kept() -> None:
    asked, double = _doubler(2)
    double(-1)
    double(-1)
    assert asked == [-1, -1]


def test_all_is_forgotten() -> None:
    asked, double = _doubler(2)
    double(1)
    forget()
    double(1)
    assert asked == [1, 1]


def test_values_without_a_hash_are_keys() -> None:
    one, same = ({"width": 4}, [1]), ({"width": 4}, [1])
    assert {Alike("chip", *one): 1}[Alike("chip", *same)] == 1
    assert Alike("chip", *one) != Alike("chip", {"width": 8}, [1])
    assert Alike("chip", *one) != Alike("other", *same)
