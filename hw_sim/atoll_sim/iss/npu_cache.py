# SPDX-License-Identifier: Apache-2.0
"""The data cache of an accelerator, through which it reads and writes."""

from collections.abc import Iterator

import numpy as np

from atoll.resolve.memory_views import on_bus
from atoll.resolve.soc import Npu, ResolvedSoc
from atoll_sim.chip.plan import merge_spans
from atoll_sim.iss.native import IssModel


class NpuCache:
    """Memory as an accelerator sees it through its cache; see also `cache_control`."""

    def __init__(self, npu: Npu, model: IssModel) -> None:
        """Have the cache of an accelerator in `model`, of the pools that it keeps lines of."""
        assert npu.cache
        self.line = npu.cache.line
        self._name, self._cache, self._model = npu.name, npu.cache, model
        self._views = tuple(
            (part, np.empty(len(part), np.uint8)) for part in self._spans_of(npu, model.soc)
        )
        self._number = 0

    def begin(self) -> None:
        """Let it be as after a reset: it holds what nobody stored."""
        views = ((part, int(view.ctypes.data)) for part, view in self._views)
        self._number = self._model.give_npu_cache(self._cache, views)

    def _spans_of(self, npu: Npu, soc: ResolvedSoc) -> Iterator[range]:
        """Yield the lines of these pools, as far as they are in memory."""
        kept = [pool for pool in soc.pools if soc.keeps(npu, pool)]
        lines = [
            range(pool.region.origin & -self.line, -(-pool.region.end // self.line) * self.line)
            for pool in kept
        ]
        for memory in {
            pool.region.memory: soc.memory(pool.region.memory) for pool in kept
        }.values():
            within = [
                each for each in lines if memory.origin < each.stop and each.start < memory.end
            ]
            for span in merge_spans(within):
                yield range(max(span.start, memory.origin), min(span.stop, memory.end))

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes, which lie in one memory."""
        return self._model.load_as_npu(self._number, address, size)

    def write(self, address: int, data: bytes) -> None:
        """Store `data` in one memory."""
        self._model.store_as_npu(self._number, address, data)

    def maintain(self, address: int, *, cleans: bool) -> None:
        """See `CacheControl`; `address` is the accelerator's."""
        byte = on_bus(self._model.soc, self._name, address)
        self._model.maintain_npu(self._number, byte, cleans=cleans)

    def turn_on(self, *, forgotten: bool) -> None:
        """See `CacheControl`: it is on from reset."""
