# SPDX-License-Identifier: Apache-2.0
"""What a campaign found: by kind of fault and by who noticed, as text and as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from atoll.report.grid import Grid, Sentence
from atoll.report.text import render
from atoll_sim.mutate.campaign import Campaign, Trial
from atoll_sim.mutate.kinds import KINDS
from atoll_sim.mutate.places import place_of
from atoll_sim.shadow.rules import RULES

SURVIVED, EQUIVALENT = "survived", "equivalent"


def noticed_by(trial: Trial) -> str:
    """Return who noticed a fault, or that it is none, or that nobody did."""
    if trial.verdict.caught:
        return trial.verdict.by
    return EQUIVALENT if trial.equivalent else SURVIVED


def table_of(trials: Sequence[Trial]) -> Grid:
    """Return how many mutants of each kind who noticed, those of the shadow memory first."""
    counts = Counter((trial.mutant.kind, noticed_by(trial)) for trial in trials)
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
    found = {noticed_by(trial) for trial in trials}
    rules = [rule.name for rule in RULES if rule.name in found]
    return (*rules, *sorted(found - {*rules, EQUIVALENT, SURVIVED}), EQUIVALENT, SURVIVED)


def text_of(campaigns: Sequence[Campaign], *, verbose: bool = False) -> Group:
    """Lay out all campaigns on one chip; `verbose` names every mutant."""
    parts: list[RenderableType] = []
    for campaign in campaigns:
        if not campaign.report.passed:
            parts.append(render(campaign.report, brief=True))
        found = len(campaign.report.violations)
        title = f"{campaign.model} on {campaign.soc}: "
        parts.append(Sentence(f"{title}{found} findings in {campaign.report.accesses:,} accesses"))
    trials = [trial for campaign in campaigns for trial in campaign.trials]
    if trials:
        parts += [
            Text(),
            table_of(trials),
            *map(Sentence, _each(campaigns) if verbose else _survivors(campaigns)),
            *map(Sentence, left_out(trials)),
            Sentence(summary(trials)),
        ]
    return Group(*parts)


def left_out(trials: Sequence[Trial]) -> Iterator[str]:
    """Say which kinds of fault were not planted, and why."""
    missing = [kind for kind in KINDS if kind not in {trial.mutant.kind for trial in trials}]
    if not missing:
        return
    names = ", ".join(missing)
    if len(trials) < len(KINDS):
        yield f"not planted, --mutants {len(KINDS)} or more tries them too: {names}"
    else:
        yield f"not planted, these networks have no place for them: {names}"


def _each(campaigns: Sequence[Campaign]) -> Iterator[str]:
    for campaign in campaigns:
        for trial in campaign.trials:
            end = trial.verdict.by or trial.equivalent or "NOBODY NOTICED"
            place = place_of(trial.mutant)
            yield f"{campaign.model}, {trial.mutant}; {place}: {end}"


def summary(trials: Sequence[Trial]) -> str:
    """Say in one sentence how many faults were noticed, and by what."""
    equivalent = sum(bool(trial.equivalent) for trial in trials)
    caught = sum(trial.verdict.caught for trial in trials)
    shadow = sum(trial.verdict.shadow for trial in trials)
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
        "right_build": campaign.report.as_json(),
        "mutants": [
            {
                **_place_json(trial),
                "kind": trial.mutant.kind,
                "area": KINDS[trial.mutant.kind].area,
                "subject": trial.mutant.subject,
                "fault": trial.mutant.sentence,
                "caught": trial.verdict.caught,
                "by": trial.verdict.by,
                "shadow": trial.verdict.shadow,
                "number": trial.verdict.number,
                "detail": trial.verdict.detail,
                "equivalent": trial.equivalent,
            }
            for trial in campaign.trials
        ],
    }


def _place_json(trial: Trial) -> dict[str, str | int | None]:
    place = place_of(trial.mutant)
    return {"buffer": place.buffer, "address": place.address, "at": place.at}


def _survivors(campaigns: Sequence[Campaign]) -> Iterator[str]:
    for campaign in campaigns:
        for trial in campaign.trials:
            if not trial.verdict.caught:
                reason = trial.equivalent or "NOBODY NOTICED"
                yield f"{campaign.model}, {trial.mutant}: {reason}"
