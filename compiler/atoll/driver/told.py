# SPDX-License-Identifier: Apache-2.0
"""What is told of a search: the stages of its plan, what was tried, what streams would save."""

from collections.abc import Iterator
from dataclasses import replace

from atoll.driver.compile import Trace
from atoll.driver.compiled import CandidateStory, Compiled
from atoll.driver.outcome import Infeasible
from atoll.driver.search import Search, Trial
from atoll.driver.usual import streams_wanted, weigh


def stages(search: Search) -> Iterator[tuple[str, object]]:
    """Yield the results of the stages of the plan, and before of the network as it is.

    Those of the network as it is come only where it has no plan.
    """
    before: tuple[object, ...] = ()
    for trial in search.trials:
        if not isinstance(trial.result, Infeasible) or trial.candidate.is_changed:
            break
        yield from _new(trial.result.trace, before)
        before = tuple(result for _, result in trial.result.trace)
    if search.best and search.best.plan:
        yield from _new(search.best.plan.seen, before)


def _new(trace: Trace, before: tuple[object, ...]) -> Trace:
    """Return what a trace has that the one before it has not: a placement may serve several."""
    known = {id(result) for result in before}
    return tuple(each for each in trace if id(each[1]) not in known)


def finished(search: Search, plan: Compiled) -> Compiled:
    """Return the plan of a search with all that is told of it."""
    best = search.best_of(lambda each: each.streams is None)
    streaming = plan.streaming
    if best and best.plan is plan and streams_wanted(search.task):
        streaming = replace(weigh(search.task, plan), chosen=())
    return replace(
        plan,
        seen=(),
        streaming=replace(streaming, direct=best.cycles if best else None),
        candidates=tuple(_story(search, trial) for trial in search.trials),
    )


def _story(search: Search, trial: Trial) -> CandidateStory:
    best, candidate = search.best, trial.candidate
    assert best is not None
    story = CandidateStory(
        words=str(candidate),
        choices=candidate.as_json(search.task.network),
        outcome="chosen",
        cycles=trial.cycles,
    )
    if isinstance(trial.result, Infeasible):
        return replace(story, outcome="refused", refusal=trial.result.error)
    used = {name: use.used for name, use in trial.result.plan.use.items() if use.used}
    story = replace(story, used=used)
    if trial is best:
        return story
    assert trial.cycles is not None
    assert best.cycles is not None
    saves = best.cycles - trial.cycles
    outcome = "not clearly faster" if saves > 0 else "slower"
    if search.task.asked.stream == "always" and best.candidate.streams and not candidate.streams:
        outcome = "not as asked"
    return replace(
        story,
        outcome=outcome,
        saves=saves,
        has_to_save=search.least_saved(candidate, best),
    )
