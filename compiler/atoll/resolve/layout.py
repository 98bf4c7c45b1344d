# SPDX-License-Identifier: Apache-2.0
"""Divide memories into regions: code, data and stack of each core, and the pools.

In each memory the order is fixed: pools with an offset first, then code, stacks, data and
sized pools at the lowest free address that is aligned, then each pool without a size in the
largest span that is left. A stack so lies below everything but code and explicit pools, and
one that overflows tends to leave its memory, where the firewall stops it.
"""

from atoll.description.faults import note
from atoll.diagnostics.units import format_size
from atoll.resolve.address_map import is_placed
from atoll.resolve.claims import Claim, claims_of
from atoll.resolve.draft import Draft
from atoll.resolve.soc import Memory, Region, RegionKind

Span = tuple[int, int]
"""Begin and end in bytes from the memory's origin."""


def lay_out(draft: Draft, memories: tuple[Memory, ...]) -> dict[str, Region]:
    """Return every region by name; note those for which there is no room."""
    regions: dict[str, Region] = {}
    claims = tuple(claims_of(draft, memories))
    for memory in memories:
        if not is_placed(draft, memory.name):
            continue
        wanted = tuple(claim for claim in claims if claim.memory == memory.name)
        for claim, span in _Divided(draft, memory).divide(wanted):
            regions[claim.name] = Region(
                name=claim.name,
                kind=claim.kind,
                memory=memory.name,
                origin=memory.origin + span[0] + claim.guard,
                size=span[1] - span[0] - claim.guard,
            )
    return regions


class _Divided:
    """One memory while its room is given away."""

    def __init__(self, draft: Draft, memory: Memory) -> None:
        self._draft = draft
        self._memory = memory
        self._taken: list[tuple[Claim, Span]] = []

    def divide(self, claims: tuple[Claim, ...]) -> list[tuple[Claim, Span]]:
        """Return the span of each claim that found room."""
        fixed = [claim for claim in claims if claim.offset is not None]
        offsets = sorted(claim.offset for claim in fixed if claim.offset is not None)
        for claim in fixed:
            self._pin(claim, offsets)
        for claim in claims:
            if claim.offset is None and claim.size is not None:
                self._fit(claim, claim.size + claim.guard)
        for claim in claims:
            if claim.offset is None and claim.size is None:
                self._fill(claim)
        return self._taken

    def _pin(self, claim: Claim, offsets: list[int]) -> None:
        assert claim.offset is not None
        window = claim.window
        following = (offset for offset in offsets if claim.offset < offset < window.stop)
        begin = claim.offset
        end = begin + claim.size if claim.size else next(following, window.stop)
        if (self._memory.origin + begin) % claim.alignment:
            self._note(
                "E035",
                claim,
                "offset",
                f"begins at {self._memory.origin + begin:#x}, not a multiple of its alignment",
                f"use an offset that is a multiple of {claim.alignment}",
            )
        if end > window.stop or begin >= window.stop:
            self._past_the_end(claim, begin, max(end, begin))
            return
        for other, (low, high) in self._taken:
            if begin < high and low < end:
                self._clash(claim, other)
        self._taken.append((claim, (begin, end)))

    def _fit(self, claim: Claim, size: int) -> None:
        for begin, end in self._gaps(claim):
            if end - begin >= size:
                self._taken.append((claim, (begin, begin + size)))
                return
        if size > len(claim.window):
            self._past_the_end(claim, claim.window.start, claim.window.start + size)
            return
        largest = max((end - begin for begin, end in self._gaps(claim)), default=0)
        self._note(
            "E032",
            claim,
            "size",
            f"needs {format_size(size)} in {self._memory_name(claim)}"
            f", whose largest free span is {format_size(largest)}",
            f"set '{'.'.join(claim.size_key)}' to at most {format_size(largest - claim.guard)}"
            if largest > claim.guard
            else "use another memory, or make its neighbours smaller",
        )

    def _fill(self, claim: Claim) -> None:
        gaps = self._gaps(claim)
        if not gaps:
            self._note(
                "E032",
                claim,
                "memory",
                f"finds no room in {self._memory_name(claim)}{self._greedy()}",
                "give the other regions of the memory a smaller size, or use another memory",
            )
            return
        self._taken.append((claim, max(gaps, key=lambda gap: (gap[1] - gap[0], -gap[0]))))

    def _greedy(self) -> str:
        """Name a region without a size, which took all that was left."""
        names = [f"'{claim.name}'" for claim, _ in self._taken if not claim.size]
        return f": {', '.join(names)} has no 'size' and took the rest" if names else ""

    def _gaps(self, claim: Claim) -> list[Span]:
        """Return the free spans from their first aligned byte on, lowest first."""
        origin, alignment, window = self._memory.origin, claim.alignment, claim.window
        begin, gaps = window.start, []
        taken = sorted(span for _, span in self._taken)
        for low, high in (*taken, (window.stop, window.stop)):
            aligned = -(-(origin + begin) // alignment) * alignment - origin
            if aligned < min(low, window.stop):
                gaps.append((aligned, min(low, window.stop)))
            begin = max(begin, high)
        return gaps

    def _memory_name(self, claim: Claim) -> str:
        """Return what the description calls the memory of a claim."""
        alias = "" if claim.described == claim.memory else f" (an alias of '{claim.memory}')"
        return f"memory '{claim.described}'{alias}"

    def _past_the_end(self, claim: Claim, begin: int, end: int) -> None:
        excess, room = end - claim.window.stop, claim.window.stop - begin
        self._note(
            "E032",
            claim,
            "size" if claim.size and room > 0 else "offset",
            f"ends {format_size(excess)} past the end of memory '{claim.described}'"
            if excess > 0
            else f"begins past the end of memory '{claim.described}'",
            f"set 'size' to at most {format_size(room)}"
            if room > 0
            else f"use an offset below {format_size(len(claim.window))}",
        )

    def _clash(self, claim: Claim, other: Claim) -> None:
        where = self._draft.where
        code, how = "E031", f"overlap in memory '{claim.described}'"
        if claim.described != other.described:
            code, how = "E176", f"hold the same bytes of memory '{claim.memory}' at two addresses"
        self._draft.faults.add(
            code,
            f"pools '{other.name}' and '{claim.name}' {how}",
            at=where.at(*claim.key, "offset"),
            other=note(where.at(*other.key, "offset"), f"pool '{other.name}' is here"),
            remedy="change the offset or the size of one of them",
            keys=((*claim.key, "offset"), (*other.key, "offset")),
        )

    def _note(self, code: str, claim: Claim, field: str, what: str, remedy: str) -> None:
        name = f"pool '{claim.name}'" if claim.kind is RegionKind.POOL else f"'{claim.name}'"
        self._draft.faults.add(
            code,
            f"{name} {what}",
            at=self._draft.where.at(*claim.key, field),
            remedy=remedy,
            keys=(
                (*claim.key, field) if field == "offset" else claim.size_key,
                ("memories", self._memory.name),
            ),
        )
