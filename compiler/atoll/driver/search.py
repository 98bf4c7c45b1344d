# SPDX-License-Identifier: Apache-2.0
"""The search for a plan: a strategy proposes candidates, each is compiled, the best one stays.

In which order candidates come, the strategy decides (`atoll.driver.usual`, or a package's); what
they cost, and which of two is better, is said here.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import field, replace
from itertools import count, islice

from atoll.cost.bands import Pessimistic
from atoll.diagnostics.errors import AtollError
from atoll.diagnostics.progress import tell
from atoll.driver.candidate import Candidate, CandidateStory, Infeasible
from atoll.driver.compiled import Compiled, expected_length, most_cycles
from atoll.driver.stages import Compiler, Placed
from atoll.driver.task import Task, Trace
from atoll.plugins.loading import CORRECT_MEMBER, foreign_code
from atoll.plugins.registry import Registry
from atoll.records import dataclass

BUDGET = 512
"""Candidates that one search compiles at most; Atoll's own strategy proposes fewer."""

LEAST_SAVED = 32
"""Copies have to save this part of a network's cycles; estimates tell no less."""

_UNLIMITED = 1 << 62
"""More bytes than any remedy asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of a candidate.

    Attributes:
        result: a plan, or what the candidate lacks.
        cycles: of the network by estimate; None without a plan.
        weight: by what plans are compared: the same, or the most that it may be.
        trace: the results of the stages, if the task records them.
    """

    candidate: Candidate
    result: Compiled | Infeasible
    cycles: int | None
    weight: Pessimistic = (False, 0)
    trace: Trace = field(default=(), repr=False)

    @property
    def plan(self) -> Compiled | None:
        """The plan, if there is one."""
        return self.result if isinstance(self.result, Compiled) else None


