# SPDX-License-Identifier: Apache-2.0
"""How far each core had painted its stacks when a run ended."""

from collections.abc import Mapping, Sequence

from atoll.resolve.soc import Cpu, Region, RegionKind, ResolvedSoc
from atoll_sim.chip.plan import merge_spans
from atoll_sim.protocol.records import AccessKind
from atoll_sim.trace.simulation import Phase


def stack_name(stack: Region) -> str:
    """Return what reports call a stack: its core, and its thread if that is not the main one."""
    return stack.name.removesuffix(f".{RegionKind.STACK}")


def unpainted_bytes(soc: ResolvedSoc, phases: Sequence[Phase]) -> Mapping[str, int]:
    """Return for each stack how many of its bytes its core never wrote.

    Before it uses its stack, a core writes all of it, from the high end to the low: none are left
    where painting has ended, and what a stack holds says nothing about its use before that.
    """
    return {
        stack_name(stack): stack.size - _written_bytes(cpu, stack, phases)
        for cpu in soc.cpus
        for stack in cpu.stacks
    }


def _written_bytes(cpu: Cpu, stack: Region, phases: Sequence[Phase]) -> int:
    spans = merge_spans(
        range(max(span.start, stack.origin), min(span.stop, stack.end))
        for phase in phases
        for touch in phase.touched
        if (touch.master, touch.kind) == (cpu.name, AccessKind.WRITE)
        for span in touch.spans
        if span.start < stack.end and span.stop > stack.origin
    )
    return sum(map(len, spans))
