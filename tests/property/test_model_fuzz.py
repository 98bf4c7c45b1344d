# SPDX-License-Identifier: Apache-2.0
"""A mutated TFLite file ends in a plan or in a message of Atoll, from front end to planner."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.all_samples import any_sample, fixed_samples
from tests.effort import cases
from tests.limits import within_limits

from atoll.artifacts.build_tree import texts_of
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import compile_file
from atoll.ir.graph import Graph
from atoll.ops import reference
from atoll.resolve import load_soc

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
ROUNDS = cases(20)
PER_ROUND = 50
SMALL = 100_000

WORDS = (0, 1, 2, 7, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 0x7FC00000, 0x7F800000, 0x00000001)
BYTES = (0, 1, 2, 3, 4, 5, 127)
NUMBERS = (*BYTES, -1, -2, 1000, 2**31 - 1, -(2**31))
EXTENTS = (0, 1, 2, 3, 5, 7, 255, 65536)
FACTORS = (1e-6, 1e6, 2.0**20, 2.0**-20, 1e-38, float("inf"), float("nan"))
TYPES = ("int8", "int32", "uint8", "float32", "int64", "int16", "bool", "int4", "resource")
TEXTS = ("Container", "SharedName")
VALUES = (
    (NUMBERS, ("Stride", "Filter", "Dilation", "Depth", "Axis", "Cond", "Body")),
    (BYTES, ("Padding", "Fused", "Weights", "Beta", "Then", "Else")),
)

CODES = ("E05", "E06", "E016")
"""Of files, of plans, and what says that there are more."""

Chance = np.random.Generator


def flip(data: bytearray, rng: Chance) -> None:
    for _ in range(int(rng.integers(1, 6))):
        data[int(rng.integers(len(data)))] = int(rng.integers(256))


def truncate(data: bytearray, rng: Chance) -> None:
    del data[int(rng.integers(len(data))) :]


def swap(data: bytearray, rng: Chance) -> None:
    size = int(rng.integers(1, 33))
    first, second = sorted(int(at) for at in rng.integers(0, len(data) - 2 * size, 2))
    second = max(second, first + size)
    low, high = data[first : first + size], data[second : second + size]
    data[first : first + size], data[second : second + size] = high, low


def overwrite(data: bytearray, rng: Chance) -> None:
    """Set an aligned word to a value that readers stumble over."""
    at = 4 * int(rng.integers(len(data) // 4))
    word = (*WORDS, len(data))[int(rng.integers(len(WORDS) + 1))]
    data[at : at + 4] = word.to_bytes(4, "little")


DAMAGES: tuple[Callable[[bytearray, Chance], None], ...] = (flip, truncate, swap, overwrite)


def pick(values: Any, rng: Chance) -> Any:
    return values[int(rng.integers(len(values)))]


def other_shape(tensor: Any, rng: Chance) -> Any:
    shape = list(tensor.shape) or [1]
    at = int(rng.integers(len(shape)))
    shape[at] = pick((*EXTENTS, shape[at] + 1, 2 * shape[at]), rng)
    return replace(tensor, shape=tuple(shape))


def other_scale(tensor: Any, rng: Chance) -> Any:
    factor = pick(FACTORS, rng)
    return replace(tensor, scales=tuple(scale * factor for scale in tensor.scales or (1.0,)))


def other_zero_point(tensor: Any, rng: Chance) -> Any:
    return replace(tensor, zero_points=(pick((0, -128, 127, 128), rng),) * len(tensor.scales))


def other_type(tensor: Any, rng: Chance) -> Any:
    return replace(tensor, dtype=pick(TYPES, rng))


def other_variable(tensor: Any, rng: Chance) -> Any:
    return replace(tensor, variable=not tensor.variable)


def other_option(operator: Any, rng: Chance) -> Any:
    if not operator.table:
        return operator
    setter = f"{operator.table}Add"
    known = dir(import_module(f"tflite.{operator.table}"))
    names = [other.removeprefix(setter) for other in known if setter in other]
    if not names:
        return operator
    name = pick(names, rng)
    values = next((values for values, names in VALUES if name.startswith(names)), (False, True))
    number = "other" if name in TEXTS else pick(values, rng)
    if f"{operator.table}Start{name}Vector" in known:
        number = (int(pick(NUMBERS, rng)),)
    return replace(operator, options={**operator.options, name: number})


def other_input(operator: Any, rng: Chance) -> Any:
    inputs = list(operator.inputs)
    if not inputs:
        return operator
    inputs[int(rng.integers(len(inputs)))] = int(rng.integers(-1, 25))
    return replace(operator, inputs=tuple(inputs))


CHANGES: tuple[tuple[str, Callable[[Any, Chance], Any]], ...] = (
    ("tensors", other_shape),
    ("tensors", other_scale),
    ("tensors", other_zero_point),
    ("tensors", other_type),
    ("tensors", other_variable),
    ("operators", other_option),
    ("operators", other_input),
)


def changed(model: Any, rng: Chance) -> Any:
    """Change one tensor or operator of a model before it is written, so that the file is whole."""
    others = list(model.others)
    if others and rng.integers(3):
        at = int(rng.integers(len(others)))
        others[at] = changed(others[at], rng)
        return replace(model, others=tuple(others))
    field, change = pick(CHANGES, rng)
    items = list(getattr(model, field))
    if not items:
        return model
    at = int(rng.integers(len(items)))
    items[at] = change(items[at], rng)
    return replace(model, **{field: tuple(items)})


def compute(graph: Graph) -> None:
    """Run a graph, if it is small enough."""
    if all(tensor.elements < SMALL for tensor in graph.tensors):
        inputs = [graph.tensor(name) for name in graph.inputs]
        reference.run(graph, {each.name: np.ones(each.shape, each.dtype) for each in inputs})


def planned(path: Path) -> bool:
    """Tell whether the file is planned for lagoon; if not, it is refused as a user's fault."""
    try:
        compiled = compile_file(load_soc("lagoon"), path)
    except AtollError as error:
        faults = error.faults
    else:
        compute(compiled.graph)
        assert texts_of(compiled)["graph.txt"].startswith("graph mutated(")
        return True
    odd = [fault for fault in faults if not fault.code.startswith(CODES) or not fault.remedy]
    assert not odd
    return False


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_damaged_files(seed: int, tmp_path: Path, tflite_builder: ModuleType) -> None:
    rng, chance = np.random.default_rng(seed), Random(seed)
    fixed = fixed_samples(tflite_builder)
    path = tmp_path / "mutated.tflite"
    accepted = 0
    for number in range(PER_ROUND):
        digits = number // len(DAMAGES) % 4 == 0
        written = tflite_builder.write(any_sample(chance, fixed))
        data = bytearray(DIGITS.read_bytes() if digits else written)
        DAMAGES[number % len(DAMAGES)](data, rng)
        path.write_bytes(data)
        with within_limits():
            accepted += planned(path)
    assert 0 < accepted < PER_ROUND


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_whole_files_of_changed_models(
    seed: int, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    rng, chance = np.random.default_rng(seed), Random(seed)
    fixed = fixed_samples(tflite_builder)
    path = tmp_path / "mutated.tflite"
    accepted = 0
    for _ in range(PER_ROUND // 2):
        path.write_bytes(tflite_builder.write(changed(any_sample(chance, fixed), rng)))
        with within_limits():
            accepted += planned(path)
    assert 0 < accepted < PER_ROUND // 2
