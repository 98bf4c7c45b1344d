# SPDX-License-Identifier: Apache-2.0
"""Load a chip: YAML files and overrides in, checked models with the place of every value out."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from atoll.description.accelerator_files import (
    AcceleratorDescription,
    find_accelerator,
    load_accelerator,
)
from atoll.description.chip import Soc
from atoll.description.core_files import CoreDescription, find_core, load_core
from atoll.description.devices import Cpu, Dma, Npu
from atoll.description.faults import Faults
from atoll.description.function_unit_files import FunctionUnitDescription, load_function_unit
from atoll.description.groups import expand_groups
from atoll.description.layers import apply_overrides, read_layers
from atoll.description.messages import schema_of
from atoll.description.partial import Gaps, read_model
from atoll.description.tree import Key, Node, SourceMap
from atoll.description.undecided import find_undecided
from atoll.description.yaml_text import read_text
from atoll.diagnostics.errors import DescriptionError, Fault, SourceLoc
from atoll.records import dataclass
from atoll.utils.remember import remember

Loaded = TypeVar("Loaded")
Load = Callable[[Path, SourceLoc | None], Loaded]
Found = tuple[Path, SourceLoc | None]
Finder = Callable[[str, str, Callable[[Path, SourceLoc | None], Path]], Callable[[], Found]]

PARTS_AT_HAND = 64
"""Descriptions of accelerators, cores and function units that a process reads once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A chip as its author wrote it.

    Attributes:
        soc: the checked model; references between its parts are not followed yet.
        accelerators: by the name of the device that is one; those that are broken are left out.
        cores: likewise.
        function_units: likewise, by the core that has one.
        where: the place of every key and value.
        gaps: where `soc` is not what was written.
        faults: what is wrong so far; a description with faults means no chip.
        folder: that paths of accelerators and cores are relative to where no file says so.
    """

    soc: Soc
    accelerators: Mapping[str, AcceleratorDescription]
    cores: Mapping[str, CoreDescription]
    where: SourceMap
    gaps: Gaps
    faults: tuple[Fault, ...]
    folder: Path = Path()
    function_units: Mapping[str, FunctionUnitDescription] = field(default_factory=dict)

    def values(self) -> Iterator[tuple[Key, object]]:
        """Yield every value with its key path, defaults included."""
        yield from _leaves(self.soc, ())


def read_description(
    path: Path, overrides: Sequence[str], faults: Faults, text: str | None = None
) -> Node:
    """Read the description at `path` with each ``key.path=value`` of `overrides` on top, unchecked.

    What is wrong with the text, and yet lets it be read, is added to `faults`. With `text`, that is
    the description, and `path` stands for it.

    Raises:
        DescriptionError: a file is no YAML.
        UsageError: an override is malformed or names an unknown key.
    """
    return override(read_layers(path, faults, text), overrides)


def override(root: Node, overrides: Sequence[str]) -> Node:
    """Return a description with each ``key.path=value`` of `overrides` on top.

    Raises:
        UsageError: an override is malformed or names an unknown key.
    """
    return apply_overrides(root, overrides, partial(schema_of, Soc)) if overrides else root


def describe(root: Node | SourceMap, folder: Path, faults: Faults) -> Description:
    """Check the description `root`, whose paths are relative to `folder`.

    Keys that are missing or unknown, ill-typed values, broken accelerators and cores are among
    the result's faults, so that resolution reports them with its own.

    Args:
        root: the merged layers, or where each of their values is.
        folder: counts where no file says so.
        faults: what is wrong so far; the result's faults begin with them.

    Raises:
        DescriptionError: nothing of it can be checked, or E137, something of it is undecided.
    """
    where = root if isinstance(root, SourceMap) else SourceMap(expand_groups(root))
    if open_questions := find_undecided(where):
        raise DescriptionError.all(question.fault for question in open_questions)
    read = read_model(Soc, where, faults)
    if (soc := read.model) is None:
        faults.raise_any()
    assert soc is not None, "it has no faults"
    accelerators, cores, units = load_parts(soc, read.where, read.gaps, folder, faults)
    return Description(
        soc=soc,
        accelerators=accelerators,
        cores=cores,
        function_units=units,
        where=read.where,
        gaps=read.gaps,
        faults=tuple(faults.found),
        folder=folder,
    )


def load_parts(
    soc: Soc, where: SourceMap, gaps: Gaps, folder: Path, faults: Faults
) -> tuple[
    Mapping[str, AcceleratorDescription],
    Mapping[str, CoreDescription],
    Mapping[str, FunctionUnitDescription],
]:
    """Return the accelerators, cores and function units of a chip's devices, by their names."""
    finder = partial(_file_finder, where, folder)
    return (
        _load_all(_accelerators(soc, gaps, finder), load_accelerator, faults),
        _load_all(_cores(soc, finder), load_core, faults),
        _load_all(_function_units(soc, finder), load_function_unit, faults),
    )


