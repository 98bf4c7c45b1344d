# SPDX-License-Identifier: Apache-2.0
"""Instructions of kernels that ran on the instruction-set simulator."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from atoll.api.beside import function_of
from atoll.api.driver import (
    CLASSES,
    Compiled,
    KernelRun,
    Runs,
    Which,
    cores_that_run,
    kernels_of,
)
from atoll.api.notebook import Row, html_table
from atoll.diagnostics.errors import Fault, UsageError
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorInstructions:
    """What one core ran for an operator, or for its part of one.

    Attributes:
        instructions: all of them.
        by_class: of each class, as the `timing` of a core has them; of ``taken`` and ``shifted``,
            how many jumps were taken, and by how many bits beyond the first words were shifted.
    """

    network: str
    operator: str
    device: str
    instructions: int
    by_class: Mapping[str, int] = field(repr=False)


@dataclass(frozen=True, slots=True)
class InstructionCounts:
    """What the cores of a chip ran for each operator, once, with one random sample.

    They serve every chip on which the same core runs the same kernels, whatever its memories are:
    see `Compilation.with_instructions`.
    """

    operators: tuple[OperatorInstructions, ...] = field(repr=False)
    _runs: Runs = field(repr=False)

    def rows(self) -> list[Row]:
        """Return the operators, with a column for each class of instructions."""
        return [
            {
                "network": each.network,
                "operator": each.operator,
                "device": each.device,
                "instructions": each.instructions,
                **each.by_class,
            }
            for each in self.operators
        ]

    def _repr_html_(self) -> str:
        return html_table("instructions of kernels", self.rows())


def count_kernels(models: Sequence[Compiled], toolchain: str | None) -> InstructionCounts:
    """Run compiled networks on the instruction-set simulator; see `Compilation`.

    Networks of which engines run all operators need not run.
    """
    if not cores_that_run(models):
        return InstructionCounts((), {})
    if faults := [*_faults(models)]:
        raise UsageError.all(faults)
    run = function_of("atoll_sim.api.kernel_counts:run_compiled_kernels", "count_instructions")
    ran: Mapping[Which, tuple[KernelRun, ...]] = run(models, toolchain)
    operators = (each for which, runs in ran.items() for each in _operators(models, which, runs))
    return InstructionCounts(tuple(operators), kernels_of(models, ran))


def _faults(models: Sequence[Compiled]) -> Iterator[Fault]:
    for core in cores_that_run(models):
        if core.spec.timing is None:
            yield Fault(
                code="E242",
                message=f"instructions that '{core.shown}' runs tell no cycles: core"
                f" '{core.spec.name}' has no timing",
                remedy="leave --iss out, or state the core's 'timing'",
            )


def _operators(
    models: Sequence[Compiled], which: Which, runs: Sequence[KernelRun]
) -> Iterator[OperatorInstructions]:
    graph = models[which[0]].graph
    op = graph.operators[which[1]]
    for device, run in zip(op.devices, runs, strict=True):
        yield OperatorInstructions(
            network=graph.name,
            operator=op.name,
            device=device,
            instructions=run.instructions,
            by_class=dict(zip(CLASSES, run.classes, strict=True)),
        )
