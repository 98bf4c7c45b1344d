# SPDX-License-Identifier: Apache-2.0
"""Say in the user's terms what pydantic found wrong, and which key a misspelt one means."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from atoll.description.faults import in_order, nearest
from atoll.description.remedies import FEW
from atoll.description.shape import Shape, child_of, example_of, keys_of, kinds_of, may_be, shape_at
from atoll.description.tree import COMMAND_LINE, Plain, SourceMap, inside, plain
from atoll.diagnostics.edit import Edit
from atoll.diagnostics.errors import DescriptionError, Fault
from atoll.records import dataclass

Model = TypeVar("Model", bound=BaseModel)
Path = tuple[str, ...]

_DEVICES = "devices"
_KIND = "kind"
_MAX_QUOTE = 40

_EXPECTED = {
    "string_type": "text",
    "string_too_long": "text of at most {max_length} characters",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "a mapping, written as 'key: value' lines",
    "model_type": "a mapping, written as 'key: value' lines",
    "model_attributes_type": "a mapping, written as 'key: value' lines",
    "tuple_type": "a list, written as [a, b]",
    "too_short": "a collection of at least {min_length}",
    "too_long": "a collection of at most {max_length}",
    "literal_error": "{expected}",
    "union_tag_invalid": "one of {expected_tags}",
    "expected": "{expectation}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that a model does not allow.

    Attributes:
        path: of the key or value.
        fault: None if it only follows from another one.
        unknown: the key at `path` does not exist.
        meant: the key that it is taken for, if it is like one that is absent.
        bad_key: the key at `path` breaks the rules for names.
        kind_of_device: what the device is taken for if its kind is missing or unknown.
    """

    path: Path
    fault: Fault | None
    unknown: bool = False
    meant: str | None = None
    bad_key: bool = False
    kind_of_device: str | None = None


@lru_cache(maxsize=8)
def schema_of(model: type[BaseModel]) -> Shape:
    """Return the JSON schema of `model`; not to be written to."""
    return model.model_json_schema()


def validate(model: type[Model], where: SourceMap) -> Model:
    """Check the document of `where` against `model`.

    Raises:
        DescriptionError: with one fault for everything that `model` does not allow.
    """
    data = plain(where.root)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        found = problems(model, error, where, data)
        faults = dict.fromkeys(problem.fault for problem in found if problem.fault)
        raise DescriptionError.all(in_order(faults)) from error


def problems(
    model: type[BaseModel], error: ValidationError, where: SourceMap, data: Plain
) -> Iterator[Problem]:
    """Yield each problem of `data`, whose places are in `where`, in the user's terms."""
    details = error.errors(include_url=False)
    return _Reworded(schema_of(model), where, data).problems(details)


@dataclass(frozen=True, slots=True)
class Misspelt:
    """The keys of a document that do not exist, each with the absent one that it is like.

    Attributes:
        meant: by the path of a key that does not exist, if it is like an absent one.
    """

    schema: Shape
    data: Any
    meant: dict[Path, str]

    @classmethod
    def among(cls, found: Sequence[tuple[Path, Any]], schema: Shape, data: Any) -> "Misspelt":
        """Return what is misspelt among the errors that pydantic found."""
        misspelt = cls(schema, data, {})
        for path, detail in found:
            if detail["type"] != "extra_forbidden":
                continue
            free = [key for key in misspelt.alike(path) if (*path[:-1], key) not in misspelt.found]
            if close := get_close_matches(path[-1].lower(), free, n=1):
                misspelt.meant[path] = close[0]
        return misspelt

    @property
    def found(self) -> set[Path]:
        """The paths of the keys that are meant."""
        return {(*path[:-1], key) for path, key in self.meant.items()}

    def absent(self, path: Path) -> tuple[str, ...]:
        """Return the keys that the mapping around `path` could have and has not."""
        present = self._value(path[:-1])
        keys = keys_of(shape_at(self.schema, path[:-1], self.data))
        return tuple(key for key in keys if key not in present)

    def alike(self, path: Path) -> tuple[str, ...]:
        """Return those of the absent keys whose values have the form of the one at `path`."""
        shape = shape_at(self.schema, path[:-1], self.data)
        value = self._value(path[:-1]).get(path[-1])
        return tuple(
            key for key in self.absent(path) if may_be(child_of(shape, key), self.schema, value)
        )

    def kind_of(self, device: Path) -> str:
        """Return the kind that the keys of a device fit best."""
        entries, kinds = self._value(device), kinds_of(self.schema)
        written = entries.get(_KIND)
        close = get_close_matches(written.lower(), kinds, n=1) if isinstance(written, str) else ()
        return next(iter(close), max(kinds, key=lambda kind: len(entries.keys() & kinds[kind])))

    def word_for_kind(self, device: Path) -> str | None:
        """Return the key of a device that is like ``kind``, if it has such."""
        known = {key for keys in kinds_of(self.schema).values() for key in keys}
        strange = [key for key in self._value(device) if key not in known]
        return next(iter(get_close_matches(_KIND, strange, n=1)), None)

    def _value(self, path: Path) -> dict[str, Any]:
        value = self.data
        for name in path:
            value = inside(value, name)
        return value if isinstance(value, dict) else {}


