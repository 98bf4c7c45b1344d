# SPDX-License-Identifier: Apache-2.0
"""Searches a space with Optuna: some points are proposed, their rows are told, and so on.

Proposals come in generations of a fixed size, so that what is drawn does not depend on how many
workers there are or which of them answers first.
"""

from collections.abc import Generator, Sequence

import optuna

from atoll.description.sweep import BUILT_FIGURES, Sweep
from atoll.description.sweep_values import magnitude
from atoll_sweep.asker import FINE, Row
from atoll_sweep.space import number_of

GENERATION = {"nsga2": 50, "tpe": 16}


def propose(sweep: Sweep, objectives: Sequence[str]) -> Generator[list[int], Sequence[Row], None]:
    """Yield generations of points, and take their rows in the same order.

    A generation may have points twice, and points of earlier ones.
    """
    search = sweep.model.search
    assert search.points is not None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        sampler=_sampler(search.method, search.seed), directions=["minimize"] * len(objectives)
    )
    distributions = dict(_distributions(sweep))
    for begin in range(0, search.points, GENERATION[search.method]):
        count = min(GENERATION[search.method], search.points - begin)
        trials = [study.ask(distributions) for _ in range(count)]
        choices = [tuple(trial.params[name] for name in sweep.axes) for trial in trials]
        rows = yield [number_of(choice, sweep.lengths) for choice in choices]
        for trial, row in zip(trials, rows, strict=True):
            _tell(study, trial, row, sweep, objectives)


def _tell(
    study: optuna.Study,
    trial: optuna.Trial,
    row: Row,
    sweep: Sweep,
    objectives: Sequence[str],
) -> None:
    values = [row[name] for name in objectives if row.get(name) is not None]
    if row["status"] != FINE or len(values) < len(objectives):
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
        return
    for name, share in excess(row, sweep).items():
        trial.set_constraint(name, share)
    study.tell(trial, values)


def excess(row: Row, sweep: Sweep) -> dict[str, float]:
    """Return by which share a row is above each limit, or negative; above if it is not known.

    Limits of what is built count once something is.
    """
    return {
        name: 1.0 if row.get(name) is None else row[name] / limit - 1
        for name, limit in sweep.limits.items()
        if name in row or name not in BUILT_FIGURES
    }


def _sampler(method: str, seed: int) -> optuna.samplers.BaseSampler:
    if method == "tpe":
        return optuna.samplers.TPESampler(seed=seed)
    return optuna.samplers.NSGAIISampler(population_size=GENERATION[method], seed=seed)


def _distributions(sweep: Sweep) -> Generator[tuple[str, optuna.distributions.BaseDistribution]]:
    """Yield what each axis draws from: the numbers of its values, in order where they have one."""
    for name, values in sweep.axes.items():
        known = [magnitude(each.label) for each in values]
        numbers = range(len(values))
        if None not in known and known == sorted(known, key=lambda one: one or 0):
            yield name, optuna.distributions.IntDistribution(0, len(values) - 1)
        else:
            yield name, optuna.distributions.CategoricalDistribution(numbers)
