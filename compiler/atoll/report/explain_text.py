# SPDX-License-Identifier: Apache-2.0
"""What `atoll explain SOC MODEL` prints."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from atoll.diagnostics.columns import wrap
from atoll.diagnostics.shown import printable
from atoll.isa.code_target import OWN
from atoll.place.decision import Decision
from atoll.place.target_choice import TargetChoice
from atoll.records import dataclass
from atoll.report.buffer_uses import Use, needs_of_uses
from atoll.report.coverage import Share, coverage_json, coverage_tables
from atoll.report.explain_buffers import BufferStory, stories_of
from atoll.report.explain_cuts import CutStory, cut_table
from atoll.report.explain_streams import StreamingStory
from atoll.report.scopes import Scopes
from atoll.resolve.tables import Table, as_text

USES_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A network on a chip: its buffers, and why its operators run where they run."""

    soc: str
    model: str
    model_sha256: str
    buffers: tuple[BufferStory, ...]
    decisions: tuple[Decision, ...]
    cuts: tuple[CutStory, ...] = ()
    streaming: StreamingStory | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    coverage: tuple[Share, ...] = ()
    notes: tuple[str, ...] = ()
    scopes: Scopes
    targets: tuple[TargetChoice, ...] = ()

    def operators_text(self, columns: int | None = None) -> str:
        """Return what each device does, as tables of at most so many columns."""
        return as_text((*coverage_tables(self.coverage), *self._left_out), columns)

    @property
    def _left_out(self) -> tuple[Table, ...]:
        return (omission_table(self.left_out),) if self.left_out else ()

    def text(self, buffer: str | None = None, columns: int | None = None) -> str:
        """Return all as tables of at most so many columns, or all about buffers.

        `buffer` is a name or a pattern.

        Raises:
            UsageError: E028; there is no such buffer.
        """
        if buffer is None:
            told = tuple(story for story in self.buffers if story.asked)
            asked = (request_table(told),) if told else ()
            tables = (story_table(self.buffers), *asked, decision_table(self.decisions))
            tables += (target_table(self.targets),) if self.targets else ()
            cuts = (cut_table(self.cuts),) if self.cuts else ()
            streams = (self.streaming.table(),) if self.streaming else ()
            text = as_text((*tables, *self._left_out, *cuts, *streams), columns)
            return text + "".join(f"\n{wrap(f'note: {each}', columns)}\n" for each in self.notes)
        return "\n".join(
            story_text(each, decisions_about([each], self.decisions))
            for each in stories_of(self.buffers, buffer)
        )

    def as_json(self, buffer: str | None = None) -> dict[str, object]:
        """Return the same for machines.

        Raises:
            UsageError: E028; there is no such buffer.
        """
        stories, decisions = self.buffers, self.decisions
        if buffer is not None:
            stories = stories_of(self.buffers, buffer)
            decisions = decisions_about(stories, decisions)
        return {
            "soc": self.soc,
            "model": self.model,
            "model_sha256": self.model_sha256,
            "buffers": [story.as_json() for story in stories],
            "operators": decisions_json(decisions),
            "targets": [each.as_json() for each in self.targets],
            "scopes": self.scopes.as_json(),
            "coverage": coverage_json(self.coverage),
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
            "cuts": [cut.as_json() for cut in self.cuts],
            "streaming": self.streaming.as_json() if self.streaming else None,
        }


def story_table(stories: Iterable[BufferStory]) -> Table:
    """Return one line for each buffer."""
    return Table(
        key="buffers",
        title="Buffers",
        columns=("buffer", "what", "place", "offset", "address", "bytes", "live", "touched by"),
        rows=tuple(
            (
                story.name,
                story.what,
                story.place,
                "-" if story.offset is None else story.offset,
                "-" if story.address is None else f"{story.address:#010x}",
                "run time" if story.size is None else story.size,
                _steps(story),
                ", ".join(f"{name} {need}" for name, need in needs_of_uses(story.uses).items()),
            )
            for story in stories
        ),
    )


