# SPDX-License-Identifier: Apache-2.0
"""What a campaign showed, kind by kind: for people and for machines."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from atoll.records import dataclass
from atoll.report.grid import Grid, Sentence
from atoll_sim.campaign import report
from atoll_sim.campaign.trials import group
from atoll_sim.faults.campaign import Campaign, Trial
from atoll_sim.faults.kinds import FaultKind
from atoll_sim.faults.task import End

HEADINGS = (
    *("kind", "runs", "right", "error code", "restarted"),
    *("wrong", "hung", "recovered"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindReport:
    """How the faults of one kind ended.

    Attributes:
        right: the run returned 0 with the outputs of the reference.
        codes: how many runs returned each error code.
        restarted: the chip restarted, or the firmware left by itself, before the run returned.
        silent: the run returned 0 with other outputs.
        hung: nothing of that within the limit of cycles.
        recovered: a later run was right, after a reset where the chip had not restarted itself.
        passed: all ended as they must.
    """

    kind: FaultKind
    injected: int
    right: int
    codes: Mapping[int, int]
    restarted: int
    silent: int
    hung: int
    recovered: int
    passed: bool


def by_kind(campaign: Campaign) -> tuple[KindReport, ...]:
    """Sum the trials of each kind up, in the order of the kinds."""
    kinds = group(campaign.trials, order=FaultKind).items()
    return tuple(_kind_report(FaultKind(kind), trials) for kind, trials in kinds)


def _kind_report(kind: FaultKind, trials: Sequence[Trial]) -> KindReport:
    endings = [trial.result for trial in trials]
    answers = [ending.answer for ending in endings]
    returned = [answer.status for answer in answers if answer.end is End.RETURNED]
    return KindReport(
        kind=kind,
        injected=len(trials),
        right=sum(ending.right for ending in endings),
        codes=dict(sorted(Counter(status for status in returned if status).items())),
        restarted=sum(answer.end in {End.RESTARTED, End.LEFT} for answer in answers),
        silent=sum(ending.silent for ending in endings),
        hung=sum(answer.end is End.HUNG for answer in answers),
        recovered=sum(ending.recovered for ending in endings),
        passed=all(trial.passed for trial in trials),
    )


def table(campaign: Campaign) -> Grid:
    """Lay the kinds out for a terminal."""
    return Grid(
        title=f"{campaign.title}: {len(campaign.trials)} hardware faults, seed {campaign.seed}",
        headings=HEADINGS,
        left=("kind",),
        rows=tuple(map(_row, by_kind(campaign))),
    )


def _row(each: KindReport) -> tuple[str, ...]:
    codes = ", ".join(f"{code}: {count}" for code, count in each.codes.items())
    counts = (each.restarted, each.silent, each.hung, each.recovered)
    return (each.kind, f"{each.injected}", f"{each.right}", codes or "0", *map(str, counts))


def untried_kinds(campaigns: Sequence[Campaign]) -> Iterator[str]:
    """Say which kinds of fault did not befall any network, and why."""
    trials = [trial for campaign in campaigns for trial in campaign.trials]
    return report.untried_kinds(
        tuple(FaultKind), trials, done="left out", option="--faults", absent="cannot meet them"
    )


def rows_of(campaigns: Sequence[Campaign], *, verbose: bool) -> Iterator[Grid | Sentence]:
    """Yield what a terminal is shown of all campaigns; `verbose` names every fault."""
    for campaign in campaigns:
        yield table(campaign)
        yield from map(Sentence, report.lines([campaign]) if verbose else ())
        yield Sentence(verdict(campaign))
    yield from map(Sentence, untried_kinds(campaigns) if campaigns else ())


def verdict(campaign: Campaign) -> str:
    """Say in a line whether the chip held, and where not."""
    bad = [each.kind for each in by_kind(campaign) if not each.passed]
    if bad:
        return f"failed: {', '.join(bad)}"
    return f"passed: no hang, no wrong result that the hardware could know of{_unknown(campaign)}"


def _unknown(campaign: Campaign) -> str:
    """Name the kinds that the hardware cannot know of."""
    kinds = [each.kind for each in by_kind(campaign) if not each.kind.detectable]
    return f" (it cannot know of a {', '.join(kinds)})" if kinds else ""


def as_json(campaign: Campaign) -> dict[str, object]:
    """Return the campaign for machines: the kinds, then every fault."""
    return {
        "soc": campaign.soc,
        "model": campaign.model,
        "seed": campaign.seed,
        "cycles": campaign.baseline.cycles,
        "passed": campaign.passed,
        "kinds": [
            {
                "kind": each.kind,
                "detectable": each.kind.detectable,
                "injected": each.injected,
                "right": each.right,
                "error_codes": {str(code): count for code, count in each.codes.items()},
                "restarted": each.restarted,
                "silently_wrong": each.silent,
                "hung": each.hung,
                "recovered": each.recovered,
                "passed": each.passed,
            }
            for each in by_kind(campaign)
        ],
        "faults": [_trial_json(trial) for trial in campaign.trials],
    }


def _trial_json(trial: Trial) -> dict[str, object]:
    fault, answer = trial.subject, trial.result.answer
    return {
        "kind": fault.kind,
        "place": fault.place,
        "at": fault.at,
        "offset_cycles": fault.offset,
        "what": fault.what,
        "end": answer.end,
        "status": answer.status,
        "cycles": answer.cycles,
        "right": trial.result.right,
        "recovered": trial.result.recovered,
    }
