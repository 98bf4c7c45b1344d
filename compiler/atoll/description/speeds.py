# SPDX-License-Identifier: Apache-2.0
"""Clocks and latencies of a description apart from all else: no rule depends on these."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from atoll.description.fields import Frequency, Latency
from atoll.description.layers import key_words
from atoll.description.loader import Description, override
from atoll.description.tree import Key, SourceMap
from atoll.description.yaml_text import scalar
from atoll.records import dataclass

CLOCK, LATENCY = ("devices", "clock"), ("memories", "read_latency")
"""Which key of which part of a chip."""

Speeds = dict[tuple[tuple[str, str], str], int]
"""Clocks and latencies by `CLOCK` or `LATENCY` and the name of the device or memory."""


@dataclass(frozen=True, slots=True)
class OtherSpeeds:
    """A description with other clocks and latencies, made for who looks at it.

    Attributes:
        first: the description with some.
        texts: ``key.path=value``, what is on top of it.
    """

    first: Description
    texts: tuple[str, ...]

    def description(self) -> Description:
        """Return the whole description."""
        soc = self.first.soc
        parts: dict[str, dict[str, Any]] = {
            "devices": dict(soc.devices),
            "memories": dict(soc.memories),
        }
        for ((section, key), name), value in speeds_of(self.texts).items():
            parts[section][name] = parts[section][name].model_copy(update={key: value})
        where = SourceMap(override(self.first.where.root, self.texts))
        return replace(self.first, where=where, soc=soc.model_copy(update=parts))


def part_speeds(texts: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return those of some overrides that set no speeds, and those that do.

    Where these set what is around a speed, it is not clear who wins: all are among the first.
    """
    others = tuple(text for text in texts if _speed(text) is None)
    speeds = tuple(text for text in texts if _speed(text))
    around = {_key(text) for text in others}
    if any(_key(text)[:length] in around for text in speeds for length in (1, 2, 3)):
        return tuple(texts), ()
    return others, speeds


def speeds_of(texts: Sequence[str]) -> Speeds:
    """Return the speeds that overrides set; the last one wins."""
    found = filter(None, map(_speed, texts))
    return {(key, name): value for key, name, value in found}


@lru_cache(maxsize=4096)
def _speed(text: str) -> tuple[tuple[str, str], str, int] | None:
    """Return which speed of what a text sets, and its value; None if it does nothing of that."""
    match _key(text):
        case (section, name, key) if (section, key) in (CLOCK, LATENCY):
            value = text.partition("=")[2].strip()
            try:
                return (section, key), name, _type_of(key).validate_python(scalar(value))
            except ValidationError:
                return None
    return None


@lru_cache(maxsize=4096)
def _key(text: str) -> Key:
    return key_words(text.partition("=")[0].strip())


@cache
def _type_of(key: str) -> TypeAdapter[int]:
    return TypeAdapter(Frequency if key == "clock" else Latency)