class _Reworded:
    def __init__(self, schema: Shape, where: SourceMap, data: Plain) -> None:
        self._schema = schema
        self._where = where
        self._data = data

    def problems(self, details: Iterable[Any]) -> Iterator[Problem]:
        """Yield one problem for each error of pydantic that is no echo of another one.

        Keys that are the rest of a torn formula go with it when that is quoted.
        """
        found = [(self._path(detail["loc"]), detail) for detail in details]
        misspelt = Misspelt.among(found, self._schema, self._data)
        torn = {piece for path, _ in found for piece in self._pieces(path)}
        bad_names = {path[1] for path, _ in found if len(path) == 3 and path[-1] == "[key]"}
        for path, detail in found:
            written = path[:-1] if path[-1:] == ("[key]",) else path
            if written in torn:
                yield Problem(path=written, fault=None, unknown=True)
            elif not _is_echo(detail) and not (
                detail["type"] == "missing" and path in misspelt.found
            ):
                yield self._problem(path, detail, misspelt, bad_names)

    def _problem(self, path: Path, detail: Any, misspelt: Misspelt, bad: set[str]) -> Problem:
        kind = detail["type"]
        if path and path[-1] == "[key]" and kind == "literal_error":
            names = tuple(re.findall("'([^']+)'", detail["ctx"]["expected"]))
            path = path[:-1]
            return Problem(path=path, fault=self._unknown_key(path, names, names), unknown=True)
        if path and path[-1] == "[key]":
            again = len(path) > 3 and path[-2] in bad
            fault = None if again else self._bad_key(path[:-1], detail.get("ctx", {}))
            return Problem(path=path[:-1], fault=fault, bad_key=True)
        if kind == "extra_forbidden":
            meant = misspelt.meant.get(path)
            fault = self._unknown_key(path, misspelt.absent(path), misspelt.alike(path))
            return Problem(path=path, fault=fault, unknown=True, meant=meant)
        if kind == "union_tag_not_found":
            return self._without_kind((*path, "kind"), misspelt)
        if kind == "union_tag_invalid":
            tag = {**detail, "input": detail["ctx"]["tag"]}
            path = (*path, "kind")
            guess = misspelt.kind_of(path[:-1])
            return Problem(path=path, fault=self._bad_value(path, tag), kind_of_device=guess)
        if kind == "missing":
            return Problem(path=path, fault=self._missing_key(path))
        if path == ("version",):
            return Problem(path=path, fault=self._unknown_version(path, detail["input"]))
        named = isinstance(detail["input"], str) and detail["input"] in bad
        return Problem(path=path, fault=None if named else self._bad_value(path, detail))

    def _without_kind(self, path: Path, misspelt: Misspelt) -> Problem:
        written = misspelt.word_for_kind(path[:-1])
        if written is None:
            guess = misspelt.kind_of(path[:-1])
            return Problem(path=path, fault=self._missing_key(path), kind_of_device=guess)
        wrong = (*path[:-1], written)
        fault = self._unknown_key(wrong, ("kind",), ("kind",))
        return Problem(path=wrong, fault=fault, unknown=True, meant="kind")

    def _path(self, loc: tuple[int | str, ...]) -> Path:
        """Turn pydantic's place into a key path; it adds the kind of a device as a step."""
        names = tuple(map(str, loc))
        is_device = len(names) > 2 and names[0] == _DEVICES and names[2] != "[key]"
        return (*names[:2], *names[3:]) if is_device else names

    def _missing_key(self, path: Path) -> Fault:
        *parent, key = path
        shape = shape_at(self._schema, tuple(parent), self._data)
        example = "cpu" if key == "kind" and parent[:1] == [_DEVICES] else example_of(shape, key)
        entries = "its entries"
        if key == "isa" and self._where.is_set(*parent, "core"):
            example, entries = None, "an instruction set of its core"  # the example is another's
        return Fault(
            code="E010",
            message=f"{_name_path(tuple(parent))} has no '{key}'",
            at=self._where.key_at(*parent),
            remedy=f"add '{key}: {example}'" if example else f"add '{key}:' with {entries}",
            keys=(path,),
            fixes=((Edit(path, example),),) if example else (),
        )

    def _unknown_key(self, path: Path, absent: tuple[str, ...], alike: tuple[str, ...]) -> Fault:
        *parent, key = path
        close = get_close_matches(key.lower(), alike, n=1)
        gone = (Edit(path),)
        others = [(Edit(path, name=name),) for name in sorted(absent)] if len(absent) <= FEW else []
        return Fault(
            code="E011",
            message=f"{_name_path(tuple(parent))} has no key '{_clip(key)}'{self._layer(path)}",
            at=self._where.key_at(*path),
            remedy=nearest(key, alike)
            if close
            else ", or use one of ".join(filter(None, ("delete it", ", ".join(sorted(absent))))),
            keys=(path,),
            fixes=((Edit(path, name=close[0]),), gone) if close else (gone, *others),
        )

    def _bad_key(self, path: Path, context: dict[str, Any]) -> Fault:
        expectation = context.get("expectation", "a name")
        return Fault(
            code="E014",
            message=f"'{_clip(path[-1])}' in {_name_path(path[:-1])} must be {expectation}",
            at=self._where.key_at(*path),
            remedy="rename it here and where it is used",
            keys=(path,),
        )

    def _unknown_version(self, path: Path, value: object) -> Fault:
        return Fault(
            code="E015",
            message=f"version {_quote(value)} of the format is not known{self._layer(path)}",
            at=self._where.at(*path),
            remedy="write 'version: 1', the version that this Atoll reads",
            keys=(path,),
            fixes=((Edit(path, "1"),),),
        )

    def _bad_value(self, path: Path, detail: Any) -> Fault:
        kind = detail["type"]
        expected = _EXPECTED[kind].format(**detail.get("ctx", {})) if kind in _EXPECTED else None
        got = _quote(detail["input"])
        example = self._example(path)
        return Fault(
            code="E012",
            message=f"{_name_path(path)} must be {expected or detail['msg']}, not {got}"
            + self._layer(path),
            at=self._where.at(*path),
            remedy=self._instead(path, expected, example),
            keys=(path,),
            fixes=((Edit(path, example),),) if example else (),
        )

    def _example(self, path: Path) -> str | None:
        """Return a value for `path`; none if what is there need but be quoted."""
        if not path or self._pieces(path):
            return None
        return example_of(shape_at(self._schema, path[:-1], self._data), path[-1])

    def _instead(self, path: Path, expected: str | None, example: str | None) -> str:
        if pieces := self._pieces(path):
            whole = ", ".join((self._table(path)[path[-1]], *(each[-1] for each in pieces)))
            return f"quote it: write '{path[-1]}: \"{whole}\"'"
        if not path and "soc" in self._schema["properties"]:
            return "start from the output of 'atoll new NAME'"
        if example:
            return f"write '{path[-1]}: {example}', for example"
        return (
            f"give {_name_path(path)} such a value" if expected else f"correct {_name_path(path)}"
        )

    def _pieces(self, path: Path) -> tuple[Path, ...]:
        """Return the keys that are no keys but the rest of a formula, torn at its commas."""
        table = self._table(path)
        if not isinstance(whole := table.get(path[-1]) if path else None, str):
            return ()
        names, pieces = list(table), list[Path]()
        for name in names[names.index(path[-1]) + 1 :]:
            if table[name] is not None or whole.count("(") <= whole.count(")"):
                break
            whole += f", {name}"
            pieces.append((*path[:-1], name))
        return tuple(pieces)

    def _table(self, path: Path) -> dict[str, Any]:
        table: Any = self._data
        for step in path[:-1]:
            table = table.get(step) if isinstance(table, dict) else None
        return table if isinstance(table, dict) else {}

    def _layer(self, path: Path) -> str:
        return f" (from {COMMAND_LINE})" if self._where.layer(*path) == COMMAND_LINE else ""


def _is_echo(detail: Any) -> bool:
    """Tell whether a list is only too short because some of its entries are refused."""
    if detail["type"] != "too_short":
        return False
    least: int = detail["ctx"]["min_length"]
    return len(detail["input"]) >= least


def _name_path(path: Path) -> str:
    return f"'{_clip('.'.join(path))}'" if path else "the description"


def _clip(text: str) -> str:
    return text if len(text) <= _MAX_QUOTE else f"{text[:_MAX_QUOTE]}..."


def _quote(value: object) -> str:
    match value:
        case None:
            return "empty"
        case bool():
            return str(value).lower()
        case dict():
            return f"a mapping of {len(value)}"
        case list():
            return f"a list of {len(value)}"
        case str():
            return f"'{_clip(value)}'"
        case _:
            return _clip(str(value))
