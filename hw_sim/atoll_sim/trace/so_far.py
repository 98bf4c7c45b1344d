# SPDX-License-Identifier: Apache-2.0
"""How far a simulation is, and what it has measured so far; whoever runs it keeps this."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, field
from typing import Any, Self

from atoll.records import dataclass

SECONDS = 0.5
"""Between two words about how far it is."""


@dataclass(slots=True, kw_only=True)
class SoFar:
    """How far a simulation of networks is that run in turn.

    Attributes:
        networks: how many they are.
        cycle: clock cycles so far.
        seconds: since reset was released.
        begun: runs that have begun.
        done: operators of the present run that have ended.
        begin: cycle at which the present run began.
        last: cycle of the last begin or end in it.
        took: of each network's first run, by its turn: by the number of each operator that has
            ended, the cycles between its end and the one before.
        lengths: likewise the cycles of its last run that has ended.
    """

    networks: int = 1
    cycle: int = 0
    seconds: float = 0.0
    begun: int = 0
    done: int = 0
    begin: int = 0
    last: int = 0
    took: dict[int, dict[int, int]] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)

    @property
    def turn(self) -> int:
        """The network whose run is the present one."""
        return max(0, self.begun - 1) % self.networks

    def begin_run(self, cycle: int) -> None:
        """Note that a run begins."""
        self.begun, self.done, self.begin, self.last = self.begun + 1, 0, cycle, cycle

    def end_operator(self, number: int, cycle: int) -> None:
        """Note that an operator has ended."""
        if self.turn not in self.lengths:
            self.took.setdefault(self.turn, {})[number] = cycle - self.last
        self.done, self.last = self.done + 1, cycle

    def end_run(self, cycle: int) -> None:
        """Note that the present run has ended."""
        self.lengths[self.turn] = cycle - self.begin

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)

    @classmethod
    def of_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return what `as_json` was made of."""
        took = {int(turn): _by_number(each) for turn, each in plain["took"].items()}
        return cls(**{**plain, "took": took, "lengths": _by_number(plain["lengths"])})


def _by_number(plain: Mapping[str, int]) -> dict[int, int]:
    return {int(number): cycles for number, cycles in plain.items()}


class Teller:
    """Tells how far a simulation is, now and then."""

    def __init__(
        self, tell: Callable[[SoFar], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell, self._clock = tell, clock
        self._begin = self._told = clock()

    def look(self, so_far: SoFar, cycle: Callable[[], int], *, always: bool = False) -> None:
        """Tell if it is time; `always`: also if it is not."""
        now = self._clock()
        if always or now - self._told >= SECONDS:
            self._told = now
            so_far.cycle, so_far.seconds = cycle(), now - self._begin
            self._tell(so_far)
