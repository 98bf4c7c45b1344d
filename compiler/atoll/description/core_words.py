# SPDX-License-Identifier: Apache-2.0
"""Loader, regions, stacks, limits and targets of a core, from words of a description elsewhere."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from atoll.description.devices import CodeTarget, CoreLimits, Loader, Span, Stack
from atoll.description.fields import ChipName
from atoll.description.tree import plain
from atoll.description.yaml_text import parse_yaml
from atoll.diagnostics.errors import DescriptionError

_WORDS = re.compile(r"[\w{}:, .-]{2,2000}", re.ASCII)
_SPAN = TypeAdapter(Span)
_STACK = TypeAdapter(Stack)
_LIMITS = TypeAdapter(CoreLimits)
_TARGETS: TypeAdapter[dict[str, CodeTarget]] = TypeAdapter(dict[ChipName, CodeTarget])
_LOADER: TypeAdapter[Loader] = TypeAdapter(Loader)


def loader_of(said: str) -> str:
    """Return a loader that a description can name, "" for anything else."""
    return str(_valid(_LOADER, said) or "")


def span_of(said: str) -> Span | None:
    """Return a region of code or data, None if there is none."""
    found: Span | None = _valid(_SPAN, _read(said))
    return found


def stack_of(said: str) -> Stack | None:
    """Return the stacks that a file speaks of, None if it speaks of none."""
    found: Stack | None = _valid(_STACK, _read(said))
    return found


def limits_of(said: str) -> CoreLimits | None:
    """Return the limits of stacks that a file speaks of, None if it speaks of none."""
    found: CoreLimits | None = _valid(_LIMITS, _read(said))
    return found


def targets_of(said: str) -> Mapping[str, CodeTarget]:
    """Return the targets that a file speaks of."""
    return _valid(_TARGETS, _read(said)) or {}


def _read(said: str) -> object:
    if not _WORDS.fullmatch(said):
        return None
    try:
        return plain(parse_yaml(said, Path()))
    except DescriptionError:
        return None


def _valid(adapter: TypeAdapter[Any], said: object) -> Any:
    try:
        return adapter.validate_python(said)
    except ValidationError:
        return None
