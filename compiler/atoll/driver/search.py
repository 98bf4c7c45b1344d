# SPDX-License-Identifier: Apache-2.0
"""The search for a plan: a strategy proposes candidates, each is compiled, the best one stays.

In which order candidates come, the strategy decides (`atoll.driver.usual`); what they cost, and
which of two is better, is said here.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice

from atoll.driver.candidate import Candidate
from atoll.driver.compile import Compiler, Placed
from atoll.driver.compiled import Compiled, expected_length
from atoll.driver.outcome import Infeasible, least_refusal
from atoll.driver.task import Task

BUDGET = 512
"""Candidates that one search compiles at most; Atoll's own strategy proposes fewer."""

LEAST_SAVED = 32
"""Copies have to save this part of a network's cycles; estimates tell no less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of a candidate.

    Attributes:
        result: a plan, or what the candidate lacks.
        cycles: of the network by estimate; None without a plan.
    """

    candidate: Candidate
    result: Compiled | Infeasible
    cycles: int | None

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
    """

    task: Task
    trials: list[Trial] = field(default_factory=list)
    best: Trial | None = None

    def __post_init__(self) -> None:
        """Keep one compiler, which places candidates that differ in little once."""
        self._compiler = Compiler(self.task)
        self._last: Trial | None = None

    def run(self, proposals: Iterable[Candidate], budget: int = BUDGET) -> "Search":
        """Compile what is proposed, one after the other, until nothing is or the budget is spent.

        Whoever proposes sees in `last` and `best` what came of all before.
        """
        for candidate in islice(proposals, budget):
            trial = self._last = self.known(candidate) or self._tried(candidate)
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
        if self.task.asked.stream == "always" and bool(one.streams) != bool(two.streams):
            return one.streams is not None
        return trial.cycles <= other.cycles - self.least_saved(one, other)

    @staticmethod
    def least_saved(candidate: Candidate, other: Trial) -> int:
        """Return the cycles that a candidate has to save to be better than another trial."""
        if candidate.copies > other.candidate.copies:
            return (other.cycles or 0) // LEAST_SAVED
        return 1

    @property
    def last(self) -> Trial:
        """The trial of what was proposed last, whether it was made then or before."""
        assert self._last is not None
        return self._last

    def known(self, candidate: Candidate) -> Trial | None:
        """Return the trial of a candidate, None if there is none yet."""
        return next((each for each in self.trials if each.candidate == candidate), None)

    def best_of(self, fits: Callable[[Candidate], bool]) -> Trial | None:
        """Return the best of some trials, None if none has a plan."""
        best: Trial | None = None
        for trial in self.trials:
            if trial.plan and fits(trial.candidate) and (not best or self.beats(trial, best)):
                best = trial
        return best

    def refused(self, base: Candidate) -> Infeasible | None:
        """Return what the plainest variant of a candidate lacks, None if it was not refused.

        Of its refusals that counts which asks for least.
        """
        plain = (replace(base, overlap=overlap) for overlap in self.task.overlaps)
        trials = [trial for each in plain if (trial := self.known(each))]
        refused = [each.result for each in trials if isinstance(each.result, Infeasible)]
        return least_refusal(refused) if refused and not trials[0].plan else None

    def moves_operators(self, *, unlike: bool) -> bool:
        """Tell whether the first candidate with unlike cores is placed in another way."""
        first = self.trials[0].candidate
        one, two = map(self._compiler.placed, (first, replace(first, unlike=unlike)))
        if not isinstance(one, Placed) or not isinstance(two, Placed):
            return one is not two
        return one.graph.operators != two.graph.operators

    def _tried(self, candidate: Candidate) -> Trial:
        result = self._compiler.compile(candidate)
        cycles = expected_length(result) if isinstance(result, Compiled) else None
        self.trials.append(Trial(candidate=candidate, result=result, cycles=cycles))
        return self.trials[-1]
