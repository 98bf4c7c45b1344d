# SPDX-License-Identifier: Apache-2.0
"""Values that a description leaves to a human, who has to answer before it means a chip."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atoll.description.aliases import NO_ALIAS
from atoll.description.chip import Soc
from atoll.description.messages import schema_of
from atoll.description.shape import Shape, child_of, example_of, free_child, resolve_shape, shape_at
from atoll.description.tree import Key, Scalar, SourceMap, inside, plain
from atoll.description.yaml_text import parse_yaml
from atoll.diagnostics.edit import Edit
from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.records import dataclass

UNDECIDED = "undecided"
"""What stands for a value that nobody has decided; it can be no name."""


_ENTRIES = {"devices": "cpu", "memories": "sram", "pools": "sram", "reach": "cpu"}
"""What an entry could be called of a mapping whose names the user chooses."""

_CPU = {"kind": "cpu"}

_NAMED = re.compile(r"(?:one of|for example) (\S+?(?: [KMG]iB| [kM]?Hz)?)(?:,|;|\s|$)")
"""The first of the answers that a comment of `atoll import` has, for each key of the line."""

_OF_COMMENTS = {
    **dict.fromkeys(("core", "isa"), re.compile(r".*")),
    **dict.fromkeys(("origin",), re.compile(r"0x[0-9a-f_]+")),
    **dict.fromkeys(("offset", "size"), re.compile(r"[0-9]+(?: [KMG]?i?B)?")),
    "clock": re.compile(r"[0-9]+ [kM]?Hz"),
    "accelerator": re.compile(r"[a-z][a-z0-9_]*"),
    "macs": re.compile(r"[0-9]+"),
    "alias_of": re.compile(r"[a-z][a-z0-9_]*"),
}
"""What is an answer, by the keys whose answers `atoll import` writes behind them."""


@dataclass(frozen=True, slots=True)
class Question:
    """A key whose value is undecided.

    Attributes:
        key: path of the key.
        at: place of the value.
        asks: what the key means, a phrase; empty if its name says all.
        answers: the values that it can have; empty if they are too many to name.
        example: a value that it could have; empty if it has a default, or means nothing.
    """

    key: Key
    at: SourceLoc | None
    asks: str
    answers: tuple[str, ...]
    example: str

    @property
    def wants(self) -> str:
        """What to do, a phrase."""
        key = _list_key(self.key)
        if not self.example:
            return f"remove '{'.'.join(key)}'"
        if key != self.key:
            return f"set '{'.'.join(key)}' to {self.example}, for example"
        others = " or ".join(answer for answer in self.answers if answer != self.example)
        return f"write '{key[-1]}: {self.example}', {f'or {others}' if others else 'for example'}"

    @property
    def fault(self) -> Fault:
        """Why the description means no chip yet."""
        said = f": {self.asks.rstrip('.')}" if self.asks else ""
        message = f"'{'.'.join(self.key)}' is undecided{said}"
        edit = Edit(_list_key(self.key), self.example or None)
        return Fault(
            code="E137",
            message=message,
            at=self.at,
            remedy=self.wants,
            keys=(self.key,),
            fixes=((edit,),),
        )


def find_undecided(where: SourceMap, text: str | None = None) -> tuple[Question, ...]:
    """Return what a description leaves open, in the order of its keys.

    Args:
        where: the description.
        text: of its only file; without it each file that it is of is read.
    """
    scalars = ((key, entry.value) for key, entry in where.entries.items())
    places = tuple(
        (key, value.at)
        for key, value in scalars
        if isinstance(value, Scalar) and value.value == UNDECIDED
    )
    data: Any = plain(where.root) if places else None
    lines = None if text is None else text.splitlines()
    return tuple(_question(key, at, data, _line(at, lines)) for key, at in places)


def _line(at: SourceLoc | None, lines: Sequence[str] | None) -> str:
    if at is None or lines is None:
        return at.line_text if at else ""
    return lines[at.line - 1] if at.line <= len(lines) else ""


def questions_of(text: str, path: Path) -> tuple[Question, ...]:
    """Return what the description `text` leaves open, which is, or will be, in the file `path`.

    Raises:
        DescriptionError: it is no YAML.
    """
    return find_undecided(SourceMap(parse_yaml(text, path)), text)


def _list_key(key: Key) -> Key:
    """Return the key of the list that an item is in, or the key itself."""
    return key if not key[-1].isdigit() else _list_key(key[:-1])


def _question(key: Key, at: SourceLoc | None, data: Any, line: str) -> Question:
    *parents, name = _list_key(key)
    schema = schema_of(Soc)
    around = _mapping_shape(tuple(parents), data, schema)
    answers = tuple(map(str, resolve_shape(child_of(around, name), schema, _CPU).get("enum", ())))
    asks = str(around.get("properties", {}).get(name, {}).get("description", ""))
    example = _of_chip(name, data) or _of_comment(name, line)
    if name == "alias_of":
        example = example or _of_twin(key[-2], data)
    if key[0] == "pools" and "rw" in answers:
        example = _of_pool(key[1], data)
    example = example or _example(around, name, answers, schema)
    return Question(key, at, asks, answers, example)


def _of_pool(pool: str, data: Any) -> str:
    """Return what a device may do with a pool of a ROM; of another anything, which is empty."""
    memory = inside(inside(inside(data, "pools"), pool), "memory")
    kind = inside(inside(inside(data, "memories"), str(memory)), "kind")
    return "ro" if kind == "rom" else ""


def _of_twin(memory: str, data: Any) -> str:
    """Return the first memory of the same size and kind that is no alias itself, else 'none'."""
    memories = {name: it for name, it in data["memories"].items() if isinstance(it, dict)}
    own = memories[memory]
    return next(
        (
            name
            for name, it in memories.items()
            if name != memory
            and not it.get("alias_of")
            and all(it.get(key) == own.get(key) for key in ("size", "kind"))
        ),
        NO_ALIAS,
    )


def _of_chip(name: str, data: Any) -> str:
    """Return an answer out of the chip's own memories: a RAM, or from a ROM to a RAM."""
    memories = data.get("memories") if isinstance(data, dict) else None
    if not isinstance(memories, dict) or not memories:
        return ""
    rank = {"ram": 0, "rom": 2}
    names = sorted(memories, key=lambda each: rank.get(str(inside(memories[each], "kind")), 1))
    if name == "pools":
        return _first_pool(names[0], data)
    if name == "moves" and len(names) > 1:
        return f"[[{names[-1]}, {names[0]}]]"
    return names[0] if name == "memory" else ""


