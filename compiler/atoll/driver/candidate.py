# SPDX-License-Identifier: Apache-2.0
"""A candidate: one way to compile a network, as a value; what it lacks, and what is told of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import field

from atoll.diagnostics.errors import Refusal
from atoll.diagnostics.units import format_size
from atoll.ir.graph import Graph
from atoll.lower.overlapping import OVERLAPPING, Overlapping
from atoll.memory.problem import Infeasible as NoPlan
from atoll.memory.solve import crowded_pools
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll.stream.choose import Chooser, Streaming
from atoll.tile.cut import Tiling
from atoll.tile.far_pools import without_accelerators

_OVERLAPS = {
    OVERLAPPING["none"][0]: ("results apart",),
    OVERLAPPING["all"][0]: ("costly overlaps",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPolicy:
    """How constants of accelerators are copied ahead; which are, the placed graph decides.

    Attributes:
        share: of a pool's room, what streams may take besides operands.
        pools: of each operator's constants in the plan without streams; empty without one.
        every: all that can be streamed is, whether it saves time or not.
        needed: accelerators count as reaching what a DMA engine can bring them.
    """

    share: float
    pools: Mapping[str, str] = field(default_factory=dict)
    every: bool = False
    needed: bool = False

    def choose(self, graph: Graph, soc: ResolvedSoc) -> Streaming:
        """Choose what is streamed of a placed graph."""
        return Chooser(graph, soc, self.pools, self.share).streaming(every=self.every)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """All that the compiler chooses before it places and plans a network.

    Attributes:
        overlap: where results may lie over operands.
        fused: patterns of accelerators are one operator each.
        spread: operators may be spread over cores of one kind.
        unlike: operators go to cores that nobody asks for, where they are surely faster.
        devices: where operators run, by name, if not on the devices that are usually chosen.
        spared: pools that accelerators leave to DMA engines, which copy rows from there.
        tiling: which chains of operators are cut into stripes, None for the network as it is.
        streams: None if accelerators read all constants where they lie.
    """

    overlap: Overlapping
    fused: bool = False
    spread: bool = False
    unlike: bool = False
    devices: tuple[tuple[str, str], ...] = ()
    spared: frozenset[str] = frozenset()
    tiling: Tiling | None = None
    streams: StreamPolicy | None = None

    @property
    def copies(self) -> int:
        """How many of its choices rest on copies, whose cost estimates know least about."""
        return bool(self.spared) + (self.streams is not None)

    @property
    def is_changed(self) -> bool:
        """Whether it is more than a variant of the network as it is."""
        return self.unlike or bool(self.copies or self.devices) or self.tiling is not None

    def chip(self, soc: ResolvedSoc) -> ResolvedSoc:
        """Return the chip that it is planned for: accelerators do not reach spared pools."""
        return without_accelerators(soc, self.spared) if self.spared else soc

    def as_json(self, network: Graph) -> dict[str, object]:
        """Return the choices for programs; `network` is what is cut."""
        tiling, streams = self.tiling or Tiling(), self.streams
        return {
            "overlap": {"commands": self.overlap.splits, "apart": self.overlap.apart.value},
            "fused": self.fused,
            "spread": self.spread,
            "unlike_cores": self.unlike,
            "devices": dict(self.devices),
            "spared_pools": sorted(self.spared),
            "stripes": [
                {
                    "first": network.operators[cut.begin].name,
                    "last": network.operators[cut.end - 1].name,
                    "stripes": cut.stripes,
                }
                for cut in tiling.cuts
            ],
            "apart": dict(tiling.apart),
            "streams": None
            if streams is None
            else {"share": streams.share, "every": streams.every},
        }

    def _counts(self) -> Mapping[str, int]:
        return Counter(device for _, device in self.devices)

    def __str__(self) -> str:
        """Return the choices in a few words, such as ``3 stripes, no overlap that costs``."""
        words = [
            *(["fused"] if self.fused else ()),
            *(["may be spread over cores"] if self.spread else ()),
            *(["may run on unlike cores"] if self.unlike else ()),
            *(f"{count} on {device}" for device, count in self._counts().items()),
            *(["rows copied from " + ", ".join(sorted(self.spared))] if self.spared else ()),
        ]
        if self.tiling is not None:
            counts = " + ".join(str(cut.stripes) for cut in self.tiling.cuts)
            words.append(f"{counts or 'no'} stripes")
            pools = Counter(self.tiling.apart.values())
            for pool, count in sorted(pools.items()):
                words.append(f"{count} tensor{'s' * (count != 1)} in {pool}")
        if self.streams:
            words.append(f"streams in {self.streams.share:.0%} of the room")
        words += _OVERLAPS.get(self.overlap, ())
        return ", ".join(words) or "as it is"


@dataclass(frozen=True, slots=True, kw_only=True)
class Infeasible:
    """The chip does not suffice for a candidate.

    Attributes:
        error: why; its faults may take long to find, which happens once somebody reads them.
        answer: no plan was found for buffers each of which has a pool; None if that is not why.
    """

    error: Refusal
    answer: NoPlan | None = None

    @property
    def crowded(self) -> bool:
        """Whether there was no room."""
        return self.answer is not None

    @property
    def pools(self) -> frozenset[str]:
        """The pools that the refusal wants to be larger."""
        found = crowded_pools(self.answer) if self.answer else None
        if found is not None:
            return found
        keys = (key.split(".") for key in self.lacks)
        return frozenset(key[1] for key in keys if key[0] == "pools" and key[2:] == ["size"])

    @property
    def lacks(self) -> Mapping[str, int]:
        """Bytes by dotted key of a size, of a pool or a stack, that the refusal asks for."""
        return self.error.wants


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateStory:
    """What a candidate chooses and what came of it, without the plan itself.

    Attributes:
        words: what it chooses, for people.
        choices: the same for programs.
        outcome: ``chosen``, ``refused``, ``slower``, ``not clearly faster`` or ``not as asked``.
        cycles: of the network by estimate; None without a plan.
        used: bytes of each pool that its plan uses.
        lost: why its plan was not chosen, "" if it was or there is none.
        refused: why there is no plan; what it lacks is found once somebody asks.
    """

    words: str
    choices: Mapping[str, object]
    outcome: str
    cycles: int | None
    used: Mapping[str, int]
    lost: str
    refused: Infeasible | None

    @property
    def why(self) -> str:
        """Why it is not the plan, "" if it is."""
        if self.refused is None:
            return self.lost
        lacks = self.refused.lacks.items()
        needs = [f"needs '{key}' of {format_size(size)}" for key, size in lacks]
        return " and ".join(needs) or self.refused.error.faults[0].message

    def as_json(self) -> dict[str, object]:
        """Return the story for programs."""
        return {
            "candidate": self.words,
            "choices": dict(self.choices),
            "outcome": self.outcome,
            "cycles": self.cycles,
            "used_bytes": dict(self.used),
            "lacks_bytes": dict(self.refused.lacks) if self.refused else {},
            "why": self.why,
        }
