# SPDX-License-Identifier: Apache-2.0
"""What the application hands to a model's run function, in the order of its parameters."""

from collections.abc import Iterator

from atoll.ir.tir import IRModule
from atoll.memory.problem import MemoryPlan
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc


@dataclass(frozen=True, slots=True, kw_only=True)
class RunArguments:
    """The members of each struct; the run function has no parameter for an empty one.

    Attributes:
        inputs: tensors that the caller points at, none if they are mapped.
        outputs: likewise.
        pools: pools of the application that the plan uses for workspaces.
        parameters: likewise for constants.
        devices: accelerators, DMA engines and other cores that the model runs.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    pools: tuple[str, ...]
    parameters: tuple[str, ...]
    devices: tuple[str, ...]

    def structs(self) -> Iterator[str]:
        """Yield the names of the structs that have members."""
        for name in ("inputs", "outputs", "pools", "parameters", "devices"):
            if getattr(self, name):
                yield name


def run_arguments(module: IRModule, plan: MemoryPlan, soc: ResolvedSoc) -> RunArguments:
    """Return what the run function of a planned module takes."""
    entry, interface = module.entry, soc.interface
    used = {placement.pool for placement in plan.placements.values()}
    given = [each for each in soc.pools if each.provided == "application" and each.name in used]
    run = {device for step in entry.steps for device in (*step.devices, step.runner)} - {soc.host}
    return RunArguments(
        inputs=() if interface.map_inputs else entry.inputs,
        outputs=() if interface.map_outputs else entry.outputs,
        pools=tuple(pool.name for pool in given if not pool.holds_constants),
        parameters=tuple(pool.name for pool in given if pool.holds_constants),
        devices=tuple(device.name for device in soc.devices if device.name in run),
    )
