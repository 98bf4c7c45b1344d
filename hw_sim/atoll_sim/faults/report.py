# SPDX-License-Identifier: Apache-2.0
"""What a campaign showed, kind by kind: for people and for machines."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from atoll.report.grid import Grid, Sentence
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
    """

    kind: FaultKind
    injected: int
    right: int
    codes: Mapping[int, int]
    restarted: int
    silent: int
    hung: int
    recovered: int

    @property
    def passed(self) -> bool:
        """No fault hung the chip, or left it unable to run; none that can be known was silent."""
        silent = self.silent if self.kind.detectable else 0
        return not silent and not self.hung and self.recovered == self.injected


def by_kind(campaign: Campaign) -> tuple[KindReport, ...]:
    """Sum the trials of each kind up, in the order of the kinds."""
    return tuple(
        _kind_report(kind, trials)
        for kind in FaultKind
        if (trials := [trial for trial in campaign.trials if trial.fault.kind is kind])
    )


def _kind_report(kind: FaultKind, trials: list[Trial]) -> KindReport:
    answers = [trial.answer for trial in trials]
    returned = [answer.status for answer in answers if answer.end is End.RETURNED]
    return KindReport(
        kind=kind,
        injected=len(trials),
        right=sum(trial.right for trial in trials),
        codes=dict(sorted(Counter(status for status in returned if status).items())),
        restarted=sum(answer.end in {End.RESTARTED, End.LEFT} for answer in answers),
        silent=sum(trial.silent for trial in trials),
        hung=sum(answer.end is End.HUNG for answer in answers),
        recovered=sum(trial.recovered for trial in trials),
    )


def passed(campaign: Campaign) -> bool:
    """Return whether every kind passed."""
    return all(report.passed for report in by_kind(campaign))


def table(campaign: Campaign) -> Grid:
    """Lay the kinds out for a terminal."""
    return Grid(
        title=f"{campaign.model} on {campaign.soc}: {len(campaign.trials)} hardware faults,"
        f" seed {campaign.seed}",
        headings=HEADINGS,
        left=("kind",),
        rows=tuple(map(_row, by_kind(campaign))),
    )


def _row(report: KindReport) -> tuple[str, ...]:
    codes = ", ".join(f"{code}: {count}" for code, count in report.codes.items())
    counts = (report.restarted, report.silent, report.hung, report.recovered)
    return (
        report.kind,
        *(str(report.injected), str(report.right), codes or "0"),
        *map(str, counts),
    )


def left_out(campaigns: Sequence[Campaign]) -> Iterator[str]:
    """Say which kinds of fault did not befall any network, and why."""
    trials = [trial for campaign in campaigns for trial in campaign.trials]
    missing = [kind for kind in FaultKind if kind not in {trial.fault.kind for trial in trials}]
    if not missing:
        return
    names = ", ".join(missing)
    if len(trials) < len(FaultKind):
        yield f"left out, --faults {len(FaultKind)} or more tries them too: {names}"
    else:
        yield f"left out, these networks cannot meet them: {names}"


def shown(campaigns: Sequence[Campaign], *, verbose: bool) -> Iterator[Grid | Sentence]:
    """Yield what a terminal is shown of all campaigns; `verbose` names every fault."""
    for campaign in campaigns:
        yield table(campaign)
        yield from map(Sentence, lines(campaign) if verbose else ())
        yield Sentence(verdict(campaign))
    yield from map(Sentence, left_out(campaigns) if campaigns else ())


def lines(campaign: Campaign) -> Iterator[str]:
    """Yield a line for every fault: what befell which part, and how it ended."""
    for trial in campaign.trials:
        fault, answer = trial.fault, trial.answer
        end = f"{answer.end}, status {answer.status}, {'right' if trial.right else 'wrong'}"
        yield f"{campaign.model}, {fault}: {end}"


def verdict(campaign: Campaign) -> str:
    """Say in a line whether the chip held, and where not."""
    bad = [report.kind for report in by_kind(campaign) if not report.passed]
    if bad:
        return f"failed: {', '.join(bad)}"
    return f"passed: no hang, no wrong result that the hardware could know of{_unknown(campaign)}"


def _unknown(campaign: Campaign) -> str:
    """Name the kinds that the hardware cannot know of."""
    kinds = [report.kind for report in by_kind(campaign) if not report.kind.detectable]
    return f" (it cannot know of a {', '.join(kinds)})" if kinds else ""


def as_json(campaign: Campaign) -> dict[str, object]:
    """Return the campaign for machines: the kinds, then every fault."""
    return {
        "soc": campaign.soc,
        "model": campaign.model,
        "seed": campaign.seed,
        "cycles": campaign.cycles,
        "passed": passed(campaign),
        "kinds": [
            {
                "kind": report.kind,
                "detectable": report.kind.detectable,
                "injected": report.injected,
                "right": report.right,
                "error_codes": {str(code): count for code, count in report.codes.items()},
                "restarted": report.restarted,
                "silently_wrong": report.silent,
                "hung": report.hung,
                "recovered": report.recovered,
                "passed": report.passed,
            }
            for report in by_kind(campaign)
        ],
        "faults": [_trial_json(trial) for trial in campaign.trials],
    }


def _trial_json(trial: Trial) -> dict[str, object]:
    fault, answer = trial.fault, trial.answer
    return {
        "kind": fault.kind,
        "place": fault.place,
        "at": fault.at,
        "offset_cycles": fault.offset,
        "what": fault.what,
        "end": answer.end,
        "status": answer.status,
        "cycles": answer.cycles,
        "right": trial.right,
        "recovered": trial.recovered,
    }
