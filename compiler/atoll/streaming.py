# SPDX-License-Identifier: Apache-2.0
"""Compile a network again with constants that are copied ahead, where that is worth it."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from atoll.compiled import Compiled, expected_length
from atoll.errors import PlacementError, PlanError
from atoll.ir.graph import Graph
from atoll.place.candidates import CONSTANT_ROLES
from atoll.place.capabilities import takes_constants
from atoll.resolve.soc import Access, Pool, ResolvedSoc
from atoll.stages import Stages
from atoll.stream.choose import Chooser, Streaming
from atoll.tile.cut import Tiling, tiled

SHARES = (1.0, 0.75, 0.5, 0.35)
"""Of a pool's room, what streams may take besides operands; each is tried until a plan is found."""


LEAST_SAVED = 32
"""What is compiled again has to save this part of a network's cycles; estimates tell no less."""


def with_streaming(stages: Stages, compiled: Compiled) -> Compiled:
    """Return a network that is compiled again with streams, if it takes clearly fewer cycles so.

    With ``stream: always`` it need not. What was weighed is noted either way.
    """
    if not _may_stream(stages):
        return compiled
    homes, direct = compiled.homes, expected_length(compiled)
    weighed = _chosen(stages, compiled.graph, homes)
    known = replace(compiled, streaming=replace(weighed, chosen=(), direct=direct))
    if weighed.chosen:
        for found in _compiled(stages, homes, compiled.tiling):
            made = replace(found, streaming=replace(found.streaming, direct=direct))
            return made if _always(stages) or pays(expected_length(made), direct) else known
    return known


def pays(length: int, direct: int) -> bool:
    """Tell whether a network is clearly faster by estimate than it is as it stands."""
    return length + direct // LEAST_SAVED <= direct


def streamed_to_fit(stages: Stages) -> Compiled | None:
    """Return a network all of whose constants are streamed that can be, None if none fits so."""
    if not _may_stream(stages):
        return None
    stages = replace(stages, reaching=_reaching(stages.soc))
    return next((made for made in _compiled(stages, {}, Tiling()) if made.streaming.chosen), None)


def _reaching(soc: ResolvedSoc) -> ResolvedSoc:
    """Return a chip whose accelerators reach what its DMA engines can bring them."""
    takers = {npu.name: Access.READ for npu in soc.npus if not takes_constants(npu, soc)}
    brought = {source for dma in soc.dmas for source, _ in dma.moves}

    def reached(pool: Pool) -> Pool:
        if pool.role != "constants" or pool.region.memory not in brought:
            return pool
        return replace(pool, reach={**pool.reach, **takers})

    return replace(soc, pools=tuple(map(reached, soc.pools)))


def _compiled(stages: Stages, homes: Mapping[str, str], tiling: Tiling) -> Iterator[Compiled]:
    """Yield a network with streams, for each share of the pools in which it fits."""
    whole = stages.rewritten if tiling.cuts else stages
    for share in SHARES:
        choose = partial(_chosen, stages, homes=homes, share=share)
        streamed = replace(whole, streaming=choose)
        with suppress(PlacementError, PlanError):
            if tiling.cuts:
                yield streamed.cut(tiled(whole.network, tiling), stages.soc, tiling)
            else:
                yield streamed.run()


def _chosen(
    stages: Stages, graph: Graph, homes: Mapping[str, str], share: float = SHARES[0]
) -> Streaming:
    every = _always(stages) or not homes
    return Chooser(graph, stages.soc, homes, share).streaming(every=every)


def _may_stream(stages: Stages) -> bool:
    asked, soc = stages.options.requests.model.stream, stages.soc
    held = {pool.region.memory for pool in soc.pools if pool.role in CONSTANT_ROLES}
    brings = any(source in held for dma in soc.dmas for source, _ in dma.moves)
    return asked != "never" and stages.options.accelerators and brings


def _always(stages: Stages) -> bool:
    return stages.options.requests.model.stream == "always"
