"""What `atoll explain SOC MODEL --candidates` prints: what the compiler tried, and why it lost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from atoll.errors import Refusal
from atoll.resolve.tables import Table
from atoll.units import format_size


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateStory:
    """A candidate, and what came of it.

    Attributes:
        words: what it chooses, for people.
        choices: the same for programs.
        outcome: ``chosen``, ``refused``, ``slower``, ``not clearly faster`` or ``not as asked``.
        cycles: of the network by estimate; None without a plan.
        saves: cycles less than the plan that was chosen; negative if it takes more.
        has_to_save: how many it would have had to save.
        used: bytes of each pool that its plan uses.
        refusal: why there is no plan; what it lacks is found once somebody asks.
    """

    words: str
    choices: Mapping[str, object]
    outcome: str
    cycles: int | None = None
    saves: int = 0
    has_to_save: int = 0
    used: Mapping[str, int] = field(default_factory=dict)
    refusal: Refusal | None = None

    @property
    def lacks(self) -> Mapping[str, int]:
        """Bytes by dotted key of a size, of a pool or a stack, that the refusal asks for."""
        return self.refusal.wants if self.refusal else {}

    @property
    def why(self) -> str:
        """Why it is not the plan, "" if it is."""
        if self.refusal is not None:
            needs = [f"needs '{key}' of {format_size(size)}" for key, size in self.lacks.items()]
            return " and ".join(needs) or self.refusal.faults[0].message
        if self.outcome == "not as asked":
            return "streams are asked for"
        if self.outcome == "slower":
            return f"{-self.saves} cycles more" if self.saves else "no fewer cycles"
        if self.outcome == "not clearly faster":
            return f"saves {self.saves} cycles, not {self.has_to_save}"
        return ""

    def as_json(self) -> dict[str, object]:
        """Return the story for programs."""
        return {
            "candidate": self.words,
            "choices": dict(self.choices),
            "outcome": self.outcome,
            "cycles": self.cycles,
            "used_bytes": dict(self.used),
            "lacks_bytes": dict(self.lacks),
            "why": self.why,
        }


def candidate_table(stories: Iterable[CandidateStory]) -> Table:
    """Return one line for each candidate, in the order in which they were tried."""
    return Table(
        key="candidates",
        title="Candidates",
        columns=("number", "candidate", "outcome", "cycles", "bytes", "why"),
        rows=tuple(
            (
                number,
                each.words,
                each.outcome,
                "-" if each.cycles is None else each.cycles,
                sum(each.used.values()) if each.used else "-",
                each.why or "-",
            )
            for number, each in enumerate(stories, 1)
        ),
    )