def _first_pool(memory: str, data: Any) -> str:
    """Return a pool in a memory that the first device reaches."""
    is_rom = inside(inside(data["memories"], memory), "kind") == "rom"
    role, access = ("constants", "ro") if is_rom else ("workspace", "rw")
    device = next(iter(inside(data, "devices") or ()), _ENTRIES["reach"])
    return f"{{{memory}: {{memory: {memory}, role: {role}, reach: {{{device}: {access}}}}}}}"


def _of_comment(name: str, line: str) -> str:
    is_answer = _OF_COMMENTS.get(name)
    found = _NAMED.findall(line.partition("#")[2]) if is_answer else ()
    return next((each for each in found if is_answer and is_answer.fullmatch(each)), "")


def _mapping_shape(path: Key, data: Any, schema: Shape) -> Shape:
    """Return what the mapping at `path` may hold; a device of no kind is taken for a core."""
    found = shape_at(schema, path, data)
    if found or not path:
        return found
    return resolve_shape(child_of(shape_at(schema, path[:-1], data), path[-1]), schema, _CPU)


def _example(around: Shape, name: str, answers: tuple[str, ...], schema: Shape) -> str:
    own = around.get("properties", {}).get(name, {})
    if found := example_of(around, name):
        return found
    if answers or "default" in own:
        default = own.get("default")
        return default if isinstance(default, str) else "".join(answers[:1])
    return _least_value(child_of(around, name), name, schema)


def _least_value(shape: Shape, name: str, schema: Shape) -> str:
    """Return the least value that `shape` allows; empty if it is no mapping and no choice."""
    shape = resolve_shape(shape, schema, _CPU)
    if found := shape.get("enum"):
        return str(found[0])
    child = free_child(shape)
    required = tuple(shape.get("required", ()))
    if child is not None and not required:
        return f"{{{_ENTRIES.get(name, name)}: {_least_value(child, '', schema)}}}"
    values = (f"{key}: {_example(shape, key, (), schema)}" for key in required)
    return f"{{{', '.join(values)}}}" if required else ""
