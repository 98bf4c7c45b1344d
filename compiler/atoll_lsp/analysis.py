# SPDX-License-Identifier: Apache-2.0
"""What the command line would say of a file, with the texts of open files in place of the disk's.

Each file is judged as its kind is: a chip as `atoll check` does, a part or a build file as the
commands that read it.
"""

import os
import re
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from atoll.api.chips import Soc, SocTables, load_soc
from atoll.description.accelerator_files import load_accelerator
from atoll.description.build import Build, requests_from
from atoll.description.core_files import load_core
from atoll.description.faults import Faults
from atoll.description.function_unit_files import load_function_unit
from atoll.description.layers import MAX_LAYERS, read_layers
from atoll.description.loader import Description
from atoll.description.share import find_soc
from atoll.description.spelling import speller, spellings
from atoll.description.text_places import TextPlaces, text_places
from atoll.description.tree import Node
from atoll.description.yaml_text import is_too_large, read_text, read_yaml
from atoll.diagnostics.errors import AtollError, Fault, SourceLoc
from atoll.diagnostics.open_texts import OPEN_TEXTS
from atoll.records import dataclass

Kind = Literal["soc", "core", "accelerator", "function_unit", "build"]
Texts = Mapping[Path, str]

_TOP = re.compile(r"^(?:\{\s*)?[\"']?([A-Za-z_]\w*)[\"']?[ \t]*:(?=\s|$)", re.MULTILINE)
_COMMENT = re.compile(r"^[^\S\n]*#.*$", re.MULTILINE)
_PARTS: tuple[Kind, ...] = ("soc", "core", "accelerator", "function_unit")
_OF_A_CHIP = frozenset({"devices", "memories", "pools", "extends", "host"})
_OF_A_BUILD = frozenset(Build.model_fields) - {"version"}


def kind_of(text: str) -> Kind | None:
    """Tell what a text describes by the keys that begin its lines; None if it is not Atoll's.

    A file of comments alone becomes a chip.
    """
    keys = _TOP.findall(text)
    named = next((kind for kind in _PARTS if kind in keys), None)
    if named or not _OF_A_CHIP.isdisjoint(keys) or not _COMMENT.sub("", text).strip():
        return named or "soc"
    strange = [key for key in keys if key not in _OF_A_BUILD and key != "version"]
    return "build" if len(strange) < len(_OF_A_BUILD.intersection(keys)) else None


@dataclass(frozen=True)
class Analysis:
    """What is known of one state of a file.

    Attributes:
        text: of the file.
        kind: what it describes.
        faults: what is wrong, as the command line says it.
        files: all that it is made of, itself first, by absolute path.
        root: the description with all that it extends, None if one of them is no YAML.
        soc: the chip; None if there is none.
    """

    text: str
    kind: Kind
    faults: tuple[Fault, ...]
    files: tuple[Path, ...]
    root: Node | None
    soc: Soc | None = None

    @property
    def description(self) -> Description | None:
        """What the files of the chip say; None if there is no chip."""
        return self.soc._resolved.source if self.soc else None

    @cached_property
    def tables(self) -> SocTables | None:
        """What `atoll explain` prints of the chip."""
        return self.soc.explain() if self.soc else None

    @cached_property
    def layers(self) -> Mapping[str, str]:
        """The layer that set each value, by dotted key."""
        rows = self.tables.rows("layers") if self.tables else []
        return {str(row["key"]): str(row["layer"]) for row in rows}


def analyse(path: Path, texts: Texts) -> Analysis | None:
    """Judge the file at `path`, an absolute path, with `texts` in the place of files on disk.

    None is returned for what is no description of Atoll's.
    """
    token = OPEN_TEXTS.set(texts)
    try:
        return _analyse(path, texts[path])
    finally:
        OPEN_TEXTS.reset(token)


def _analyse(path: Path, text: str) -> Analysis | None:
    kind = kind_of(text)
    if kind is None:
        return None
    if kind != "soc":
        faults = _faults(lambda: _LOADERS[kind](path))
        return Analysis(text, kind, faults, (path,), _read(lambda: read_yaml(path)))
    chip: list[Soc] = []
    faults = _faults(lambda: chip.append(_load_and_check(path, chip)))
    root = _read(lambda: read_layers(path, Faults()))
    soc = chip[0] if chip else None
    return Analysis(text, kind, faults, _files(path, soc), root, soc)


def _load_and_check(path: Path, chip: list[Soc]) -> Soc:
    """Load and check a chip; what is loaded is in `chip` even if the check refuses it."""
    try:
        chip.append(load_soc(path))
        chip[0].check()
    except AtollError as error:
        raise error.reword(speller(spellings(path))) from error
    return chip[0]


def _build(path: Path) -> object:
    return requests_from(read_yaml(path))


_LOADERS: Mapping[Kind, Callable[[Path], object]] = {
    "core": lambda path: load_core(path, None),
    "accelerator": lambda path: load_accelerator(path, None),
    "function_unit": lambda path: load_function_unit(path, None),
    "build": _build,
}


def _faults(work: Callable[[], object]) -> tuple[Fault, ...]:
    try:
        work()
    except AtollError as error:
        return error.faults
    return ()


def _read(work: Callable[[], Node]) -> Node | None:
    try:
        return work()
    except AtollError:
        return None


def _files(path: Path, soc: Soc | None) -> tuple[Path, ...]:
    layers = layers_of(path, OPEN_TEXTS.get())
    if soc is None or (said := soc._resolved.source) is None:
        return layers
    parts = [each.path for each in said.accelerators.values()]
    parts += [each.path for each in said.cores.values()]
    parts += [each.path for each in said.function_units.values()]
    return tuple(dict.fromkeys((*layers, *map(normal, parts))))


def layers_of(path: Path, texts: Texts) -> tuple[Path, ...]:
    """Return the files of a chip by absolute path, its own first, as far as they can be read."""
    found: dict[Path, None] = {}
    while path not in found and len(found) < MAX_LAYERS:
        found[path] = None
        places = places_in(path, texts)
        base = places and places.entries.get(("extends",))
        if not base or not base.text:
            break
        try:
            path = normal(find_soc(base.text, path.parent))
        except AtollError:
            break
    return tuple(found)


def places_in(path: Path, texts: Texts) -> TextPlaces | None:
    """Return the places of a file's keys and values, None if it is no YAML or too large."""
    text = text_of(path, texts)
    return None if text is None or is_too_large(text) else _places(text)


def text_of(path: Path, texts: Texts) -> str | None:
    """Return the text of a file as it is in the editor, else on disk; None if that is refused."""
    if path in texts:
        return texts[path]
    try:
        return read_text(path)
    except AtollError:
        return None


_places = lru_cache(maxsize=256)(text_places)


def absolute(at: SourceLoc) -> Path:
    """Return the file of a place by absolute path."""
    return normal(at.path)


def normal(path: Path) -> Path:
    """Return a path as the texts of open files are found by it."""
    return Path(os.path.normpath(path.absolute()))
