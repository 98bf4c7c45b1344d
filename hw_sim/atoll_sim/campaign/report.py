# SPDX-License-Identifier: Apache-2.0
"""What reports of campaigns say alike."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from atoll_sim.campaign.trials import Campaign, Trial


def lines(campaigns: Iterable[Campaign[Any, Any, Any]]) -> Iterator[str]:
    """Yield a line for every trial: what was tried, and how it ended."""
    for campaign in campaigns:
        for trial in campaign.trials:
            yield f"{campaign.model}, {trial}"


def untried_kinds(
    kinds: Sequence[str], trials: Sequence[Trial[Any, Any]], *, done: str, option: str, absent: str
) -> Iterator[str]:
    """Say which kinds were not tried, and why.

    Args:
        kinds: all that there are.
        trials: that were tried.
        done: what was not done with the others.
        option: says how many trials there are.
        absent: what networks have that cannot meet a kind.
    """
    missing = [kind for kind in kinds if kind not in {trial.kind for trial in trials}]
    if not missing:
        return
    more = f"{option} {len(kinds)} or more tries them too"
    why = more if len(trials) < len(kinds) else f"these networks {absent}"
    yield f"{done}, {why}: {', '.join(missing)}"