@dataclass
class Search:
    """Candidates of one task, and what came of them.

    Attributes:
        trials: one of each candidate, in the order in which they were made.
        best: of those with a plan, the one that would be taken now.
        all_devices: all assignments of operators to devices were tried; None without a search.
    """

    task: Task
    trials: list[Trial] = field(default_factory=list)
    best: Trial | None = None
    all_devices: bool | None = None

    def __post_init__(self) -> None:
        """Keep one compiler, which places candidates that differ in little once."""
        self._compiler = Compiler(self.task)
        self._last: Trial | None = None

    def run(self, proposals: Iterable[Candidate], budget: int = BUDGET) -> "Search":
        """Compile what is proposed, one after the other, until nothing is or the budget is spent.

        Whoever proposes sees in `last` and `best` what came of all before.
        """
        for candidate in islice(proposals, budget):
            trial = self._last = self.trial_of(candidate) or self._try(candidate)
            if trial.plan and (self.best is None or self.beats(trial, self.best)):
                self.best = trial
        return self

    def beats(self, trial: Trial, other: Trial) -> bool:
        """Tell whether a trial is better than another one: it takes fewer cycles by estimate.

        One with more kinds of copies has to take clearly fewer. Streams that the user asks for
        count more than cycles.
        """
        if trial.cycles is None or other.cycles is None:
            return trial.cycles is not None
        one, two = trial.candidate, other.candidate
        if self._is_as_asked(one) != self._is_as_asked(two):
            return self._is_as_asked(one)
        (unknown, most), (others_unknown, others_most) = trial.weight, other.weight
        if unknown != others_unknown:
            return others_unknown
        return most <= others_most - self._least_saved(one, other)

    def _is_as_asked(self, candidate: Candidate) -> bool:
        return candidate.streams is not None or self.task.asked.stream != "always"

    @staticmethod
    def _least_saved(candidate: Candidate, other: Trial) -> int:
        """Return the cycles that a candidate has to save to be better than another trial."""
        if candidate.copies > other.candidate.copies:
            return other.weight[1] // LEAST_SAVED
        return 1

    @property
    def last(self) -> Trial:
        """The trial of what was proposed last, whether it was made then or before."""
        assert self._last is not None
        return self._last

    @property
    def plan(self) -> Compiled | None:
        """The plan that would be taken now."""
        return self.best.plan if self.best else None

    def until_one_fits(
        self, candidates: Iterable[Candidate]
    ) -> Generator[Candidate, None, Compiled | None]:
        """Propose candidates until one has a plan; return that plan."""
        for candidate in candidates:
            yield candidate
            if plan := self.last.plan:
                return plan
        return None

    def trial_of(self, candidate: Candidate) -> Trial | None:
        """Return the trial of a candidate, None if there is none yet."""
        return next((each for each in self.trials if each.candidate == candidate), None)

    def best_of(self, fits: Callable[[Candidate], bool]) -> Trial | None:
        """Return the best of some trials, None if none has a plan."""
        best: Trial | None = None
        for trial in self.trials:
            if trial.plan and fits(trial.candidate) and (not best or self.beats(trial, best)):
                best = trial
        return best

    def refusal_of(self, base: Candidate) -> Infeasible | None:
        """Return what the plainest variant of a candidate lacks, None if it was not refused.

        Of its refusals that counts which asks for least.
        """
        refused = self._refusals_of(base)
        if not refused:
            return None
        first, *others = refused
        if not others or first.error.faults[0].code not in ("E062", "E206"):
            return first
        return min((*others, first), key=lambda each: sum(each.lacks.values()) or _UNLIMITED)

    def any_refusal_of(self, base: Candidate) -> Infeasible | None:
        """Return as `refusal_of`, or another refusal that wants the same pools to be larger.

        How much larger takes many searches, which this leaves out.
        """
        refused = self._refusals_of(base)
        if refused and len({each.pools for each in refused}) == 1:
            return refused[0]
        return self.refusal_of(base)

    def _refusals_of(self, base: Candidate) -> list[Infeasible]:
        """Return why variants of a candidate were refused, nothing if the plainest was not."""
        plain = (replace(base, overlap=overlap) for overlap in self.task.overlaps)
        results = [trial.result for each in plain if (trial := self.trial_of(each))]
        refused = [each for each in results if isinstance(each, Infeasible)]
        return refused if refused and results[0] is refused[0] else []

    def moves_operators(self) -> bool:
        """Tell whether the first candidate is placed in another way with unlike cores."""
        first = self.trials[0].candidate
        one, two = map(self._compiler.place, (first, replace(first, unlike=True)))
        if not isinstance(one, Placed) or not isinstance(two, Placed):
            return one is not two
        return one.graph.operators != two.graph.operators

    def stories(self) -> tuple[CandidateStory, ...]:
        """Return what came of each trial, as it is told once the best is chosen."""
        return tuple(self._story(trial) for trial in self.trials)

    def _story(self, trial: Trial) -> CandidateStory:
        outcome, lost = self._verdict(trial)
        use = trial.plan.plan.use if trial.plan else {}
        return CandidateStory(
            words=str(trial.candidate),
            choices=trial.candidate.as_json(self.task.network),
            outcome=outcome,
            cycles=trial.cycles,
            used={name: each.used for name, each in use.items() if each.used},
            lost=lost,
            refused=trial.result if isinstance(trial.result, Infeasible) else None,
        )

    def _verdict(self, trial: Trial) -> tuple[str, str]:
        """Return what came of a trial in a word, and why its plan was not chosen."""
        best = self.best
        if best is None or best.cycles is None or trial.cycles is None:
            return "refused", ""
        if trial is best:
            return "chosen", ""
        if self._is_as_asked(best.candidate) and not self._is_as_asked(trial.candidate):
            return "not as asked", "streams are asked for"
        if trial.weight[0] != best.weight[0]:
            return "slower", "nobody knows how far its estimate may be off"
        saves = best.weight[1] - trial.weight[1]
        if saves > 0:
            least = self._least_saved(trial.candidate, best)
            return "not clearly faster", f"saves {saves:,} cycles, not {least:,}"
        return "slower", f"{-saves:,} cycles more" if saves else "no fewer cycles"

    def _try(self, candidate: Candidate) -> Trial:
        if self.trials:
            tell(f"compiling '{self.task.network.name}': candidate {len(self.trials) + 1}")
        trace: list[tuple[str, object]] = []
        result = self._compiler.compile(candidate, self.task.recorder(trace))
        cycles, weight = None, (False, 0)
        if isinstance(result, Compiled):
            cycles = expected_length(result)
            weight = most_cycles(result) if self.task.asked.robust else (False, cycles)
        trial = Trial(
            candidate=candidate, result=result, cycles=cycles, weight=weight, trace=tuple(trace)
        )
        self.trials.append(trial)
        return trial


Strategy = Callable[[Search], Iterable[Candidate]]
"""Proposes candidates for a search; it sees what came of all before."""

STRATEGIES: Registry[Strategy] = Registry(
    group="atoll.strategies",
    noun="strategy",
    own={"usual": "atoll.driver.usual:propose"},
    interface=("search",),
)
"""The strategies by name; packages add theirs."""

_END = object()


def proposals(search: Search) -> Iterable[Candidate]:
    """Return what the strategy of a task proposes.

    Raises:
        AtollError: as `Registry.get`; E111, E112, another package's strategy fails, or proposes
            what is no candidate.
    """
    requests = search.task.options.requests
    name = requests.model.strategy
    proposed = STRATEGIES.get(name, at=requests.where.at("strategy"))(search)
    return proposed if name in STRATEGIES.own else _check(proposed, f"strategy '{name}'")


def _check(proposed: object, who: str) -> Iterator[Candidate]:
    """Yield what code of another package yields."""
    with foreign_code(f"{who} returned no candidates", code="E112", remedy=CORRECT_MEMBER):
        candidates = iter(proposed)  # type: ignore[call-overload]
    for number in count():
        with foreign_code(f"{who} failed", remedy=CORRECT_MEMBER):
            candidate = next(candidates, _END)
        if candidate is _END and number:
            return
        if not isinstance(candidate, Candidate):
            what = "nothing" if candidate is _END else f"{candidate!r:.80}, no candidate"
            raise AtollError("E112", f"{who} proposed {what}", remedy=CORRECT_MEMBER)
        yield candidate
