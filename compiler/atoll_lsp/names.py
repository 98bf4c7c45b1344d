# SPDX-License-Identifier: Apache-2.0
"""Names of a chip in its files: where each is described, and where it is used."""

import os
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from atoll.description.accelerator_files import find_accelerator
from atoll.description.core_files import find_core
from atoll.description.identifiers import identifier
from atoll.description.share import find_soc
from atoll.description.text_places import Place, TextPlaces, canonical_key
from atoll.description.tree import Key
from atoll.diagnostics.errors import AtollError
from atoll.records import dataclass
from atoll_lsp.analysis import Texts, kind_of, layers_of, normal, places_in, text_of

TABLES = ("devices", "memories", "pools")
_FILES = ("extends", "core", "accelerator", "engine", "function_unit")
_MOST_FILES = 2000
_SKIPPED = frozenset({"node_modules", "build", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Name:
    """What a word of a description names.

    Attributes:
        table: such as ``pools``; ``threads.DEVICE`` of a thread.
        word: as an identifier.
    """

    table: str
    word: str


@dataclass(frozen=True, slots=True)
class Use:
    """A word of a file that is a name.

    Attributes:
        span: begin and end by the index of characters.
        describes: it is the key under which the thing is described.
    """

    path: Path
    span: tuple[int, int]
    name: Name
    describes: bool


def table_of_key(key: Key) -> str | None:
    """Return the table whose names the key at `key` is one of."""
    match key:
        case (table, _) if table in TABLES:
            return table
        case (table, _, "views", _) if table in TABLES:
            return "devices"
        case ("pools", _, "reach", _):
            return "devices"
        case ("devices", core, "stack" | "limits", "threads", _):
            return f"threads.{identifier(core)}"
    return None


def table_of_value(key: Key) -> str | None:
    """Return the table whose names the value at `key` is one of."""
    match key:
        case ("host",) | ("default_device",):
            return "devices"
        case ("devices" | "pools", *_, "memory") | ("memories", _, "alias_of"):
            return "memories"
        case ("devices", _, "moves", _, _):
            return "memories"
        case ("devices", core, "stack", "runs"):
            return f"threads.{identifier(core)}"
    return None


def uses_in(path: Path, places: TextPlaces) -> Iterator[Use]:
    """Yield all names in a file of a chip."""
    for key, place in places.entries.items():
        if place.name and (table := table_of_key(key)):
            describes = len(key) == 2 or key[2:4] == ("stack", "threads")
            yield Use(path, place.name, Name(table, identifier(key[-1])), describes)
        if place.text and (table := table_of_value(key)):
            span = place.begin, place.end
            yield Use(path, span, Name(table, identifier(place.text)), describes=False)


def name_at(path: Path, places: TextPlaces, index: int) -> Use | None:
    """Return the name at an index of a file."""
    here = (use for use in uses_in(path, places) if use.span[0] <= index <= use.span[1])
    return next(here, None)


def definition_of(path: Path, index: int, texts: Texts) -> tuple[Path, tuple[int, int]] | None:
    """Return where what is named at an index is described first, by file and span."""
    places = places_in(path, texts)
    found = places.at(index) if places else None
    if places is None or found is None:
        return None
    key, place, is_key = found
    if not is_key and (file := _file_named(path, key, place, texts)):
        return file, (0, 0)
    if use := name_at(path, places, index):
        first = first_description(use.name, path, texts)
        return (first.path, first.span) if first else None
    for layer in reversed(layers_of(path, texts)):
        below = places_in(layer, texts)
        entry = below.find(key) if below else None
        if entry and entry.name:
            return layer, entry.name
    return None


def first_description(name: Name, path: Path, texts: Texts) -> Use | None:
    """Return where a name of a chip is described in the lowest of its files."""
    for layer in reversed(layers_of(path, texts)):
        for use in _uses_of(name, layer, texts):
            if use.describes:
                return use
    return None


def uses_of(name: Name, path: Path, texts: Texts, folders: Iterable[Path]) -> list[Use]:
    """Return all uses of a name in the files that have it: the chip's, and those that extend one.

    Args:
        name: as `name_at` returns it.
        path: of the chip in which it is used.
        texts: of open files.
        folders: of the workspace.
    """
    first = first_description(name, path, texts)
    own = layers_of(path, texts)
    files = dict.fromkeys(own)
    if first:
        for each in chips_in(folders, texts):
            chain = layers_of(each, texts)
            if first.path in chain:
                files |= dict.fromkeys(chain)
    return [use for file in files for use in _uses_of(name, file, texts)]


def _uses_of(name: Name, path: Path, texts: Texts) -> Iterator[Use]:
    places = places_in(path, texts)
    yield from (use for use in uses_in(path, places) if use.name == name) if places else ()


def chips_in(folders: Iterable[Path], texts: Texts) -> list[Path]:
    """Return the files of a workspace that describe chips, those that are open first."""
    found = dict.fromkeys(texts)
    for folder in folders:
        for path in _files_below(folder):
            if len(found) >= _MOST_FILES:
                break
            found[normal(path)] = None
    return [path for path in found if kind_of(text_of(path, texts) or "-") == "soc"]


def _files_below(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each[0] != "." and each not in _SKIPPED]
        yield from (Path(root) / each for each in names if each.endswith((".yaml", ".yml")))


def _file_named(path: Path, key: Key, place: Place, texts: Texts) -> Path | None:
    """Return the file that a value names: of a chip, a core, an accelerator or a function unit."""
    word, what = place.text, canonical_key(key)[-1] if key else ""
    if not word or what not in _FILES or (what != "extends" and key[0] != "devices"):
        return None
    try:
        match what:
            case "extends":
                file = find_soc(word, path.parent)
            case "core":
                file = find_core(word, key[1], path.parent, None)
            case "function_unit":
                file = path.parent / word
            case _:
                file = find_accelerator(word, path.parent, None)
    except AtollError:
        return None
    return None if text_of(normal(file), texts) is None else normal(file)


def is_shipped(path: Path) -> bool:
    """Tell whether a file came with an installed Atoll, so that nobody edits it."""
    return path.is_relative_to(normal(Path(str(files("atoll")))))


def names_in(data: object) -> Mapping[str, tuple[str, ...]]:
    """Return the names of a chip by table, in the order of its description."""
    tables = data if isinstance(data, dict) else {}
    return {
        table: tuple(found) if isinstance(found := tables.get(table), dict) else ()
        for table in TABLES
    }
