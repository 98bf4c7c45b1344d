# SPDX-License-Identifier: Apache-2.0
"""What keeps an engine busy with an operator, and which bytes it moves for it."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from atoll.records import dataclass


class Bound(StrEnum):
    """What decides how long an operator takes; all but the last three are parts of an engine."""

    COMPUTE = "compute"
    READ = "read"
    WRITE = "write"
    WEIGHTS = "weights"
    START = "start"
    DRIVER = "driver"
    CORE = "core"


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """How long an engine is busy, in cycles of its own clock, and with what.

    Attributes:
        cycles: from its start until it is done.
        parts: what each part would take if nothing else were to be done; some go on at once.
        reads: bytes that it reads of each tensor and each constant of its job, repetitions
            included; what is not here is read once. What it writes is written once.
    """

    cycles: int
    parts: Mapping[Bound, int]
    reads: Mapping[str, int] = field(default_factory=dict)

    @property
    def bound(self) -> Bound:
        """The part that takes longest; reads and writes of activations share a port."""
        part = self.parts.get
        read, written, weights = part(Bound.READ, 0), part(Bound.WRITE, 0), part(Bound.WEIGHTS, 0)
        if part(Bound.COMPUTE, 0) >= max(read + written, weights):
            return Bound.COMPUTE
        if weights > read + written:
            return Bound.WEIGHTS
        return Bound.READ if read >= written else Bound.WRITE
