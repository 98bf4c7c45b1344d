# SPDX-License-Identifier: Apache-2.0
"""What each core runs of a model."""

from collections.abc import Iterator, Mapping

from atoll.ir.tir import CoreCall, IRModule, KernelCall, PrimFunc, Step
from atoll.ir.walk import callees


def calls_on(module: IRModule, device: str) -> Iterator[tuple[Step, CoreCall]]:
    """Yield the steps that run a kernel on `device`, and their calls."""
    for step in module.entry.steps:
        yield from ((step, call) for call in step.calls if call.device == device)


def functions_on(module: IRModule, device: str) -> tuple[PrimFunc, ...]:
    """Return the kernels that `device` runs and all that they call, callees first."""
    needed = {call.function for _, call in calls_on(module, device)}
    found: list[PrimFunc] = []
    for function in reversed(module.functions):
        if function.name in needed:
            needed.update(callees(function))
            found.append(function)
    return tuple(reversed(found))


def overlapping_parameters(module: IRModule) -> Mapping[str, frozenset[str]]:
    """Return the parameters of each kernel that share bytes with another in some step."""
    found: dict[str, frozenset[str]] = {}
    for step in module.entry.steps:
        if isinstance(step.action, KernelCall):
            buffers = {name for each in step.overlaps for name in (each.written, each.read)}
            kernel = module.by_name[step.action.function]
            names = zip(step.action.arguments, kernel.buffers, strict=True)
            shared = frozenset(buffer.name for name, buffer in names if name in buffers)
            found[kernel.name] = found.get(kernel.name, frozenset()) | shared
    return found


def maintains(module: IRModule, device: str) -> bool:
    """Return whether the data cache of `device` is maintained in a run, or in a reset."""
    entry, steps = module.entry, module.entry.steps
    lists = (
        entry.after,
        entry.reset,
        *(step.before for step in steps),
        *(step.after for step in steps),
    )
    return any(each.device == device for operations in lists for each in operations)
