"""The front ends by name, and which of them reads a file."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from atoll.frontend.front_end import FrontEnd, load_with
from atoll.frontend.verify_graph import verify_graph
from atoll.ir.graph import Graph
from atoll.plugins import foreign_code
from atoll.registry import Registry

DEFAULT = "tflite"

FRONT_ENDS: Registry[FrontEnd] = Registry(
    group="atoll.frontends",
    noun="front end",
    own={DEFAULT: "atoll.frontend.tflite:TFLITE"},
    interface=FrontEnd,
)


@dataclass(frozen=True, slots=True)
class Source:
    """A model file: its bytes, and the suffix that its format has."""

    suffix: str
    data: bytes


class Foreign(FrontEnd):
    """A front end of another package: what goes wrong in it is one error that names it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._inner = FRONT_ENDS.get(name)
        with foreign_code(f"front end '{name}' has no 'suffix'", code="E110"):
            self.suffix = self._inner.suffix

    def recognises(self, path: Path) -> bool:
        """Ask the front end."""
        with foreign_code(f"front end '{self._name}' failed in 'recognises' for {path}"):
            return bool(self._inner.recognises(path))

    def load(self, path: Path) -> Graph:
        """Ask the front end, and judge its answer."""
        with foreign_code(f"front end '{self._name}' failed in 'load' for {path}"):
            graph: object = self._inner.load(path)
        return verify_graph(graph, f"front end '{self._name}': 'load' for {path}")


def front_end_for(path: Path) -> FrontEnd:
    """Return the first front end that recognises a file, else TFLite's, which says what is wrong.

    Other packages' are asked only for files that Atoll's do not recognise.

    Raises:
        AtollError: as `Registry.get`; E111, another package's failed.
    """
    candidates = _front_ends() if path.is_file() else ()
    chosen = (each for each in candidates if each.recognises(path))
    return next(chosen, FRONT_ENDS.get(DEFAULT))


def _front_ends() -> Iterator[FrontEnd]:
    yield from map(FRONT_ENDS.get, FRONT_ENDS.own)
    yield from map(Foreign, FRONT_ENDS.others())


def load_network(path: Path) -> Graph:
    """Turn a model file of any format into a graph whose every operator can be compiled.

    Raises:
        AtollError: as `load_with` and `front_end_for`.
    """
    return load_with(front_end_for(path), path)


def read_source(path: Path) -> Source:
    """Return a file that `load_network` has loaded."""
    return Source(front_end_for(path).suffix, path.read_bytes())
