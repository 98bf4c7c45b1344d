# SPDX-License-Identifier: Apache-2.0
"""Count how many steps two implementations are apart."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atoll.ir.graph import Tensor
from atoll.report.oracle import OracleVerdict

Array = NDArray[Any]


class Comparison:
    """Collects differences.

    Args:
        limit: the steps that a value may be apart.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._steps = Counter[int]()
        self._furthest: dict[str, int] = {}

    def compare(self, name: str, ours: Array, theirs: Array) -> None:
        """Hold integers of one grid against each other."""
        assert ours.shape == theirs.shape, f"{name}: {ours.shape}, {theirs.shape}"
        apart = np.abs(ours.astype(np.int64) - theirs.astype(np.int64)).reshape(-1)
        steps, counts = np.unique(apart, return_counts=True)
        self._steps.update(dict(zip(steps.tolist(), counts.tolist(), strict=True)))
        self._furthest[name] = max(self._furthest.get(name, 0), int(apart.max(initial=0)))

    def verdict(self, oracle: str) -> OracleVerdict:
        """Return what was found."""
        values = dict(sorted(self._steps.items()))
        return OracleVerdict(
            oracle=oracle, limit=self._limit, values=values, furthest=self._furthest
        )


def as_integers(values: Array, tensor: Tensor) -> Array:
    """Return what the file has at an edge as the tensor has it: real numbers, uint8 or the same."""
    if values.dtype.kind == "f" and tensor.quantization is not None:
        scale, zero = tensor.quantization.scales[0], tensor.quantization.zero_points[0]
        info = np.iinfo(tensor.dtype)
        steps = np.rint(values.astype(np.float64) / scale) + zero
        return np.asarray(np.clip(steps, info.min, info.max))
    if values.dtype == np.uint8 and tensor.dtype == "int8":
        return values.astype(np.int16) - 128
    return values


def from_integers(values: Array, tensor: Tensor, dtype: Any) -> Array:
    """Return what a tensor has at an edge as the file takes it."""
    wanted = np.dtype(dtype)
    if wanted.kind == "f" and tensor.quantization is not None:
        scale, zero = tensor.quantization.scales[0], tensor.quantization.zero_points[0]
        return ((values.astype(np.float64) - zero) * scale).astype(wanted)
    if wanted == np.uint8 and values.dtype == np.int8:
        return (values.astype(np.int16) + 128).astype(np.uint8)
    return values.astype(wanted)
