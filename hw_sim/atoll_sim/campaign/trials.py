# SPDX-License-Identifier: Apache-2.0
"""Trials and their campaign: what was tried, what came of it, and what must not have."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from atoll.diagnostics.progress import Progress, Steps
from atoll.records import dataclass

Subject = TypeVar("Subject")
Result = TypeVar("Result")
Baseline = TypeVar("Baseline")
Item = TypeVar("Item")


# No slots: in Python 3.11 a frozen class with them is not made through an alias like `Trial[X, Y]`.
@dataclass(frozen=True, kw_only=True)
class Trial(Generic[Subject, Result]):
    """One trial.

    Attributes:
        kind: of trials that are counted together.
        subject: what was tried; its text says it in a sentence.
        result: what came of it.
        end: the same in a few words.
        wrong: what is held against the tested, a sentence each; empty if it did as it must.
    """

    kind: str
    subject: Subject
    result: Result
    end: str
    wrong: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.subject}: {self.end}"

    @property
    def passed(self) -> bool:
        """Nothing is held against the tested."""
        return not self.wrong


@dataclass(frozen=True, kw_only=True)
class Campaign(Generic[Subject, Result, Baseline]):
    """All trials of a network on a chip.

    Attributes:
        seed: decides what is tried.
        baseline: what a run showed in which all is right.
        sound: that run is right; if not, nothing is tried.
    """

    soc: str
    model: str
    seed: int
    baseline: Baseline
    sound: bool = True
    trials: tuple[Trial[Subject, Result], ...]

    @property
    def passed(self) -> bool:
        """The run in which all is right is, and nothing is held against the tested."""
        return self.sound and all(trial.passed for trial in self.trials)

    @property
    def title(self) -> str:
        """The network and its chip."""
        return f"{self.model} on {self.soc}"


def follow(
    trials: Iterable[Item],
    total: int,
    say: Callable[[Sequence[Item]], str],
    progress: Progress,
) -> tuple[Item, ...]:
    """Take trials as they end, and tell how far they are.

    Args:
        trials: end one after the other.
        total: how many there will be.
        say: a line about those that have ended; how long the rest will take is added.
        progress: takes the line.
    """
    ended: list[Item] = []
    steps = Steps(total, progress)
    for trial in trials:
        ended.append(trial)
        steps.tell(len(ended), say(ended))
    return tuple(ended)


def rotate(kinds: Sequence[Item], first: int) -> Sequence[Item]:
    """Return the kinds in turn, so many skipped at first: networks that share few get others."""
    begin = first % len(kinds)
    return (*kinds[begin:], *kinds[:begin])


def group(
    trials: Iterable[Trial[Subject, Result]],
    by: Callable[[Trial[Subject, Result]], str] = lambda trial: trial.kind,
    order: Iterable[str] = (),
) -> Mapping[str, Sequence[Trial[Subject, Result]]]:
    """Return the trials of each kind, in the order of `order`, then as they come."""
    found: dict[str, list[Trial[Subject, Result]]] = {name: [] for name in order}
    for trial in trials:
        found.setdefault(by(trial), []).append(trial)
    return {name: same for name, same in found.items() if same}
