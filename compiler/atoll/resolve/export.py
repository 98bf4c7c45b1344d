# SPDX-License-Identifier: Apache-2.0
"""Write a `ResolvedSoc` as JSON and read it back, equal in every field."""

import json
import re
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

from atoll.diagnostics.errors import UsageError
from atoll.resolve.soc import Cpu, Device, Dma, Engine, Master, Npu, ResolvedSoc, StackLimit

FORMAT = 1

_DEVICES = {"cpu": Cpu, "dsp": Cpu, "npu": Npu, "dma": Dma, "master": Master}
_LINE_AND_COLUMN = re.compile(r":[0-9]+:[0-9]+$")


def to_json(soc: ResolvedSoc) -> str:
    """Return `soc` as JSON text; equal chips give equal text."""
    return json.dumps({"format": FORMAT, "soc": _plain(soc)}, indent=2) + "\n"


def from_json(text: str) -> ResolvedSoc:
    """Return the chip that `to_json` wrote.

    Raises:
        UsageError: the text is not what `to_json` writes.
    """
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ValueError(f"format {document['format']!r}")
        soc: ResolvedSoc = _to_type(ResolvedSoc, document["soc"])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as fault:
        raise UsageError(
            "E009",
            f"this is no resolved chip of this Atoll: {fault}",
            remedy="build again with 'atoll build SOC MODEL'",
        ) from fault
    return soc


def without_positions(soc: ResolvedSoc) -> ResolvedSoc:
    """Return `soc` with files but no lines: the same for every order of the YAML's keys."""
    return replace(
        soc,
        devices=tuple(_device_without_positions(device) for device in soc.devices),
        memories=tuple(replace(memory, at=None) for memory in soc.memories),
        pools=tuple(replace(pool, at=None) for pool in soc.pools),
        layers={key: _file(layer) for key, layer in soc.layers.items()},
    )


def _device_without_positions(device: Device) -> Device:
    if isinstance(device, Engine):
        return replace(device, at=None, spec=replace(device.spec, places={}))
    if not isinstance(device, Cpu):
        return replace(device, at=None)
    return replace(
        device,
        at=None,
        max_stack_alloca_size=_limit(device.max_stack_alloca_size),
        max_stack_size=_limit(device.max_stack_size),
        thread_limits=tuple(
            replace(each, alloca=_limit(each.alloca), total=_limit(each.total))
            for each in device.thread_limits
        ),
    )


def _limit(limit: StackLimit) -> StackLimit:
    return replace(limit, layer=_file(limit.layer))


def _file(layer: str) -> str:
    return _LINE_AND_COLUMN.sub("", layer)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in _exported_fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Path):
        return value.as_posix()
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    return value


def _exported_fields(value: Any) -> list[Field[Any]]:
    """Return the fields that make two chips equal or not."""
    return [field for field in fields(value) if field.compare]


def _to_type(kind: Any, data: Any) -> Any:
    """Return `data` as a value of type `kind`; the inverse of `_plain`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType:
        bare = next(argument for argument in arguments if argument is not NoneType)
        return None if data is None else _to_type(bare, data)
    if origin is tuple:
        return _tuple(arguments, data)
    if origin is not None:
        return {str(key): _to_type(arguments[1], item) for key, item in data.items()}
    if kind is Device:
        kind = _DEVICES[data["kind"]]
    if is_dataclass(kind):
        hints, make = get_type_hints(kind), cast("Any", kind)
        names = [field.name for field in _exported_fields(make)]
        return make(**{name: _to_type(hints[name], data[name]) for name in names})
    if kind is Path or issubclass(kind, StrEnum):
        return kind(data)
    if kind is Fraction and type(data) in (int, str):
        return Fraction(data)
    if type(data) is not kind:
        raise TypeError(f"{data!r} is no {kind.__name__}")
    return data


def _tuple(arguments: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise TypeError(f"{data!r} is no list")
    if arguments[-1] is Ellipsis:
        return tuple(_to_type(arguments[0], item) for item in data)
    return tuple(_to_type(kind, item) for kind, item in zip(arguments, data, strict=True))
