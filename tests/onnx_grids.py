# SPDX-License-Identifier: Apache-2.0
"""Random ONNX networks whose real results meet several grids behind what only hands values on.

`python -m tests.onnx_grids 3000` holds so many against onnxruntime.
"""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tests.onnx_builder import Builder, Grid, steps_between

from atoll.diagnostics.errors import ModelError

Shape = tuple[int, ...]
Value = tuple[str, Shape]


def produced(b: Builder) -> Value:
    """Compute a value that nothing quantises."""
    shape = (1, 4, int(b.rng.choice((4, 6))), 4)
    made = PRODUCERS[b.rng.choice([*PRODUCERS])](b, shape)
    if b.rng.random() < 0.2:
        made = b.node("Relu", [made])
    if b.rng.random() < 0.1:
        made = b.node("Clip", [made, _number(b, -1.03), _number(b, 0.71)])
    return made, shape


def _number(b: Builder, value: float) -> str:
    return b.plain(value, "float32")


def _conv(b: Builder, shape: Shape) -> str:
    weights = b.weights((shape[1], shape[1], 3, 3), axis=0)
    return b.node("Conv", [b.x(shape), weights, b.bias(shape[1])], pads=[1] * 4)


PRODUCERS: dict[str, Callable[[Builder, Shape], str]] = {
    "Add": lambda b, shape: b.node("Add", [b.x(shape), b.x(shape)]),
    "AveragePool": lambda b, shape: b.node(
        "AveragePool", [b.x(shape)], kernel_shape=[3, 3], pads=[1] * 4
    ),
    "Concat": lambda b, shape: b.node(
        "Concat", [b.x((1, 1, *shape[2:])), b.x((1, 3, *shape[2:]))], axis=1
    ),
    "Conv": _conv,
    "LeakyRelu": lambda b, shape: b.node("LeakyRelu", [b.x(shape)], alpha=0.2),
    "MatMul": lambda b, shape: b.node("MatMul", [b.x(shape), b.weights((shape[3],) * 2, axis=1)]),
    "Max": lambda b, shape: b.node("Max", [b.x(shape), b.x(shape)]),
    "Mul": lambda b, shape: b.node("Mul", [b.x(shape), b.x(shape)]),
    "Softplus": lambda b, shape: b.node("Softplus", [b.x(shape)]),
    "stored": lambda b, shape: b.x(shape),
}


def _transposed(b: Builder, real: str, shape: Shape) -> list[Value]:
    axes = [int(axis) for axis in b.rng.permutation(len(shape))]
    return [(b.node("Transpose", [real], perm=axes), tuple(shape[axis] for axis in axes))]


