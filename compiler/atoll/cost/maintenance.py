# SPDX-License-Identifier: Apache-2.0
"""What cores take to clean and invalidate data caches, by the instructions of that code.

That is `atoll_cache_clean` and `atoll_cache_invalidate` of `bsp/templates/atoll_cache.c.j2`, which
go from line to line, or leave that to registers; and likewise of an accelerator's. A barrier
counts as one instruction; what a dirty line takes that leaves is that of lines that move. How long
registers take is not known: a core looks twice at one that it waits for
(`atoll.cost.basis.ASSUMED`).
"""

from collections.abc import Iterable, Mapping

from atoll.cost.counted import CLASSES, Counts, cycles_by_class, timed_core
from atoll.cost.spent import of_host
from atoll.ir.maintenance import Maintenance, Operation
from atoll.resolve.register_steps import ALL, is_by_line
from atoll.resolve.soc import Cpu, Npu, ResolvedSoc


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
    operations: Iterable[Maintenance],
    device: Cpu | Npu,
    lines: Mapping[str, int],
    soc: ResolvedSoc,
) -> int:
    """Return what those operations take that are on the cache of a device, in the host's cycles.

    A core does them itself, the host those of an accelerator.

    Args:
        operations: of any devices.
        device: one with a data cache.
        lines: of each buffer.
        soc: the chip.
    """
    own = [each for each in operations if each.device == device.name]
    core = device if isinstance(device, Cpu) else soc.host_cpu
    if not own or (core is device and not core.maintained_by):
        return 0
    timed = timed_core(core)
    assert timed.spec.timing
    takes = cycles_by_class(timed, timed.spec.timing, soc)
    cycles = 0.0
    for operation in own:
        calls, each = (
            sum(number * cycles for number, cycles in zip(counts, takes, strict=True))
            for counts in _counts_of(device, operation.operation)
        )
        cycles += calls + lines[operation.buffer] * each
    return of_host(round(cycles), core, soc)


def _counts_of(device: Cpu | Npu, operation: Operation) -> tuple[Counts, Counts]:
    """Return the instructions of a call, and of each line."""
    found = device.cache and device.cache.maintenance
    if not found:
        assert isinstance(device, Cpu)
        return CALL[device.maintained_by], LINE[device.maintained_by]
    steps = found.clean if operation is Operation.CLEAN else found.invalidate
    number = dict.fromkeys(("load", "store", "other", "branch", "taken"), 0.0)
    for step in steps:
        masked = step.mask != ALL
        number["load"] += 2 if step.waits else masked
        number["store"] += not step.waits
        number["other"] += 2 + 2 * masked
        number["branch"] += 2 * step.waits
        number["taken"] += step.waits
    calls = _counts(other=10, branch=1, jump=2, taken=2)
    if is_by_line(steps):
        number["branch"] += 1
        number["taken"] += 1
        return calls, _counts(**number)
    return tuple(map(sum, zip(calls, _counts(**number), strict=True))), _counts()
