"""What the conformance kit found: plain data."""

from dataclasses import dataclass


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
    """Cycles of an operator in a run of firmware, and what the formula of its cost says."""

    operator: str
    measured: int
    estimated: int


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
