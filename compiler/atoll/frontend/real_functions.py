# SPDX-License-Identifier: Apache-2.0
"""What real numbers compute of one number: float32 to float32, each rounded once.

Several front ends make tables of int8 of them.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float32]
RealFunction = Callable[[Reals], Reals]


def round_results(function: Callable[[NDArray[np.float64]], Any]) -> RealFunction:
    """Return a function that is computed with 64 bits, and NaN where it has no value."""

    def compute(x: Reals) -> Reals:
        with np.errstate(all="ignore"):
            return np.asarray(function(x.astype(np.float64))).astype(np.float32)

    return compute


def after(second: RealFunction, first: RealFunction) -> RealFunction:
    """Return what applies a function to the results of another one."""
    return lambda x: second(first(x))


reciprocal = round_results(lambda x: 1 / x)
square_root = round_results(np.sqrt)
error_function = np.vectorize(math.erf, otypes=[np.float64])

COMMON: dict[str, RealFunction] = {
    "ABS": round_results(np.abs),
    "CEIL": round_results(np.ceil),
    "COS": round_results(np.cos),
    "EXP": round_results(np.exp),
    "FLOOR": round_results(np.floor),
    "LOG": round_results(np.log),
    "NEG": round_results(np.negative),
    "ROUND": round_results(np.rint),
    "SIN": round_results(np.sin),
    "SQRT": square_root,
}
"""Functions that all formats have, by their names in capitals."""
