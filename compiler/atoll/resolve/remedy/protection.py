"""Candidates for cores whose protection unit has too few regions."""

from collections.abc import Callable, Iterator, Mapping

from atoll.description.edits import Candidate, setting
from atoll.resolve.remedy.case import Case


def merged(case: Case) -> Iterator[Candidate]:
    """Yield the accesses with which neighbours become one region, one after the other; then off."""
    accesses = tuple(setting(key, "rw") for key in case.fault.keys[1:])
    yield from ((each,) for each in accesses)
    yield from (accesses[:number] for number in range(2, len(accesses) + 1))
    yield (setting(case.fault.keys[0], "false"),)


def off(case: Case) -> Iterator[Candidate]:
    """Yield a core without memory protection."""
    yield (setting(case.key, "false"),)


PROTECTION: Mapping[str, Callable[[Case], Iterator[Candidate]]] = {"E105": merged, "E106": off}
