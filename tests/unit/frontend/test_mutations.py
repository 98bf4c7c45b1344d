"""No mutation of a TFLite file ends in anything but a graph or a ModelError."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from atoll.errors import ModelError
from atoll.frontend.tflite import load_tflite
from atoll.ir.graph import Graph
from atoll.ops import reference

ROUNDS = 20
PER_ROUND = 50
SMALL = 100_000


def flip(data: bytearray, rng: np.random.Generator) -> None:
    for _ in range(int(rng.integers(1, 6))):
        data[int(rng.integers(len(data)))] = int(rng.integers(256))


def truncate(data: bytearray, rng: np.random.Generator) -> None:
    del data[int(rng.integers(len(data))) :]


def swap(data: bytearray, rng: np.random.Generator) -> None:
    size = int(rng.integers(1, 33))
    first, second = sorted(int(at) for at in rng.integers(0, len(data) - 2 * size, 2))
    second = max(second, first + size)
    low, high = data[first : first + size], data[second : second + size]
    data[first : first + size], data[second : second + size] = high, low


def overwrite(data: bytearray, rng: np.random.Generator) -> None:
    """Set an aligned word to a value that readers stumble over."""
    at = 4 * int(rng.integers(len(data) // 4))
    word = int(rng.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1, 0x7FC00000, len(data)]))
    data[at : at + 4] = word.to_bytes(4, "little")


MUTATIONS: tuple[Callable[[bytearray, np.random.Generator], None], ...] = (
    flip,
    truncate,
    swap,
    overwrite,
)


def compute(graph: Graph) -> None:
    """Run a graph that loads, if it is small enough."""
    if all(tensor.elements < SMALL for tensor in graph.tensors):
        shapes = {name: graph.tensor(name).shape for name in graph.inputs}
        reference.run(graph, {name: np.ones(shape, np.int8) for name, shape in shapes.items()})


def load_or_refuse(path: Path) -> bool:
    """Tell whether the file either loads, prints and computes or is refused by name."""
    try:
        graph = load_tflite(path)
    except ModelError as error:
        coded = all(fault.code.startswith("E05") for fault in error.faults)
        return coded and str(path) in str(error)
    compute(graph)
    return str(graph).startswith("graph mutated(")


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_mutated_files(
    seed: int, tmp_path: Path, every_operator: Any, tflite_builder: ModuleType
) -> None:
    rng = np.random.default_rng(seed)
    original = tflite_builder.write(every_operator)
    path = tmp_path / "mutated.tflite"
    for number in range(PER_ROUND):
        data = bytearray(original)
        MUTATIONS[number % len(MUTATIONS)](data, rng)
        path.write_bytes(data)
        assert load_or_refuse(path)
