# SPDX-License-Identifier: Apache-2.0
"""Give cores with stacks of their own kernels of their own."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from atoll.ir.tir import Allocate, IRModule, PrimFunc, Step
from atoll.ir.walk import statements
from atoll.records import dataclass
from atoll.resolve.storage_scope import GLOBAL, IN_WORKSPACE


@dataclass(frozen=True)
class SeparateKernels:
    """Copy each kernel whose buffers have no place yet for every further core that runs it.

    A core's limits then decide about its own copy alone. Kernels without such buffers stay shared.
    The first core that runs a kernel keeps its name; a copy is called ``<kernel>_on_<core>``.
    """

    name: ClassVar[str] = "separate-kernels"

    def run(self, module: IRModule) -> IRModule:
        """Return the module in which every kernel with buffers to place runs on one core."""
        names = _names(module)
        functions = tuple(
            replace(function, name=name)
            for function in module.functions
            for name in names.get(function.name, {"": function.name}).values()
        )
        steps = tuple(_rename(step, names) for step in module.entry.steps)
        return replace(module, functions=functions, entry=replace(module.entry, steps=steps))


def _names(module: IRModule) -> Mapping[str, Mapping[str, str]]:
    """Return for each kernel with buffers to place what it is called on each of its cores."""
    names: dict[str, dict[str, str]] = {}
    taken = set(module.by_name)
    for function, device in _calls(module):
        own = names.setdefault(function.name, {})
        if device not in own:
            own[device] = _fresh(f"{function.name}_on_{device}", taken) if own else function.name
    return names


def _calls(module: IRModule) -> Iterator[tuple[PrimFunc, str]]:
    for call in (call for step in module.entry.steps for call in step.calls):
        function = module.by_name[call.function]
        if any(
            isinstance(s, Allocate) and s.scope in (GLOBAL, IN_WORKSPACE)
            for s in statements(function.body)
        ):
            yield function, call.device


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _rename(step: Step, names: Mapping[str, Mapping[str, str]]) -> Step:
    calls = (
        replace(call, function=names.get(call.function, {}).get(call.device, call.function))
        for call in step.calls
    )
    return step.with_calls(tuple(calls))
