# SPDX-License-Identifier: Apache-2.0
"""Which rule put a buffer where it is; the numbers are those of docs/semantics.md."""

from functools import cached_property

from atoll.ir.graph import Graph
from atoll.ir.tir import IRModule
from atoll.memory.problem import Buffer, MemoryPlan
from atoll.ops.registry import COPY
from atoll.reach.candidates import Needs
from atoll.records import dataclass
from atoll.report.buffer_places import stack_lacks
from atoll.resolve.soc import Cpu, ResolvedSoc

IN_REGISTERS = "K6: it is used with constant indices only, so it needs registers and no memory"


@dataclass(frozen=True)
class Rules:
    """Explains the buffers of one planned program."""

    soc: ResolvedSoc
    graph: Graph
    module: IRModule
    plan: MemoryPlan

    @cached_property
    def copied(self) -> dict[str, str]:
        """The tensor that each copy repeats."""
        copies = (op for op in self.graph.operators if op.kind == COPY)
        return {op.outputs[0]: op.inputs[0] or "" for op in copies}

    def what(self, name: str) -> str:
        """Return the kind of a planned buffer."""
        entry = self.module.entry
        constant = next((each for each in entry.constants if each.name == name), None)
        if constant is not None:
            return "commands" if constant.data is None else "constant"
        if name in entry.inputs:
            return "input"
        if name in entry.states:
            return "state"
        if name in entry.outputs:
            return "output"
        if name in self.copied:
            return "copy"
        return "activation" if name in self.graph.by_name else "workspace"

    def rule(self, buffer: Buffer, needs: Needs, *, asked: bool = False) -> str:
        """Return why a planned buffer is in its pool; `asked`, if somebody narrowed its pools."""
        what = self.what(buffer.name)
        words = [self._choice(buffer, needs, asked=asked)]
        if what == "copy":
            source = self.copied[buffer.name]
            constant = self.graph.tensor(source).data is not None
            why = (
                "brought to its readers" if constant else "as no pool is reached by all its devices"
            )
            words.insert(0, f"C4: a copy of '{source}', {why}")
        elif what == "workspace" and asked:
            words.insert(0, "C2: a kernel's buffer that is asked into a pool")
        elif what == "workspace":
            cpu = self.soc.device(next(iter(needs)))
            assert isinstance(cpu, Cpu)
            limit = next(stack_lacks(cpu, buffer.size))
            number = "K1" if buffer.size > cpu.max_stack_alloca_size.value else "K2"
            words.insert(0, f"{number}: a kernel's buffer that left the stack, {limit}")
        elif what == "state":
            words.insert(0, "M2: a state, which lives in all steps")
        elif what in ("constant", "commands"):
            words.insert(0, "M6: a constant")
        return "; ".join(words)

    def _choice(self, buffer: Buffer, needs: Needs, *, asked: bool) -> str:
        chosen = self.plan.placements[buffer.name].pool
        devices = ", ".join(f"{device} {need}" for device, need in needs.items())
        candidates = ", ".join(buffer.pools)
        rank = buffer.pools.index(chosen)
        order = "the first" if rank == 0 else f"number {rank + 1}"
        return (
            f"{'C2, ' * asked}C3: '{chosen}' is {order} of the pools that "
            f"{'are asked for and ' * asked}all its devices ({devices}) reach: {candidates}"
        )


def stack_rule(cpu: Cpu, size: int) -> str:
    """Return why a kernel's buffer is on the stack of its core."""
    alloca, total = cpu.max_stack_alloca_size, cpu.max_stack_size
    return (
        f"K1: {size:,} B is within max_stack_alloca_size {alloca.value:,} B ({alloca.layer}), "
        f"and all of a run within max_stack_size {total.value:,} B ({total.layer})"
    )
