# SPDX-License-Identifier: Apache-2.0
"""What instructions take on a core, fitted to what operators took and the instructions they ran."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from atoll.cost.counted import CLASSES
from atoll.records import dataclass
from atoll.resolve.specs import BesideCode, InstructionCache, Timing
from atoll_sim.core_calibration.chips import BESIDE, CODE, DATA, FAR_CODE, LATE_BESIDE, NEAR
from atoll_sim.core_calibration.least_errors import Vector, least_errors

WORD = 4
"""Bytes that an instruction cache takes from memory at once."""

ACCESSES = ("load", "store")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """An operator that ran.

    Attributes:
        network: whose operator it is.
        counts: its instructions, in the order of `CLASSES`.
        cycles: by how memories answered.
        late: with `DATA`, cycles beyond one until data is there: of a ``load``, of a ``store``.
        beside: with `BESIDE`, loads of data in the memory of code.
    """

    network: str
    counts: Sequence[int]
    cycles: Mapping[str, int]
    late: Mapping[str, float]
    beside: float = 0


@dataclass(frozen=True, slots=True)
class Cache:
    """The bytes of an instruction cache, and those that it fetches together."""

    size: int
    line: int


def fit_timing(kernels: Sequence[Kernel], cache: Cache | None) -> Timing:
    """Return what instructions take so that operators take what they took, as near as can be.

    The sum of absolute errors is least, each as a share of what an operator took. With a cache, how
    much longer it took with late code says how many lines came, whose words wait one after another.
    """
    codes = 1 if cache else len(CLASSES)
    rows = [row for kernel in kernels for row in _rows(kernel, cache)]
    table, took = (np.array(each, float) for each in zip(*rows, strict=True))
    found = np.round(least_errors(table, took, 1 / took), 2)
    cycles, code, data, less = np.split(found, np.cumsum((len(CLASSES), codes, len(ACCESSES))))
    line = cache and InstructionCache(
        size=cache.size, line=cache.line, cycles=float(code[0]), waits=cache.line / WORD
    )
    return Timing(
        basis="measured",
        cycles=_by_name(CLASSES, cycles),
        waits={} if cache else _by_name(CLASSES, code),
        data_waits=_by_name(ACCESSES, data),
        cache=line or None,
        beside_code=BesideCode(cycles=float(less[0]), waits=float(less[1])) if any(less) else None,
    )


def _rows(kernel: Kernel, cache: Cache | None) -> Iterator[tuple[Sequence[float], int]]:
    counts, cycles = np.array(kernel.counts, float), kernel.cycles
    late, far = [kernel.late[each] for each in ACCESSES], (FAR_CODE - 1) * counts
    if cache:
        words = (cycles[CODE] - cycles[NEAR]) / (FAR_CODE - 1)
        far = np.array([max(0, words) * WORD / cache.line])
    code = far if cache else 0 * far
    yield [*counts, *code, 0, 0, 0, 0], cycles[NEAR]
    yield [*counts, *code, *late, 0, 0], cycles[DATA]
    if not cache:
        yield [*counts, *far, 0, 0, 0, 0], cycles[CODE]
    if BESIDE in cycles:
        beside, later = kernel.beside, (FAR_CODE - 1) * kernel.beside
        yield [*counts, *code, 0, 0, -beside, 0], cycles[BESIDE]
        yield [*counts, *far, later, 0, -beside, -later], cycles[LATE_BESIDE]


def _by_name(names: Sequence[str], values: Vector) -> Mapping[str, float]:
    return dict(zip(names, values.tolist(), strict=True))
