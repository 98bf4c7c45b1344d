# SPDX-License-Identifier: Apache-2.0
"""What a trace shows, in cycles of the host: tracks, and what happens on them."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from atoll.description.tree import BUILT_IN
from atoll.diagnostics.units import nanoseconds
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc

Facts = Mapping[str, Any]
"""By name, as in the JSON; None is what is not known, and is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """How cycles become nanoseconds.

    Attributes:
        device: the host.
        hertz: None where the chip gives no clock.
    """

    device: str
    hertz: int | None

    @classmethod
    def of(cls, soc: ResolvedSoc) -> "Clock":
        """Return the clock of a chip's host."""
        given = soc.layers.get(f"devices.{soc.host}.clock") != BUILT_IN
        return cls(device=soc.host, hertz=soc.host_cpu.clock if given else None)

    def nanoseconds(self, cycle: int) -> int:
        """Return when a cycle begins."""
        return cycle if self.hertz is None else nanoseconds(cycle, self.hertz)

    def __str__(self) -> str:
        if self.hertz is None:
            return f"1 cycle is drawn as 1 ns: the chip gives '{self.device}' no clock"
        return f"cycles of '{self.device}' at {self.hertz} Hz"


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """A line of the picture.

    Attributes:
        parent: the track that it is shown below.
        description: a sentence.
        counts: it shows a number of bytes.
    """

    name: str
    parent: "Track | None" = None
    description: str = ""
    counts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Something that takes time, or none: a finding or a mismatch.

    Attributes:
        category: ``firmware``, ``network``, ``operator``, ``helper``, ``wait``, ``memory``,
            ``interrupt``, ``finding`` or ``mismatch``.
        flows: numbers of the flows that it begins.
        ends: numbers of the flows that end in it.
    """

    track: Track
    category: str
    name: str
    begin: int
    end: int
    facts: Facts
    flows: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Level:
    """From a cycle on, a counter has a value."""

    track: Track
    cycle: int
    value: int


@dataclass(slots=True)
class Drawing:
    """A trace."""

    clock: Clock
    tracks: list[Track] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    flows: int = 0

    def track(
        self, name: str, parent: Track | None = None, description: str = "", *, counts: bool = False
    ) -> Track:
        """Add a track behind the others."""
        track = Track(name, parent, description, counts)
        self.tracks.append(track)
        return track

    def flow(self) -> int:
        """Return the number of a new flow."""
        self.flows += 1
        return self.flows
