"""The chip's memories as one core sees them: through its data cache, if it has one."""

from dataclasses import replace

from atoll.resolve.soc import Cache, Cpu, ResolvedSoc
from atoll_sim.engines.interface import BusFault
from atoll_sim.host.memory import HostMemory
from atoll_sim.iss.native import CoreState, IssModel


class CoreMemory:
    """Where a core's loads and stores go."""

    def __init__(self, cpu: Cpu, model: IssModel, state: CoreState) -> None:
        """Look at the memories of `model`; the core of `state` gets its cache."""
        self._model = model
        self._view = _view(cpu.cache, model.soc, model, state) if cpu.cache else None

    def pointer(self, address: int) -> int:
        """Return where the host has the byte that the core sees at an address."""
        return self._at(address).pointer(address)

    def write(self, address: int, data: bytes) -> None:
        """Set what the core sees."""
        self._at(address).write(address, data)

    def _at(self, address: int) -> HostMemory:
        if self._view is None:
            return self._model.memory
        try:
            self._view.pointer(address)
        except BusFault:
            return self._model.memory
        return self._view


def _view(cache: Cache, soc: ResolvedSoc, model: IssModel, state: CoreState) -> HostMemory:
    cached = tuple(each for each in soc.memories if each.cached and each.kind == "ram")
    view = HostMemory(replace(soc, memories=cached))
    model.give_cache(state, cache)
    for each in cached:
        model.cover(state, each, view.pointer(each.origin))
    return view
