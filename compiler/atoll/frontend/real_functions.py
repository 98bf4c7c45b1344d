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


def rounded(function: Callable[[NDArray[np.float64]], Any]) -> RealFunction:
    """Return a function that is computed with 64 bits, and NaN where it has no value."""

    def computed(x: Reals) -> Reals:
        with np.errstate(all="ignore"):
            return np.asarray(function(x.astype(np.float64))).astype(np.float32)

    return computed


def after(second: RealFunction, first: RealFunction) -> RealFunction:
    """Return what applies a function to the results of another one."""
    return lambda x: second(first(x))


reciprocal = rounded(lambda x: 1 / x)
square_root = rounded(np.sqrt)
error_function = np.vectorize(math.erf, otypes=[np.float64])

COMMON: dict[str, RealFunction] = {
    "ABS": rounded(np.abs),
    "CEIL": rounded(np.ceil),
    "COS": rounded(np.cos),
    "EXP": rounded(np.exp),
    "FLOOR": rounded(np.floor),
    "LOG": rounded(np.log),
    "NEG": rounded(np.negative),
    "ROUND": rounded(np.rint),
    "SIN": rounded(np.sin),
    "SQRT": square_root,
}
"""Functions that all formats have, by their names in capitals."""
