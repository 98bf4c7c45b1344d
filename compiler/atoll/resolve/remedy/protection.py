# SPDX-License-Identifier: Apache-2.0
"""Candidates for cores whose protection unit has too few regions."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from atoll.description.edits import Candidate, Edit, hexadecimal, set_key
from atoll.description.tree import Key
from atoll.resolve.address_map import REGISTER_PAGE
from atoll.resolve.remedy.case import Case


def merge_regions(case: Case) -> Iterator[Candidate]:
    """Yield the accesses with which neighbours become one region, one after the other.

    Then registers that move to the first ones, one after the other; then off.
    """
    pools = [key for key in case.fault.keys[1:] if key[0] == "pools"]
    accesses = tuple(set_key(key, "rw") for key in pools)
    yield from ((each,) for each in accesses)
    yield from (accesses[:number] for number in range(2, len(accesses) + 1))
    yield from _adjoin(case, [key for key in case.fault.keys[1:] if key[0] == "devices"])
    yield (set_key(case.fault.keys[0], "false"),)


def _adjoin(case: Case, blocks: Sequence[Key]) -> Iterator[Candidate]:
    first = case.at(*blocks[0]) if blocks else None
    if isinstance(first, int):
        moves = tuple(
            Edit(key, hexadecimal(first + number * REGISTER_PAGE))
            for number, key in enumerate(blocks)
        )
        yield from (moves[1:number] for number in range(2, len(moves) + 1))


def off(case: Case) -> Iterator[Candidate]:
    """Yield a core without memory protection."""
    yield (set_key(case.key, "false"),)


PROTECTION: Mapping[str, Callable[[Case], Iterator[Candidate]]] = {
    "E105": merge_regions,
    "E106": off,
}
