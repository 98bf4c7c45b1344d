# SPDX-License-Identifier: Apache-2.0
"""The one module of the API that knows the compile driver."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from atoll.api.chips import Soc
from atoll.api.networks import Network
from atoll.cost.basis import basis_of_operator, driver_source, joint_basis
from atoll.cost.counted import CLASSES
from atoll.cost.kernel_runs import Runs, Which, key_of, with_runs
from atoll.driver import speeds
from atoll.driver.compiled import expected_length
from atoll.driver.pipeline import STAGES, BuildOptions, Compiled, compile_networks, names_of
from atoll.lower.passes import Observer
from atoll.report.explanation import explanation, notes, unsure
from atoll.resolve.soc import Cpu
from atoll.resolve.specs import KernelRun

__all__ = [
    "CLASSES",
    "STAGES",
    "BuildOptions",
    "Compiled",
    "KernelRun",
    "Observer",
    "Runs",
    "Which",
    "at_speeds_of",
    "compile_for",
    "cores_that_run",
    "estimated_basis",
    "estimated_cycles",
    "explanation",
    "kernels_of",
    "names_of",
    "notes_of",
    "stack_doubts",
    "with_kernels",
]


def compile_for(
    soc: Soc,
    networks: Sequence[Network],
    options: Sequence[BuildOptions],
    observe: Observer | None = None,
) -> tuple[Compiled, ...]:
    """Compile networks that share one firmware."""
    loaded = [(each.graph, each._source) for each in networks]
    return compile_networks(soc._resolved, loaded, options, observe)


def at_speeds_of(
    models: Sequence[Compiled], soc: Soc
) -> tuple[tuple[Compiled, ...], tuple[str, ...]]:
    """Return compiled networks on a chip of other speeds, and what a reader should know of that.

    Raises:
        ValueError: the chip differs in more than speed.
    """
    found = [speeds.at_speeds_of(each, soc._resolved) for each in models]
    same = tuple(each for each in found if each is not None)
    if len(same) < len(found):
        raise ValueError(
            f"this {soc.name} differs from the compiled one in more than speed, or in that of an "
            "engine whose emitter is of another package and may look at it"
        )
    changed = [each.graph.name for each in models if not speeds.stays(each, soc._resolved)]
    return same, tuple(
        f"compiled for this chip, '{name}' becomes another program than the one that is estimated"
        for name in changed
    )


def estimated_cycles(compiled: Compiled) -> int:
    """Predict the cycles from the begin of the first operator to the end of the last one."""
    return expected_length(compiled)


def estimated_basis(compiled: Compiled) -> str:
    """Return what `estimated_cycles` rests on."""
    graph, soc, on_engines = compiled.graph, compiled.soc, set[tuple[str, ...]]()
    sources = [driver_source(soc).basis]
    for op in graph.operators:
        if (devices := op.devices) not in on_engines:
            sources.append(basis_of_operator(op, graph, soc))
            if not isinstance(soc.device(op.device), Cpu):
                on_engines.add(devices)
    return joint_basis(sources)


def cores_that_run(models: Sequence[Compiled]) -> Sequence[Cpu]:
    """Return the cores of a chip that run operators."""
    used = {name for each in models for op in each.graph.operators for name in op.devices}
    return [each for each in models[0].soc.cpus if each.name in used]


def kernels_of(models: Sequence[Compiled], runs: Mapping[Which, tuple[KernelRun, ...]]) -> Runs:
    """Return what operators of networks ran, of both by their numbers, by kernel."""
    found: dict[Hashable, tuple[KernelRun, ...]] = {}
    for (number, operator), parts in runs.items():
        compiled = models[number]
        op = compiled.graph.operators[operator]
        core = compiled.soc.device(op.device)
        assert isinstance(core, Cpu)
        found[key_of(op, compiled.graph, core)] = parts
    return found


def with_kernels(compiled: Compiled, runs: Runs) -> Compiled:
    """Return the same network, whose costs rest on what kernels ran."""
    return replace(compiled, soc=with_runs(compiled.soc, runs))


def notes_of(compiled: Compiled) -> tuple[str, ...]:
    """Return sentences about operators that a request made many times slower, or no NPU took."""
    return notes(compiled)


def stack_doubts(compiled: Compiled) -> tuple[str, ...]:
    """Return sentences about stacks of which only the linked image tells that they suffice."""
    return unsure(compiled)
