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
from atoll.description.faults import Faults
from atoll.description.gaps import Gaps
from atoll.description.layers import apply_overrides, read_layers
from atoll.description.messages import schema_of
from atoll.description.partial import read_model
from atoll.description.schema import Dma, Npu, Soc
from atoll.description.tree import Key, Node, SourceMap
from atoll.errors import DescriptionError, Fault, SourceLoc


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A chip as its author wrote it.

    Attributes:
        soc: the checked model; references between its parts are not followed yet.
        accelerators: by the name of the device that is one; those that are broken are left out.
        where: the place of every key and value.
        gaps: where `soc` is not what was written.
        faults: what is wrong so far; a description with faults means no chip.
        folder: that accelerators' paths are relative to where no file says so.
    """

    soc: Soc
    accelerators: Mapping[str, AcceleratorDescription]
    where: SourceMap
    gaps: Gaps
    faults: tuple[Fault, ...]
    folder: Path = Path()

    def values(self) -> Iterator[tuple[Key, object]]:
        """Yield every value with its key path, defaults included."""
        yield from _leaves(self.soc, ())


def read_description(path: Path, overrides: Sequence[str], faults: Faults) -> Node:
    """Read the description at `path` with each ``key.path=value`` of `overrides` on top, unchecked.

    What is wrong with the text, and yet lets it be read, is added to `faults`.

    Raises:
        DescriptionError: a file is no YAML.
        UsageError: an override is malformed or names an unknown key.
    """
    root = read_layers(path, faults)
    return apply_overrides(root, overrides, schema_of(Soc)) if overrides else root


def describe(root: Node, folder: Path, faults: Faults) -> Description:
    """Check the description `root`, whose accelerators' paths are relative to `folder`.

    Keys that are missing or unknown, ill-typed values and broken accelerators are among the
    result's faults, so that resolution reports them with its own.

    Args:
        root: the merged layers.
        folder: counts where no file says so.
        faults: what is wrong so far; the result's faults begin with them.

    Raises:
        DescriptionError: nothing of it can be checked.
    """
    read = read_model(Soc, SourceMap(root), faults)
    if read.model is None:
        faults.raise_any()
    assert read.model is not None, "it has no faults"
    return Description(
        soc=read.model,
        accelerators=_accelerators(read.model, read.where, read.gaps, folder, faults),
        where=read.where,
        gaps=read.gaps,
        faults=tuple(faults.found),
        folder=folder,
    )


def _accelerators(
    soc: Soc, where: SourceMap, gaps: Gaps, folder: Path, faults: Faults
) -> Mapping[str, AcceleratorDescription]:
    loaded: dict[str, AcceleratorDescription] = {}
    broken: set[Path] = set()
    for name, device in soc.devices.items():
        if not isinstance(device, (Npu, Dma)):
            continue
        key = "accelerator" if isinstance(device, Npu) else "engine"
        if not gaps.knows("devices", name, key):
            continue
        at = where.at("devices", name, key)
        try:
            path = find_accelerator(device.accelerator, at.path.parent if at else folder, at)
            if path not in broken:
                broken.add(path)
                loaded[name] = _loaded(path, at)
                broken.discard(path)
        except DescriptionError as error:
            faults.found |= dict.fromkeys(error.faults)
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
