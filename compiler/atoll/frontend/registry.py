# SPDX-License-Identifier: Apache-2.0
"""The front ends by name, and which of them reads a file."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from atoll.diagnostics.errors import ModelError
from atoll.frontend.front_end import FrontEnd, load_with
from atoll.frontend.verify_graph import verify_graph
from atoll.ir.graph import Graph
from atoll.plugins.registry import Registry
from atoll.records import dataclass
from atoll.utils.remember import Alike, remember

DEFAULT = "tflite"

IN_MEMORY = ".graph"
"""The suffix of networks that no model file holds; a build folder has their text."""

FRONT_ENDS: Registry[FrontEnd] = Registry(
    group="atoll.frontends",
    noun="front end",
    own={
        "onnx": "atoll.frontend.onnx.front_end:ONNX",
        DEFAULT: "atoll.frontend.tflite.load:TFLITE",
    },
    interface=FrontEnd,
)


NETWORKS_AT_HAND, LARGEST_AT_HAND = 16, 4 * 2**20
"""Networks of files that a process loads once, and the bytes of the largest such file."""


@dataclass(frozen=True)
class Source:
    """A model file: the suffix that its format has, its bytes, and where it is."""

    suffix: str
    data: bytes
    path: Path

    @cached_property
    def sha256(self) -> str:
        """What tells two networks of one shape and other weights apart."""
        return hashlib.sha256(self.data).hexdigest()


def load_network(path: Path) -> Graph:
    """Turn a model file of any format into a graph whose every operator can be compiled.

    Raises:
        AtollError: as `load_with` and `Registry.get`; E111, E112, another package's front end
            failed.
    """
    return load_source(path)[0]


def load_source(path: Path) -> tuple[Graph, Source]:
    """Return what `load_network` does, and the file; errors likewise."""
    name = format_of(path)
    front_end = FRONT_ENDS.get(name)
    data: bytes | None = None
    if name in FRONT_ENDS.own:
        with suppress(OSError, ModelError):  # which `load` says better
            data = front_end.data(path)
        graph = _load_own(front_end, path, data)
    else:
        who = f"front end '{name}': 'load' for {path}"
        graph = load_with(lambda file: verify_graph(front_end.load(file), who), path)
    return graph, _source(front_end.suffix, data or front_end.data(path), path)


def _content(front_end: FrontEnd, path: Path, data: bytes | None) -> Alike | None:
    """Return what the network of a file depends on, None of one that is not kept at hand."""
    if data is None or len(data) > LARGEST_AT_HAND:
        return None
    return Alike((path, len(data)), data, front_end)


@remember(_content, most=NETWORKS_AT_HAND)
def _load_own(front_end: FrontEnd, path: Path, _data: bytes | None) -> Graph:
    return load_with(front_end.load, path)


def read_source(path: Path) -> Source:
    """Return a file that `load_network` has loaded."""
    front_end = FRONT_ENDS.get(format_of(path))
    return _source(front_end.suffix, front_end.data(path), path)


def _file(suffix: str, data: bytes, path: Path) -> Alike | None:
    return Alike((suffix, path, len(data)), data) if len(data) <= LARGEST_AT_HAND else None


@remember(_file, most=NETWORKS_AT_HAND)
def _source(suffix: str, data: bytes, path: Path) -> Source:
    return Source(suffix, data, path)


def format_of(path: Path) -> str:
    """Name the first front end that recognises a file, else TFLite's, which says what is wrong.

    Other packages' are asked only for files that Atoll's do not recognise.
    """
    candidates = _names() if path.is_file() else ()
    return next((name for name in candidates if FRONT_ENDS.get(name).recognises(path)), DEFAULT)


def _names() -> Iterator[str]:
    yield from FRONT_ENDS.own
    yield from FRONT_ENDS.others()