def _key_of(device: Npu | Dma) -> str:
    return "accelerator" if device.kind == "npu" else "engine"


def _accelerators(soc: Soc, gaps: Gaps, finder: Finder) -> Mapping[str, Callable[[], Found]]:
    return {
        name: finder(name, _key_of(device), partial(find_accelerator, device.accelerator))
        for name, device in soc.devices.items()
        if isinstance(device, (Npu, Dma)) and gaps.knows("devices", name, _key_of(device))
    }


def _cores(soc: Soc, finder: Finder) -> Mapping[str, Callable[[], Found]]:
    return {
        name: finder(name, "core", partial(find_core, device.core, name))
        for name, device in soc.devices.items()
        if isinstance(device, Cpu)
    }


def _function_units(soc: Soc, finder: Finder) -> Mapping[str, Callable[[], Found]]:
    def find(path: str, base: Path, _at: SourceLoc | None) -> Path:
        return base / path

    return {
        name: finder(name, "function_unit", partial(find, device.function_unit))
        for name, device in soc.devices.items()
        if isinstance(device, Cpu) and device.function_unit is not None
    }


def _file_finder(
    where: SourceMap,
    folder: Path,
    device: str,
    key: str,
    find: Callable[[Path, SourceLoc | None], Path],
) -> Callable[[], Found]:
    """Return what finds the file that a device names, whose path counts from where it says so."""
    at = where.at("devices", device, key)
    return lambda: (find(_base(at, folder), at), at)


def _base(at: SourceLoc | None, folder: Path) -> Path:
    """Return what a path is relative to that is written at `at`."""
    return at.path.parent if at else folder


def _load_all(
    named: Mapping[str, Callable[[], Found]], load: Load[Loaded], faults: Faults
) -> Mapping[str, Loaded]:
    """Load what each device names; what is broken is left out, and reported once."""
    loaded: dict[str, Loaded] = {}
    broken: set[Path] = set()
    for name, find in named.items():
        try:
            path, at = find()
            if path not in broken:
                broken.add(path)
                loaded[name] = _at_hand(load, path, at)
                broken.discard(path)
        except DescriptionError as error:
            faults.found |= dict.fromkeys(error.faults)
    return loaded


def _text(load: Load[object], path: Path, at: SourceLoc | None) -> Hashable:
    """Return what a description depends on, None where it names another file that says more."""
    text = read_text(path, at)
    return None if "systemrdl" in text else (load, path, at, text)


@remember(_text, most=PARTS_AT_HAND)
def _at_hand(load: Load[Loaded], path: Path, at: SourceLoc | None) -> Loaded:
    """Load a description; one that was loaded and says the same now is at hand."""
    return load(path, at)


def _leaves(value: Any, key: Key) -> Iterator[tuple[Key, object]]:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _leaves(getattr(value, name), (*key, name))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, (*key, name))
    else:
        yield key, value
