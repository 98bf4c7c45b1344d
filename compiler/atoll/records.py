# SPDX-License-Identifier: Apache-2.0
"""Dataclasses that are quick to define.

Before Python 3.13 the standard library compiles up to seven functions for each dataclass, one by
one, which took a quarter of `atoll plan`. `dataclass` here compiles the initialiser alone, when it
is first used; all other methods are shared, or closures. `fields`, `replace`, `asdict`, pickles and
type checkers see what they see of the standard one.
"""

import dataclasses
from abc import update_abstractmethods
from collections.abc import Callable, Iterator, Sequence
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, eq=True, frozen=False, kw_only=False, slots=False, **others):
        """Do what `dataclasses.dataclass` does; with `others`, by calling it."""
        options = {"eq": eq, "frozen": frozen, "kw_only": kw_only, "slots": slots}
        if others:
            return dataclasses.dataclass(cls, **options, **others)
        return _define(cls, **options) if cls else lambda it: _define(it, **options)


FIELDS, PARAMETERS = "__dataclass_fields__", "__dataclass_params__"
"""Where the standard library looks for them."""

Field = dataclasses.Field[Any]


class _Absent:
    """The default of a parameter whose value a factory makes."""

    def __repr__(self) -> str:
        return "<factory>"


_ABSENT = _Absent()


def _define(cls: type, *, eq: bool, frozen: bool, kw_only: bool, slots: bool) -> type:
    own = _own_fields(cls, kw_only)
    below = [vars(base).get(FIELDS, {}) for base in reversed(cls.__mro__[1:])]
    for name, each in vars(own)[FIELDS].items():
        if isinstance(vars(cls).get(name), dataclasses.Field):
            if each.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, each.default)
    parameters: Any = vars(own)[PARAMETERS]
    parameters.init, parameters.repr, parameters.eq, parameters.frozen = True, True, eq, frozen
    setattr(cls, PARAMETERS, parameters)
    setattr(cls, FIELDS, {n: f for each in (*below, vars(own)[FIELDS]) for n, f in each.items()})
    fields = dataclasses.fields(cls)
    if slots:
        cls = _with_slots(cls, [each.name for each in fields])
    for name, method in _methods(cls, fields, eq=eq, frozen=frozen, slots=slots):
        if name not in vars(cls) or (name == "__hash__" and vars(cls)[name] is None):
            setattr(cls, name, method)
    return update_abstractmethods(cls)


def _own_fields(cls: type, kw_only: bool) -> type:
    """Return a class that has as fields what the body of `cls` names."""
    annotations = get_annotations(cls)
    body: dict[str, Any] = {name: vars(cls)[name] for name in annotations if name in vars(cls)}
    body |= {
        "__annotations__": annotations,
        "__module__": cls.__module__,
        "__doc__": cls.__doc__ or " ",
    }
    return dataclasses.dataclass(
        type(cls.__name__, (), body), init=False, repr=False, eq=False, kw_only=kw_only
    )


def _with_slots(cls: type, names: Sequence[str]) -> type:
    """Return `cls` again, with slots for those fields that no base has slots for."""
    above = {name for base in cls.__mro__[1:-1] for name in vars(base).get("__slots__", ())}
    left_out = {"__dict__", "__weakref__", *names}
    body = {name: value for name, value in vars(cls).items() if name not in left_out}
    body["__slots__"] = tuple(name for name in names if name not in above)
    made: type = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _methods(
    cls: type, fields: Sequence[Field], *, eq: bool, frozen: bool, slots: bool
) -> Iterator[tuple[str, object]]:
    positional = [each for each in fields if each.init and not each.kw_only]
    yield "__match_args__", tuple(each.name for each in positional)
    yield "__init__", _Initialiser(cls, fields, positional, frozen)
    yield "__repr__", _repr
    if eq:
        compared = [each for each in fields if each.compare]
        hashed = [each for each in fields if (each.compare if each.hash is None else each.hash)]
        values = _getter([each.name for each in compared])
        kept = values if hashed == compared else _getter([each.name for each in hashed])

        def equal(self: object, other: object) -> object:
            if other.__class__ is not self.__class__:
                return NotImplemented
            return values(self) == values(other)

        def hash_(self: object) -> int:
            return hash(kept(self))

        yield "__eq__", equal
        yield "__hash__", hash_ if frozen else None
    if frozen:
        yield "__setattr__", _refuse_set
        yield "__delattr__", _refuse_delete
    if frozen and slots:
        yield "__getstate__", _state
        yield "__setstate__", _set_state


def _getter(names: Sequence[str]) -> Callable[[object], tuple[object, ...]]:
    """Return a function that returns the tuple of some attributes of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda _: ()
    only = attrgetter(names[0])
    return lambda it: (only(it),)


class _Initialiser:
    """The initialiser of a class until it is first used, or looked at."""

    def __init__(self, cls: type, *of: Any) -> None:
        self._cls, self._of = cls, of

    def __get__(self, instance: object, owner: type) -> Callable[..., None]:
        """Put the compiled one in this one's place."""
        made = _compile_initialiser(self._cls, *self._of)
        self._cls.__init__ = made  # type: ignore[misc]
        bound: Callable[..., None] = made.__get__(instance, owner)
        return bound


def _compile_initialiser(
    cls: type, fields: Sequence[Field], positional: Sequence[Field], frozen: bool
) -> FunctionType:
    keywords = [each for each in fields if each.init and each.kw_only]
    parameters = [_parameter(each) for each in (*positional, *keywords)]
    if keywords:
        parameters.insert(len(positional), "*")
    known: dict[str, Any] = {"_absent": _ABSENT, "_set": object.__setattr__}
    body = []
    for each in fields:
        known[f"_default_{each.name}"] = each.default
        known[f"_make_{each.name}"] = each.default_factory
        if value := _value(each):
            slot = getattr(cls, each.name, None) if frozen else None
            if isinstance(slot, MemberDescriptorType):
                known[f"_set_{each.name}"] = slot.__set__
                body.append(f"_set_{each.name}(self, {value})")
            elif frozen:
                body.append(f"_set(self, '{each.name}', {value})")
            else:
                body.append(f"self.{each.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    text = f"def __init__({', '.join(['self', *parameters])}):\n " + "\n ".join(body or ["pass"])
    exec(text, known)
    made: FunctionType = known.pop("__init__")
    made.__annotations__ = {each.name: each.type for each in fields if each.init} | {"return": None}
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return made


def _parameter(field: Field) -> str:
    if field.default is not dataclasses.MISSING:
        return f"{field.name}=_default_{field.name}"
    return field.name if field.default_factory is dataclasses.MISSING else f"{field.name}=_absent"


def _value(field: Field) -> str:
    """Return the expression that the initialiser assigns; "" if it leaves the field alone."""
    name = field.name
    if field.default_factory is not dataclasses.MISSING:
        return (
            f"_make_{name}() if {name} is _absent else {name}" if field.init else f"_make_{name}()"
        )
    if field.init:
        return name
    return "" if field.default is dataclasses.MISSING else f"_default_{name}"


@recursive_repr()
def _repr(self: Any) -> str:
    shown = [each.name for each in dataclasses.fields(self) if each.repr]
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{type(self).__qualname__}({values})"


def _refuse_set(self: object, name: str, value: object) -> None:
    if _is_kept(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_delete(self: object, name: str) -> None:
    if _is_kept(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_kept(self: object, name: str) -> bool:
    """Tell whether an attribute is frozen: not those of a subclass that is no dataclass."""
    return FIELDS in vars(type(self)) or name in getattr(self, FIELDS)


def _state(self: Any) -> list[object]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
