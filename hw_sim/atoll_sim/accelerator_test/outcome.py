# SPDX-License-Identifier: Apache-2.0
"""What the conformance kit found: plain data."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Check:
    """What was tried in one way.

    Attributes:
        name: in what way.
        tried: how often.
        faults: what was wrong.
        seconds: that it took.
    """

    name: str
    tried: int
    faults: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The values of one feature that operators had, and its limits; None where it has none."""

    operator: str
    feature: str
    least: int
    most: int
    limits: tuple[int | None, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Cycles of operators of a kind that firmware ran alone, and what was expected of them.

    Attributes:
        operator: the kind.
        pairs: cycles that were expected, and those that were measured; at least one pair.
    """

    operator: str
    pairs: tuple[tuple[int, int], ...]

    @property
    def ratios(self) -> tuple[float, float]:
        """The least and the greatest of measured by expected."""
        ratios = [measured / expected for expected, measured in self.pairs]
        return min(ratios), max(ratios)

    @property
    def fit(self) -> tuple[float, int]:
        """Factor and offset that make measured cycles of expected ones, by least squares."""
        expected, measured = (np.array(each, float) for each in zip(*self.pairs, strict=True))
        if np.ptp(expected) == 0:
            return float(measured.mean() / expected.mean()), 0
        factor, offset = np.polyfit(expected, measured, 1)
        return float(factor), round(float(offset))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All of it.

    Attributes:
        accelerator: its name.
        in_rtl: there is RTL, which was tried.
        left_out: operators that the kit draws none of.
    """

    accelerator: str
    in_rtl: bool
    checks: tuple[Check, ...]
    coverage: tuple[Coverage, ...]
    timings: tuple[Timing, ...]
    left_out: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Nothing was wrong, and something was tried."""
        return not any(check.faults for check in self.checks) and any(
            check.tried for check in self.checks
        )
