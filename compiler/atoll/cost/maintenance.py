# SPDX-License-Identifier: Apache-2.0
"""What cores take to clean and invalidate their data caches, by the instructions of that code.

That is `atoll_cache_clean` and `atoll_cache_invalidate` of `bsp/templates/atoll_cache.c.j2`, which
go from line to line. A barrier counts as one instruction; what a dirty line takes that leaves is
that of lines that move.
"""

from collections.abc import Iterable, Mapping

from atoll.cost.counted import CLASSES, Counts, cycles_by_class, timed_core
from atoll.ir.maintenance import Maintenance
from atoll.resolve.soc import Cpu, ResolvedSoc


def _counts(**numbers: float) -> Counts:
    return tuple(numbers.get(name, 0.0) for name in CLASSES)


CALL: Mapping[str, Counts] = {
    "scb": _counts(other=14, branch=1, jump=2, taken=3),
    "zicbom": _counts(other=8, branch=1, jump=2, taken=2),
}
"""Instructions of a call, by how a core maintains its cache."""

LINE: Mapping[str, Counts] = {
    "scb": _counts(other=2, store=1, branch=1, taken=0.25),
    "zicbom": _counts(other=1, store=1, branch=1, taken=1),
}
"""Those of each line: clang has four lines of an Arm core in one round."""


def maintenance_cycles(
    operations: Iterable[Maintenance], core: Cpu, lines: Mapping[str, int], soc: ResolvedSoc
) -> int:
    """Return what a core takes for those operations that are its own, in its own cycles.

    Args:
        operations: of any cores.
        core: one with a data cache.
        lines: of each buffer.
        soc: the chip.
    """
    own = [lines[each.buffer] for each in operations if each.core == core.name]
    if not own or core.spec.cache is None:
        return 0
    timed = timed_core(core)
    assert timed.spec.timing
    takes = cycles_by_class(timed, timed.spec.timing, soc)
    calls, each = (
        sum(number * cycles for number, cycles in zip(table[core.spec.cache], takes, strict=True))
        for table in (CALL, LINE)
    )
    return round(len(own) * calls + sum(own) * each)
