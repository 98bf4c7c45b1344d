# SPDX-License-Identifier: Apache-2.0
"""Memory over time: each pool as rectangles of time and address, and the story of each buffer."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from markupsafe import Markup

from atoll.records import dataclass
from atoll.report.pool_picture import Block, PoolPicture
from atoll.report.pool_svg import linked_svg
from atoll_report.figures import inline
from atoll_report.node import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A buffer of a plan; `id` names its place in the page, `story` is what `explain` tells."""

    id: str
    name: str
    buffer: Node
    story: Node | None

    @property
    def size(self) -> int:
        """Bytes."""
        size: int = self.buffer["size_bytes"].raw
        return size

    @property
    def elsewhere(self) -> list[str]:
        """Other pools that might hold it."""
        here = self.buffer["pool"].raw
        return [each for each in self.buffer["candidates"].raw if each != here]

    @property
    def live(self) -> list[tuple[int, int]]:
        """Half-open intervals of steps."""
        live: list[tuple[int, int]] = self.buffer["live_steps"].raw
        return live


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The step of a pool at which most bytes are live.

    Attributes:
        step: the first of them.
        live: the buffers that are live, the greatest first.
        sum: of their sizes.
        most: the buffer that lowers the greatest sum at any step the most if it lies elsewhere;
            None if none lowers it.
        without: that sum then.
    """

    step: int
    live: tuple[Placed, ...]
    sum: int
    most: Placed | None
    without: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPage:
    """What the page shows of a pool."""

    name: str
    use: Node
    picture: Markup
    peak: Peak


MOST_STORIES = 1000
"""Buffers of a network whose stories are told in full; where there are more, all are short."""


def content(documents: Node) -> Mapping[str, object] | None:
    """Return what fills the page."""
    if not documents["plan"]:
        return None
    told = {each["model"].raw: each for each in documents["explanation"]}
    return {
        "networks": [
            _network(number, plan, told.get(plan["model"].raw))
            for number, plan in enumerate(documents["plan"])
        ]
    }


def _network(number: int, plan: Node, explanation: Node | None) -> Mapping[str, object]:
    stories = {each["name"].raw: each for each in explanation["buffers"]} if explanation else {}
    buffers = [
        Placed(id=f"b{number}-{row}", name=name, buffer=buffer, story=stories.get(name))
        for row, (name, buffer) in enumerate(plan["buffers"].items())
    ]
    return {
        "plan": plan,
        "explanation": explanation,
        "buffers": buffers,
        "brief": len(buffers) > MOST_STORIES,
        "whole": _whole(buffers),
        "pools": list(_pools(plan, buffers)),
    }


def _whole(buffers: Sequence[Placed]) -> list[int]:
    """Return the steps in which anything is live."""
    spans = [span for each in buffers for span in each.live]
    return [
        min((each[0] for each in spans), default=0),
        max((each[1] for each in spans), default=0),
    ]


def _pools(plan: Node, buffers: Sequence[Placed]) -> Iterator[PoolPage]:
    for pool, use in plan["pools"].items():
        if inside := [each for each in buffers if each.buffer["pool"].raw == pool]:
            links = {each.name: f"#{each.id}" for each in inside}
            picture = linked_svg(_picture(pool, use, inside), links)
            yield PoolPage(
                name=pool,
                use=use,
                picture=inline(picture, "zoom"),
                peak=_peak(inside, use["peak_bytes"].raw),
            )


def _picture(pool: str, use: Node, buffers: Sequence[Placed]) -> PoolPicture:
    ordered = sorted(buffers, key=lambda each: (each.live, each.buffer["offset_bytes"].raw))
    blocks = tuple(
        Block(
            buffer=each.name,
            number=number,
            begin=begin,
            end=end,
            low=each.buffer["offset_bytes"].raw,
            high=each.buffer["offset_bytes"].raw + each.size,
        )
        for number, each in enumerate(ordered)
        for begin, end in each.live
    )
    return PoolPicture(
        pool=pool,
        size=use["size_bytes"].raw or 0,
        used=use["used_bytes"].raw,
        bound=use["bound_bytes"].raw,
        begin=min(block.begin for block in blocks),
        end=max(block.end for block in blocks),
        blocks=blocks,
    )


def _peak(buffers: Sequence[Placed], peak_bytes: int) -> Peak:
    """Return the peak; `peak_bytes` is less than the sum where buffers lie over each other."""
    levels = _levels(buffers)
    total = max(levels.values())
    peaks = [step for step, live in levels.items() if live == total]
    live = sorted(
        (each for each in buffers if _is_live(each, peaks[0])), key=lambda each: -each.size
    )
    most, without = None, min(total, peak_bytes)
    for each in live:
        if each.size and all(_is_live(each, step) for step in peaks):
            rest = max(sum_ - each.size * _is_live(each, step) for step, sum_ in levels.items())
            if rest < without:
                most, without = each, rest
    return Peak(step=peaks[0], live=tuple(live), sum=total, most=most, without=without)


def _levels(buffers: Sequence[Placed]) -> Mapping[int, int]:
    """Return how many bytes are live from each step on at which that changes."""
    changes: dict[int, int] = {}
    for each in buffers:
        for begin, end in each.live:
            changes[begin] = changes.get(begin, 0) + each.size
            changes[end] = changes.get(end, 0) - each.size
    steps = sorted(changes)
    return dict(zip(steps, accumulate(changes[step] for step in steps), strict=True))


def _is_live(buffer: Placed, step: int) -> bool:
    return any(begin <= step < end for begin, end in buffer.live)