def _reshaped(b: Builder, real: str, shape: Shape) -> list[Value]:
    flat = prod(shape)
    options = [(1, 2, flat // 2), (flat // 4, 4), (2, 2, flat // 4), (1, flat // 4, 2, 2)]
    made = options[b.rng.integers(len(options))]
    return [(b.node("Reshape", [real, b.plain(made)]), made)]


def _flattened(b: Builder, real: str, shape: Shape) -> list[Value]:
    return [(b.node("Flatten", [real], axis=1), (shape[0], prod(shape[1:])))]


def _squeezed(b: Builder, real: str, shape: Shape) -> list[Value]:
    wide = b.node("Unsqueeze", [real, b.plain([0])])
    made = [(wide, (1, *shape))]
    if shape[0] == 1 and len(shape) > 2:
        made.append((b.node("Squeeze", [real, b.plain([0])]), shape[1:]))
    return made


def _split(b: Builder, real: str, shape: Shape) -> list[Value]:
    axis = _axis(b, shape)
    sizes = [1, shape[axis] - 1]
    names = b.many("Split", [real, b.plain(sizes)], 2, axis=axis)
    return [
        (name, _with(shape, axis, size)) for name, size in zip(names, sizes, strict=True) if size
    ]


def _sliced(b: Builder, real: str, shape: Shape) -> list[Value]:
    axis, step = _axis(b, shape), int(b.rng.choice((1, 2)))
    operands = [b.plain([at]) for at in (1, shape[axis], axis, step)]
    return [
        (b.node("Slice", [real, *operands]), _with(shape, axis, len(range(1, shape[axis], step))))
    ]


def _gathered(b: Builder, real: str, shape: Shape) -> list[Value]:
    axis = _axis(b, shape)
    if b.rng.random() < 0.5 and len(shape) > 2:
        return [
            (b.node("Gather", [real, b.plain(1)], axis=axis), (*shape[:axis], *shape[axis + 1 :]))
        ]
    return [(b.node("Gather", [real, b.plain([0, 1])], axis=axis), _with(shape, axis, 2))]


def _padded(b: Builder, real: str, shape: Shape) -> list[Value]:
    axis = _axis(b, shape)
    begins, ends = [0] * len(shape), [0] * len(shape)
    begins[axis], ends[axis] = 1, int(b.rng.integers(0, 2))
    mode = {} if b.rng.random() < 0.6 else {"mode": "reflect"}
    operands = [real, b.plain([*begins, *ends])]
    if not mode and b.rng.random() < 0.4:
        operands.append(_number(b, float(b.rng.normal())))
    return [(b.node("Pad", operands, **mode), _with(shape, axis, shape[axis] + 1 + ends[axis]))]


def _tiled(b: Builder, real: str, shape: Shape) -> list[Value]:
    axis = _axis(b, shape)
    times = [2 if at == axis else 1 for at in range(len(shape))]
    return [(b.node("Tile", [real, b.plain(times)]), _with(shape, axis, 2 * shape[axis]))]


def _expanded(b: Builder, real: str, shape: Shape) -> list[Value]:
    wide = (2, *shape[1:]) if shape[0] == 1 else (2, *shape)
    return [(b.node("Expand", [real, b.plain(wide)]), wide)]


def _joined(b: Builder, real: str, shape: Shape) -> list[Value]:
    axis = _axis(b, shape)
    other = b.x(shape) if b.rng.random() < 0.6 else real
    return [(b.node("Concat", [real, other], axis=axis), _with(shape, axis, 2 * shape[axis]))]


def _greatest(b: Builder, real: str, shape: Shape) -> list[Value]:
    other = b.x(shape) if b.rng.random() < 0.5 else _number(b, float(b.rng.normal(0, 0.3)))
    return [(b.node(("Max", "Min")[b.rng.integers(2)], [real, other]), shape)]


def _reduced(b: Builder, real: str, shape: Shape) -> list[Value]:
    axis, keep = _axis(b, shape), int(len(shape) < 3 or b.rng.integers(2))
    op = ("ReduceMax", "ReduceMin")[b.rng.integers(2)]
    left = _with(shape, axis, 1) if keep else (*shape[:axis], *shape[axis + 1 :])
    return [(b.node(op, [real, b.plain([axis])], keepdims=keep), left)]


def _pooled(b: Builder, real: str, shape: Shape) -> list[Value]:
    if b.rng.random() < 0.3:
        return [(b.node("GlobalMaxPool", [real]), (*shape[:2], 1, 1))]
    made = (*shape[:2], shape[2] // 2, shape[3] // 2)
    return [(b.node("MaxPool", [real], kernel_shape=[2, 2], strides=[2, 2]), made)]


def _resized(b: Builder, real: str, shape: Shape) -> list[Value]:
    made = (*shape[:2], 2 * shape[2], shape[3])
    how = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return [(b.node("Resize", [real, "", "", b.plain(made)], mode="nearest", **how), made)]


def _squares(b: Builder, real: str, shape: Shape) -> list[Value]:
    if shape[1] % 4 == 0:
        made = (shape[0], shape[1] // 4, 2 * shape[2], 2 * shape[3])
        return [(b.node("DepthToSpace", [real], blocksize=2), made)]
    if shape[2] % 2 or shape[3] % 2:
        return []
    made = (shape[0], 4 * shape[1], shape[2] // 2, shape[3] // 2)
    return [(b.node("SpaceToDepth", [real], blocksize=2), made)]


def _clamped(b: Builder, real: str, shape: Shape) -> list[Value]:
    if b.rng.random() < 0.5:
        return [(b.node("Relu", [real]), shape)]
    return [(b.node("Clip", [real, _number(b, -0.77), _number(b, 0.93)]), shape)]


def _same(b: Builder, real: str, shape: Shape) -> list[Value]:
    return [(b.node(("Identity", "Dropout")[b.rng.integers(2)], [real]), shape)]


Move = Callable[[Builder, str, Shape], list[Value]]

MOVES: tuple[Move, ...] = (
    *(_transposed, _reshaped, _flattened, _squeezed, _split, _sliced, _gathered, _padded),
    *(_tiled, _expanded, _joined, _greatest, _reduced, _clamped, _same),
)
IMAGES: tuple[Move, ...] = (_pooled, _resized, _squares)
"""Moves of four dimensions."""

_LARGEST = 4096

MOST_REFUSED = 0.1
"""A share; what 16 bits do not have."""


def _axis(b: Builder, shape: Shape) -> int:
    """Draw an axis with several places, the last one if there is none."""
    wide = [axis for axis, extent in enumerate(shape) if extent > 1]
    return int(b.rng.choice(wide)) if wide else len(shape) - 1


def _with(shape: Shape, axis: int, extent: int) -> Shape:
    return (*shape[:axis], extent, *shape[axis + 1 :])


def grids(b: Builder, real: str) -> list[Grid]:
    """Return one to four grids: so fine that results saturate, coarse, of 16 bits."""
    own = b.suited(real, ("int8", "uint8")[b.rng.integers(2)])
    found = [own]
    for _ in range(int(b.rng.integers(0, 4))):
        scale = float(np.float32(own.scale * 10 ** b.rng.uniform(-1, 1)))
        dtype = str(b.rng.choice(("int8", "uint8", "int16"), p=(0.45, 0.45, 0.1)))
        found.append(replace(b.grid(dtype, scale)))
    return found


def network(seed: int) -> tuple[Builder, list[str]]:
    """Return a network, and its results."""
    b = Builder(seed)
    first = produced(b)
    values, moved = [first], set[str]()
    for _ in range(int(b.rng.integers(1, 7))):
        real, shape = values[b.rng.integers(max(0, len(values) - 4), len(values))]
        several = max(shape) > 1 and len(shape) > 1
        moves = (*MOVES, *(IMAGES if len(shape) == 4 and min(shape[2:]) > 1 else ()))
        if not several or len(shape) > 5 or prod(shape) > _LARGEST:
            continue
        made = moves[b.rng.integers(len(moves))](b, real, shape)
        moved |= {real} if made else set()
        values += made
    met = grids(b, first[0])
    read = [name for name, _ in values if name not in moved or b.rng.random() < 0.2]
    results = [
        b.quantized(name, met[b.rng.integers(len(met))])
        for name in read
        for _ in range(int(b.rng.integers(1, 3)))
    ]
    return b, results


def differences(seed: int, path: Path) -> np.ndarray | str:
    """Return by how many steps each element differs from onnxruntime, or why it is refused."""
    b, results = network(seed)
    try:
        return steps_between(b, results, path)
    except ModelError as refused:
        return str(refused.faults[0].message).partition(": ")[2]


def main(count: int) -> int:
    """Print what so many networks come to."""
    found, refusals = Counter[int](), Counter[str]()
    with TemporaryDirectory() as folder:
        for seed in range(count):
            steps = differences(seed, Path(folder) / "built.onnx")
            if isinstance(steps, str):
                refusals[steps] += 1
                continue
            found[int(steps.max())] += 1
            if steps.max() > 1:
                print(f"seed {seed}: {np.bincount(steps)}")
    print(f"{count} networks, by the greatest difference in steps: {dict(sorted(found.items()))}")
    print(f"refused: {dict(refusals.most_common())}")
    return int(max(found, default=0) > 1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
