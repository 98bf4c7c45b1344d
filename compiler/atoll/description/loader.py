"""Load a chip: YAML files and overrides in, checked models with the place of every value out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from atoll.description.accelerators import (
    AcceleratorDescription,
    find_accelerator,
    load_accelerator,
)
from atoll.description.faults import in_order
from atoll.description.layers import apply_overrides, read_layers
from atoll.description.messages import validate
from atoll.description.schema import Dma, Npu, Soc
from atoll.description.tree import Key, Node, SourceMap
from atoll.errors import DescriptionError, Fault, SourceLoc


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A chip as its author wrote it.

    Attributes:
        soc: the checked model; references between its parts are not followed yet.
        accelerators: by the name of the device that is one.
        where: the place of every key and value.
        folder: that accelerators' paths are relative to where no file says so.
    """

    soc: Soc
    accelerators: Mapping[str, AcceleratorDescription]
    where: SourceMap
    folder: Path = Path()

    def values(self) -> Iterator[tuple[Key, object]]:
        """Yield every value with its key path, defaults included."""
        yield from _leaves(self.soc, ())


def load_description(path: Path, overrides: Sequence[str] = ()) -> Description:
    """Load the description at `path` with each ``key.path=value`` of `overrides` on top.

    Raises:
        DescriptionError: a file is no YAML, a key is missing or unknown, a value ill-typed.
        UsageError: an override is malformed or names an unknown key.
    """
    return describe(read_description(path, overrides), path.parent)


def read_description(path: Path, overrides: Sequence[str] = ()) -> Node:
    """Read the description at `path` with `overrides` on top, unchecked.

    Raises:
        DescriptionError, UsageError: as `load_description`.
    """
    root = read_layers(path)
    return apply_overrides(root, overrides, Soc.model_json_schema()) if overrides else root


def describe(root: Node, folder: Path) -> Description:
    """Check the description `root`, whose accelerators' paths are relative to `folder`.

    Raises:
        DescriptionError: a key is missing or unknown, a value ill-typed.
    """
    where = SourceMap(root)
    soc = validate(Soc, where)
    engines = _accelerators(soc, where, folder)
    return Description(soc=soc, accelerators=engines, where=where, folder=folder)


def _accelerators(soc: Soc, where: SourceMap, folder: Path) -> Mapping[str, AcceleratorDescription]:
    loaded: dict[str, AcceleratorDescription] = {}
    broken: set[Path] = set()
    faults: list[Fault] = []
    for name, device in soc.devices.items():
        if not isinstance(device, (Npu, Dma)):
            continue
        key = "accelerator" if isinstance(device, Npu) else "engine"
        at = where.at("devices", name, key)
        try:
            path = find_accelerator(device.accelerator, at.path.parent if at else folder, at)
            if path not in broken:
                broken.add(path)
                loaded[name] = _loaded(path, at)
                broken.discard(path)
        except DescriptionError as error:
            faults += error.faults
    if faults:
        raise DescriptionError.all(in_order(faults))
    return loaded


def _loaded(path: Path, at: SourceLoc | None) -> AcceleratorDescription:
    """Load an accelerator; one that was loaded and has not changed since is at hand."""
    try:
        stamp = path.stat()
    except (OSError, ValueError):
        return load_accelerator(path, at)
    return _unchanged(path, at, (stamp.st_ino, stamp.st_mtime_ns, stamp.st_size))


@lru_cache(maxsize=64)
def _unchanged(path: Path, at: SourceLoc | None, _stamp: tuple[int, ...]) -> AcceleratorDescription:
    return load_accelerator(path, at)


def _leaves(value: Any, key: Key) -> Iterator[tuple[Key, object]]:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _leaves(getattr(value, name), (*key, name))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, (*key, name))
    else:
        yield key, value
