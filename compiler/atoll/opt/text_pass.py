# SPDX-License-Identifier: Apache-2.0
"""A pass that runs on text: what it takes and makes, and its options."""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from atoll.description.build import BuildRequests
from atoll.ir.graph import Graph
from atoll.ir.tir import IRModule
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc

Program = Graph | IRModule


class Kind(StrEnum):
    """What a text holds."""

    GRAPH = "graph"
    MODULE = "module"


class Chip(StrEnum):
    """Whether a pass needs a chip."""

    NONE = "none"
    OPTIONAL = "optional"
    NEEDED = "needed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PassOption:
    """An option of a pass.

    Attributes:
        default: its value where it is not given; None if it has to be.
        read: makes the value of its text; a ValueError says what is wanted.
    """

    name: str
    default: Any
    read: Callable[[str], Any]
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a pass is given beside the program: a chip, build options, and its own options."""

    soc: ResolvedSoc | None = None
    asked: BuildRequests = field(default_factory=BuildRequests)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def chip(self) -> ResolvedSoc:
        """The chip, for passes that need one."""
        assert self.soc is not None
        return self.soc


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPass:
    """One pass.

    Attributes:
        summary: what it does, in one line.
        placed: it takes operators that have a device.
        run: does it; None if it needs what no text holds.
        lacks: what that is.
        stage: of ``--dump-after``, that first shows what such a pass makes.
        holds: raises if something must hold between the programs before and after, and does not.
    """

    name: str
    summary: str
    takes: Kind
    makes: Kind
    chip: Chip = Chip.NONE
    placed: bool = False
    options: tuple[PassOption, ...] = ()
    run: Callable[[Any, Given], Program] | None = None
    lacks: str = ""
    stage: str = ""
    holds: Callable[[Any, Any], None] = lambda before, after: None

    def as_json(self) -> dict[str, object]:
        """Return the pass for programs."""
        return {
            "name": self.name,
            "summary": self.summary,
            "takes": str(self.takes),
            "makes": str(self.makes),
            "chip": str(self.chip),
            "lacks": self.lacks,
            "options": [
                {"name": each.name, "help": each.help, "required": each.default is None}
                for each in self.options
            ],
        }


def words(text: str) -> tuple[str, ...]:
    """Read names with '+' between them."""
    return tuple(filter(None, text.split("+")))


def flag(text: str) -> bool:
    """Read true or false."""
    if text not in ("true", "false"):
        raise ValueError("true or false")
    return text == "true"


def count(text: str) -> int:
    """Read a number of bytes."""
    if not text.isdecimal():
        raise ValueError("a whole number")
    return int(text)


def counts(text: str) -> Mapping[str, int]:
    """Read numbers by name, such as ``conv_2d_0:900+add_1:40``."""
    pairs = [part.rpartition(":") for part in words(text)]
    if not pairs or not all(name and number.isdecimal() for name, _, number in pairs):
        raise ValueError("numbers by name, such as conv_2d_0:900+add_1:40")
    return {name: int(number) for name, _, number in pairs}
