# SPDX-License-Identifier: Apache-2.0
"""What a campaign found: by kind of fault and by who noticed, as text and as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from atoll.report.grid import Grid, Sentence
from atoll.report.text import render
from atoll_sim.campaign import report
from atoll_sim.coverage.folder import is_said
from atoll_sim.mutate.campaign import Campaign, Trial
from atoll_sim.mutate.kinds import KINDS
from atoll_sim.mutate.mutant import Mutant
from atoll_sim.mutate.places import place_of
from atoll_sim.mutate.trial import Verdict
from atoll_sim.shadow.rules import RULES

SURVIVED, EQUIVALENT = "survived", "equivalent"


def verdict_of(trial: Trial) -> str:
    """Return who noticed a fault, or that it is none, or that nobody did."""
    if trial.result.caught:
        return trial.result.by
    return EQUIVALENT if trial.passed else SURVIVED


def table_of(trials: Sequence[Trial]) -> Grid:
    """Return how many mutants of each kind who noticed, those of the shadow memory first."""
    counts = Counter((trial.kind, verdict_of(trial)) for trial in trials)
    ways = columns(trials)
    rows = []
    for kind, row in KINDS.items():
        total = sum(counts[kind, way] for way in ways)
        if total:
            who = ", ".join(f"{way} {counts[kind, way]}" for way in ways if counts[kind, way])
            rows.append((kind, row.area, str(total), who))
    return Grid(
        title="planted faults, by kind and by who noticed first",
        headings=("fault", "in", "mutants", "noticed by"),
        left=("fault", "in", "noticed by"),
        rows=rows,
    )


def columns(trials: Sequence[Trial]) -> Sequence[str]:
    """Return everything that noticed something: the rules in their order, then the rest."""
    found = {verdict_of(trial) for trial in trials}
    rules = [rule.name for rule in RULES if rule.name in found]
    return (*rules, *sorted(found - {*rules, EQUIVALENT, SURVIVED}), EQUIVALENT, SURVIVED)


def text_of(campaigns: Sequence[Campaign], *, verbose: bool = False) -> Group:
    """Lay out all campaigns on one chip; `verbose` names every mutant."""
    parts: list[RenderableType] = []
    for campaign in campaigns:
        right = campaign.baseline
        if not campaign.sound:
            parts.append(render(right, brief=True))
        found = f"{len(right.violations)} findings in {right.accesses:,} accesses"
        parts.append(Sentence(f"{campaign.title}: {found}"))
        parts += [Sentence(note) for note in right.notes if campaign.sound and is_said(note)]
    trials = [trial for campaign in campaigns for trial in campaign.trials]
    if trials:
        parts += [
            Text(),
            table_of(trials),
            *map(Sentence, _trial_lines(campaigns, verbose=verbose)),
            *map(Sentence, untried_kinds(trials)),
            Sentence(summary(trials)),
        ]
    return Group(*parts)


def untried_kinds(trials: Sequence[Trial]) -> Iterator[str]:
    """Say which kinds of fault were not planted, and why."""
    return report.untried_kinds(
        tuple(KINDS),
        trials,
        done="not planted",
        option="--mutants",
        absent="have no place for them",
    )


def _trial_lines(campaigns: Sequence[Campaign], *, verbose: bool) -> Iterator[str]:
    """Yield a line for each mutant with its place, or for each that nobody noticed."""
    for campaign in campaigns:
        for trial in campaign.trials:
            if verbose:
                yield f"{campaign.model}, {trial.subject}; {place_of(trial.subject)}: {trial.end}"
            elif not trial.result.caught:
                yield f"{campaign.model}, {trial}"


def summary(trials: Sequence[Trial]) -> str:
    """Say in one sentence how many faults were noticed, and by what."""
    equivalent = sum(bool(trial.result.equivalent) for trial in trials)
    caught = sum(trial.result.caught for trial in trials)
    shadow = sum(trial.result.shadow for trial in trials)
    return (
        f"{caught} of {len(trials) - equivalent} faults noticed, {shadow} by the shadow memory; "
        f"{equivalent} more mutants are proven to be no fault"
    )


def as_json(campaign: Campaign) -> dict[str, Any]:
    """Return a campaign as plain data."""
    return {
        "soc": campaign.soc,
        "model": campaign.model,
        "passed": campaign.passed,
        "right_build": campaign.baseline.as_json(),
        "mutants": [_trial_json(trial.subject, trial.result) for trial in campaign.trials],
    }


def _trial_json(mutant: Mutant, verdict: Verdict) -> dict[str, Any]:
    place = place_of(mutant)
    return {
        "buffer": place.buffer,
        "address": place.address,
        "at": place.at,
        "kind": mutant.kind,
        "area": KINDS[mutant.kind].area,
        "subject": mutant.subject,
        "fault": mutant.sentence,
        "caught": verdict.caught,
        "by": verdict.by,
        "shadow": verdict.shadow,
        "number": verdict.number,
        "detail": verdict.detail,
        "equivalent": verdict.equivalent,
    }
