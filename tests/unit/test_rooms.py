# SPDX-License-Identifier: Apache-2.0
"""Results for pools of some sizes hold for those that have room for the same."""

from collections.abc import Sequence
from dataclasses import replace

from atoll.reach.candidates import WORKSPACE_ROLES, pools_for
from atoll.reach.rooms import Answers
from atoll.resolve import load_soc
from atoll.resolve.soc import Access, ResolvedSoc


def _sized(soc: ResolvedSoc, size: int) -> ResolvedSoc:
    pools = (replace(each, region=replace(each.region, size=size)) for each in soc.pools)
    return replace(soc, pools=tuple(pools))


def _asked(rooms: Sequence[int], most: int) -> list[int]:
    """Return the rooms for which pools were asked for, of those that somebody wants."""
    soc, made, answers = load_soc("lagoon"), list[int](), Answers[tuple[str, ...]](most)

    def make(chip: ResolvedSoc) -> tuple[str, ...]:
        made.append(chip.pools[0].room)
        pools_for(chip, {"cpu": Access.WRITE}, WORKSPACE_ROLES, 96)
        return pools_for(chip, {"cpu": Access.WRITE}, WORKSPACE_ROLES, 100)

    for room in rooms:
        chip = _sized(soc, room)
        assert answers.find(chip, make) == pools_for(
            chip, {"cpu": Access.WRITE}, WORKSPACE_ROLES, 100
        )
    return made


def test_a_result_holds_where_the_same_sizes_have_room() -> None:
    assert _asked((50, 95, 96, 99, 100, 4096, 50, 97), 4) == [50, 96, 100]


def test_the_last_results_are_kept() -> None:
    assert _asked((50, 97, 100, 97, 50), 2) == [50, 97, 100, 50]
