"""Who plays the engines of an instruction-set simulation, and how long their lists take."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from atoll.ir.tir import EngineAction
from atoll.pipeline import Compiled
from atoll.place.costs import busy_cycles
from atoll.resolve.memory_views import seen_by
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_sim.host.memory import HostMemory
from atoll_sim.host.native import Accelerators, ModelAccelerators
from atoll_sim.host.rtl_accelerators import RtlAccelerators


@dataclass(frozen=True, slots=True)
class Engines:
    """The accelerators and DMA engines of a chip.

    Attributes:
        accelerators: run the lists.
        cycles_of: given the engine and the address of the list that ran last, returns how long it
            took, in cycles of the host.
    """

    accelerators: Accelerators
    cycles_of: Callable[[Engine, int], int]


def modelled(soc: ResolvedSoc, memory: HostMemory, models: Sequence[Compiled] = ()) -> Engines:
    """Return software models, with the cycles that their emitters estimate.

    Lists of other networks than `models` take one cycle.
    """
    cycles = {key: taken for compiled in models for key, taken in _lists(compiled).items()}
    return Engines(
        ModelAccelerators(soc, memory, models),
        lambda engine, address: cycles.get((engine.name, address), 1),
    )


def measured(accelerators: RtlAccelerators) -> Engines:
    """Return RTL, which runs already, with the cycles that it takes."""
    return Engines(accelerators, lambda _engine, _address: accelerators.cycles[-1])


def _lists(compiled: Compiled) -> Mapping[tuple[str, int], int]:
    """Return the estimated cycles of the command lists of a network, by engine and address."""
    found, soc = {}, compiled.soc
    for step in compiled.module.entry.steps:
        if isinstance(step.action, EngineAction):
            engine, op = soc.device(step.action.device), compiled.graph.operators[step.number]
            assert isinstance(engine, Engine)
            listed = seen_by(soc, engine.name, compiled.plan.address(step.action.commands))
            found[engine.name, listed] = busy_cycles(
                op, compiled.graph, engine, soc, step.action.count
            )
    return found
