# SPDX-License-Identifier: Apache-2.0
"""Who plays the engines of an instruction-set simulation, and how long their lists take."""

from collections.abc import Callable, Mapping, Sequence

from atoll.cost.engines import busy_cycles
from atoll.driver.pipeline import Compiled, placed_graph
from atoll.ir.tir import EngineAction
from atoll.records import dataclass
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_sim.engines.calls import not_played
from atoll_sim.engines.interface import Outcome
from atoll_sim.engines.player import lists_of
from atoll_sim.host.memory import Accessed, Bytes, HostMemory
from atoll_sim.host.native import Accelerators, ModelAccelerators, add_models
from atoll_sim.host.rtl_accelerators import RtlAccelerators
from atoll_sim.trace.simulation import Touched


@dataclass(frozen=True, slots=True)
class Engines:
    """The accelerators and DMA engines of a chip.

    Attributes:
        accelerators: run the lists.
        cycles_of: given the engine and the address of the list that ran last, returns how long it
            took, in cycles of the host.
        models: the networks that run in turn.
    """

    accelerators: Accelerators
    cycles_of: Callable[[Engine, int], int]
    models: Sequence[Compiled] = ()


class _Absent:
    """Engines that nobody plays."""

    def run(self, npu: Engine, address: int, count: int) -> Outcome:
        """Refuse to run a list, with E179."""
        raise not_played(npu)

    def results(self, npu: Engine, address: int) -> Mapping[int, bytes]:
        """Refuse likewise."""
        raise not_played(npu)

    def see_through(self, caches: Mapping[str, Bytes]) -> None:
        """See `Accelerators`: there is nobody to see."""

    def recent(self) -> tuple[Accessed, ...]:
        """Return nothing."""
        return ()

    def take_touched(self) -> tuple[Touched, ...]:
        """Return nothing."""
        return ()


ABSENT = Engines(_Absent(), lambda _engine, _address: 1)


def make_models(soc: ResolvedSoc, memory: HostMemory, models: Sequence[Compiled] = ()) -> Engines:
    """Return software models, with the cycles that their emitters estimate.

    Lists of other networks than `models` take one cycle.
    """
    cycles = {key: taken for compiled in models for key, taken in _lists(compiled).items()}
    return Engines(
        ModelAccelerators(soc, memory, models),
        lambda engine, address: cycles.get((engine.name, address), 1),
        models,
    )


def measure_rtl(
    accelerators: RtlAccelerators,
    names: frozenset[str],
    soc: ResolvedSoc,
    memory: HostMemory,
    models: Sequence[Compiled],
) -> Engines:
    """Return RTL, which runs already, with the cycles that it takes; models of all but `names`."""
    others = make_models(soc, memory, models)

    def cycles_of(engine: Engine, address: int) -> int:
        if engine.name in names:
            return accelerators.cycles[-1]
        return others.cycles_of(engine, address)

    return Engines(add_models(accelerators, names, soc, memory, models), cycles_of, models)


def _lists(compiled: Compiled) -> Mapping[tuple[str, int], int]:
    """Return the estimated cycles of the command lists of a network, by engine and address."""
    found, soc, graph = {}, compiled.soc, placed_graph(compiled)
    for (name, address), (_, step) in lists_of([compiled]).items():
        engine, op = soc.device(name), compiled.graph.operators[step.number]
        assert isinstance(engine, Engine)
        assert isinstance(step.action, EngineAction)
        found[name, address] = busy_cycles(op, graph, engine, soc, step.action.count)
    return found