def request_table(stories: Iterable[BufferStory]) -> Table:
    """Return one line for each request, with what is left of the buffer's candidates."""
    return Table(
        key="asked",
        title="Asked for",
        columns=("buffer", "asked", "by", "left", "place"),
        rows=tuple(
            (
                story.name,
                each.words,
                str(each.at or "command line"),
                ", ".join(story.left),
                story.place,
            )
            for story in stories
            for each in story.asked
        ),
    )


def decision_table(decisions: Iterable[Decision]) -> Table:
    """Return one line for each operator of the network."""
    return Table(
        key="operators",
        title="Operators",
        columns=("operator", "device", "why", "not elsewhere because"),
        rows=tuple(
            (
                decision.operator,
                decision.device,
                decision.reason,
                "; ".join(_not_elsewhere(decision)),
            )
            for decision in decisions
        ),
    )


def target_table(choices: Iterable[TargetChoice]) -> Table:
    """Return one line for each operator on a core with targets."""
    return Table(
        key="targets",
        title="Targets of the operators' code",
        columns=("operator", "device", "target", "why"),
        rows=tuple(
            (each.operator, each.device, each.target or OWN, each.reason) for each in choices
        ),
    )


def _not_elsewhere(decision: Decision) -> Iterator[str]:
    """Yield why an operator is not on other devices, those with one reason together."""
    devices: dict[str, list[str]] = {}
    for device, why in decision.rejected:
        devices.setdefault(why, []).append(device)
    return (f"{', '.join(names)}: {why}" for why, names in devices.items())


def omission_table(left_out: Mapping[str, str]) -> Table:
    """Return one line for each operator of the model file that is not run."""
    return Table(
        key="left_out",
        title="Operators that are left out",
        columns=("operator", "by the pass"),
        rows=tuple(left_out.items()),
    )


def decisions_json(decisions: Iterable[Decision]) -> list[dict[str, object]]:
    """Return the decisions for machines."""
    return [
        {
            "operator": decision.operator,
            "device": decision.device,
            "reason": decision.reason,
            "rejected": dict(decision.rejected),
            "basis": decision.why.basis,
            "turns_to": decision.why.turns_to or None,
            "within_band": list(decision.why.within),
            "costs": {device: cost.as_json() for device, cost in decision.why.costs.items()},
        }
        for decision in decisions
    ]


def decisions_about(
    stories: Iterable[BufferStory], decisions: Iterable[Decision]
) -> tuple[Decision, ...]:
    """Return the decisions about operators that touch buffers."""
    operators = {use.operator for story in stories for use in story.uses}
    return tuple(decision for decision in decisions if decision.operator in operators)


def story_text(story: BufferStory, decisions: Sequence[Decision]) -> str:
    """Return all about one buffer; `decisions` are those of the operators that touch it."""
    return "\n".join(map(printable, _lines(story, decisions))) + "\n"


def _lines(story: BufferStory, decisions: Sequence[Decision]) -> Iterator[str]:
    size = "sized at run time" if story.size is None else f"{story.size:,} B"
    yield f"{story.name}: {story.what}, {size}, steps {_steps(story)}"
    at = "" if story.address is None else f" at {story.address:#010x}, offset {story.offset:,}"
    yield f"  where: {story.place}{at}; scope {story.scope}"
    if any(seen != story.address for seen in story.seen_at.values()):
        places = (f"{device} at {seen:#010x}" for device, seen in story.seen_at.items())
        yield f"  seen by: {', '.join(places)}"
    yield f"  why: {story.rule}"
    for each in story.asked:
        yield f"  asked: {each}, which leaves {', '.join(story.left)}"
    if story.views:
        yield f"  is also: {', '.join(story.views)}"
    yield "  touched by:"
    yield from (f"    {line}" for line in _uses(story.uses))
    yield "  not in:"
    yield from (f"    {each}" for each in story.alternatives)
    if decisions:
        yield "  operators:"
        yield from (f"    {decision}" for decision in decisions)


def _uses(uses: Sequence[Use]) -> Iterator[str]:
    yield from map(str, uses[:USES_SHOWN])
    if len(uses) > USES_SHOWN:
        yield f"... and {len(uses) - USES_SHOWN} more times"


def _steps(story: BufferStory) -> str:
    return ", ".join(f"{first}..{end - 1}" for first, end in story.live)
