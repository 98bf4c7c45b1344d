# SPDX-License-Identifier: Apache-2.0
"""Quick dataclasses do what those of the standard library do."""

import copy
import dataclasses
import inspect
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from atoll import records

Make = Callable[..., Any]
T = TypeVar("T")

OPTIONS = [
    dict(zip(("frozen", "slots", "kw_only", "eq"), each, strict=True))
    for each in product((False, True), repeat=4)
]


def _point(make: Make, **options: bool) -> Any:
    class Point:
        """A point."""

        first: int
        unit: ClassVar[str] = "mm"
        second: float = field(default=1.5, compare=False)
        rest: list[int] = field(default_factory=list, repr=False, hash=False)
        _: dataclasses.KW_ONLY
        name: str = "here"
        made: int = field(default=7, init=False)

    Point.__qualname__ = "Point"
    return make(**options)(Point)


BOTH = [dataclasses.dataclass, records.dataclass]


def _said(what: Callable[[], object]) -> object:
    try:
        return what()
    except (TypeError, AttributeError) as fault:
        return type(fault), str(fault)


def _tried(cls: Any) -> list[object]:
    hand = inspect.signature(cls).parameters["first"].kind is inspect.Parameter.KEYWORD_ONLY
    one, same, other = (cls(first=each, rest=[3]) for each in (1, 1, 2))

    def set_name() -> None:
        one.name = "there"

    def delete_name() -> None:
        del one.name

    def set_foreign() -> None:
        same.foreign = 1

    return [
        hand or cls(4, 2.5, [1], name="there"),
        _said(lambda: cls(1, 2, 3, 4, 5)),
        _said(lambda: cls(made=1)),
        [one == same, one == other, one == "other"],
        _said(lambda: hash(one) == hash(same)),
        _said(lambda: hash(one) == hash((1, "here", 7))),
        repr(other),
        [(each.name, each.type, each.kw_only, each.init) for each in dataclasses.fields(cls)],
        inspect.signature(cls),
        cls.__match_args__,
        cls.__init__.__qualname__,
        dataclasses.asdict(one),
        dataclasses.astuple(dataclasses.replace(one, first=9)),
        dataclasses.astuple(copy.deepcopy(one)),
        one.rest is not same.rest,
        _said(set_name),
        _said(set_foreign) is None,
        _said(delete_name),
        hasattr(cls, "__slots__") and cls.__slots__,
        hasattr(one, "__dict__"),
        cls.unit,
        cls.__doc__,
        _said(lambda: cls.second),
        _said(lambda: cls.rest),
        {name: getattr(cls.__dataclass_params__, name) for name in ("eq", "frozen", "init")},
    ]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_dataclass_is_that_of_the_standard_library(options: dict[str, bool]) -> None:
    theirs, ours = (_tried(_point(make, **options)) for make in BOTH)
    for here, there in zip(ours, theirs, strict=True):
        assert repr(here) == repr(there)


@dataclasses.dataclass(frozen=True)
class Theirs:
    first: int


@records.dataclass(frozen=True, slots=True, kw_only=True)
class Ours(Generic[T]):
    first: T
    second: tuple[int, ...] = ()


@records.dataclass(frozen=True, slots=True, kw_only=True)
class Longer(Ours[int]):
    third: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "second", (*self.second, self.third))


@records.dataclass(frozen=True)
class Behind(Theirs):
    second: int = 2

    @cached_property
    def total(self) -> int:
        return self.first + self.second


@dataclasses.dataclass(frozen=True)
class Before(Ours[int]):
    third: int = 3


class Plain(Behind):
    def __init__(self) -> None:
        super().__init__(5)
        self.own = 1


def test_classes_of_both_kinds_derive_from_each_other() -> None:
    assert Longer(first=1, second=(2,)) == Longer(first=1, second=(2,))
    assert Longer(first=1).second == (3,)
    assert Longer(first=1) != Ours(first=1, second=(3,))
    assert vars(Longer)["__slots__"] == ("third",)
    assert not hasattr(Longer(first=1), "__dict__")
    assert Before(first=1).third == 3
    assert Behind(1).total == 3
    assert Plain().own == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        Plain().first = 3  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        Before(first=1).third = 4  # type: ignore[misc]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_frozen_values_are_pickled(protocol: int) -> None:
    for value in (Longer(first=4), Behind(1), Before(first=1)):
        assert pickle.loads(pickle.dumps(value, protocol)) == value


@records.dataclass(frozen=True, slots=True, eq=True)
class Own:
    value: float

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __hash__(self) -> int:
        return 1

    def __repr__(self) -> str:
        return "own"


def test_methods_of_the_class_itself_stay() -> None:
    assert Own(1) == Own(2)
    assert hash(Own(1)) == 1
    assert repr(Own(1)) == "own"


def test_values_that_differ_from_themselves_are_compared_as_tuples_are() -> None:
    class One:
        value: float

    for make in BOTH:
        cls: Any = make(frozen=True)(One)
        nan = float("nan")
        assert cls(nan) == cls(nan)


def test_a_dataclass_may_have_abstract_methods() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Base(ABC):
        first: int

        @abstractmethod
        def answer(self) -> int: ...

    @records.dataclass(frozen=True, slots=True)
    class Made(Base):
        def answer(self) -> int:
            return self.first

    assert Made(3).answer() == 3
    with pytest.raises(TypeError, match="abstract"):
        Base(3)  # type: ignore[abstract]


def test_a_value_in_itself_is_shown() -> None:
    @records.dataclass
    class Ring:
        inner: Any = None

    ring = Ring()
    ring.inner = ring
    assert repr(ring).endswith("Ring(inner=...)")


def test_mutable_defaults_are_refused() -> None:
    class Wrong:
        values: list[int] = []  # noqa: RUF012

    with pytest.raises(ValueError, match="mutable default"):
        records.dataclass(Wrong)


def test_an_order_is_that_of_the_standard_library() -> None:
    @records.dataclass(order=True)
    class Version:
        major: int

    assert Version(1) < Version(2)
