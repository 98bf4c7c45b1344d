# SPDX-License-Identifier: Apache-2.0
"""Keep equal constants once: one copy serves all whose pools have one in common (M6)."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

from atoll.ir.tir import Constant, IRModule, Step
from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Shared:
    """A module whose constants differ from each other, or have no pool in common.

    Attributes:
        copies: for each constant that was dropped, the name of the one that stands for it.
    """

    module: IRModule
    copies: Mapping[str, str]

    def name(self, buffer: str) -> str:
        """Return the buffer that holds the bytes of `buffer`."""
        return self.copies.get(buffer, buffer)


@dataclass(frozen=True)
class ShareConstants:
    """Merge constants of equal bytes; the copy has the pools of all and their strictest alignment.

    Constants whose bytes come later, such as command lists, stay apart.
    """

    name: ClassVar[str] = "share-constants"

    def run(self, module: IRModule) -> Shared:
        """Return the module with every repeated constant dropped and its users renamed."""
        kept: dict[str, Constant] = {}
        by_bytes: dict[bytes, list[str]] = {}
        copies: dict[str, str] = {}
        for constant in module.entry.constants:
            equal = by_bytes.setdefault(constant.data, []) if constant.data is not None else []
            for other in equal:
                if merged := _merge(kept[other], constant):
                    kept[other], copies[constant.name] = merged, other
                    break
            else:
                kept[constant.name] = constant
                equal.append(constant.name)
        shared = Shared(module, MappingProxyType(copies))
        steps = tuple(_rename(step, shared) for step in module.entry.steps)
        entry = replace(module.entry, constants=tuple(kept.values()), steps=steps)
        return replace(shared, module=replace(module, entry=entry))


def _merge(first: Constant, second: Constant) -> Constant | None:
    """Return `first` so that it can stand for `second`, or None if no pool can hold both."""
    pools = tuple(pool for pool in first.pools if pool in second.pools)
    return replace(first, pools=pools, align=max(first.align, second.align)) if pools else None


def _rename(step: Step, shared: Shared) -> Step:
    calls = tuple(
        replace(call, arguments=tuple(map(shared.name, call.arguments))) for call in step.calls
    )
    reads = tuple(dict.fromkeys(map(shared.name, step.reads)))
    return replace(step.with_calls(calls), reads=reads)
