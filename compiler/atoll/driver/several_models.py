# SPDX-License-Identifier: Apache-2.0
"""Networks of one firmware: shared workspaces, constants side by side.

One network is the case of a tuple of length one.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from atoll.codegen.pool_images import MODEL_ALIGNMENT
from atoll.contract.image_check import check_image
from atoll.diagnostics.errors import PlacementError, PlanError, ToolchainError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_graph
from atoll.frontend.names import network_name
from atoll.frontend.registry import Source, load_network, read_source
from atoll.ir.graph import Graph
from atoll.lower.passes import Observer
from atoll.resolve.soc import ResolvedSoc

Loaded = tuple[Graph, Source]
"""A network that a front end has made, and what it was made from."""


def compile_models(
    soc: ResolvedSoc,
    models: Sequence[Path],
    options: Sequence[BuildOptions] = (),
    observe: Observer | None = None,
) -> tuple[Compiled, ...]:
    """Compile the networks of one or more files for one firmware; the rest as `compile_networks`.

    Raises:
        ToolchainError: E075; two networks have one name.
        AtollError: as `load_network`.
    """
    names_of(models)
    networks = [(load_network(model), read_source(model)) for model in models]
    return compile_networks(soc, networks, options, observe)


def compile_networks(
    soc: ResolvedSoc,
    networks: Sequence[Loaded],
    options: Sequence[BuildOptions] = (),
    observe: Observer | None = None,
) -> tuple[Compiled, ...]:
    """Compile one or more networks for one firmware.

    They run one at a time: their workspaces share the pools' first bytes, as large as the largest
    needs, and their constants lie one behind the other. So does all that is in a pool in which one
    of several networks keeps states.

    Args:
        soc: the chip.
        networks: what front ends made of them.
        options: of each of them; the usual ones if there are none.
        observe: told the result of every stage of every network.

    Raises:
        ToolchainError: E075; two networks have one name.
        AtollError: as `compile_graph`.
    """
    _require_different([graph.name for graph, _ in networks])
    chosen = options or [BuildOptions()] * len(networks)
    apart: frozenset[str] = frozenset()
    compiled = _compiled(soc, networks, chosen, observe, apart)
    while len(networks) > 1 and not apart.issuperset(kept := {*_pools_of_states(compiled)}):
        apart |= kept
        compiled = _compiled(soc, networks, chosen, observe, apart)
    check_image(
        soc,
        {each.graph.name: each.plan for each in compiled},
        {each.graph.name: each.contract for each in compiled},
    )
    return compiled


def _compiled(
    soc: ResolvedSoc,
    networks: Sequence[Loaded],
    options: Sequence[BuildOptions],
    observe: Observer | None,
    apart: frozenset[str],
) -> tuple[Compiled, ...]:
    """Compile networks that do not share the bytes of pools `apart`."""
    taken: dict[str, int] = {}
    compiled: list[Compiled] = []
    for (graph, source), wanted in zip(networks, options, strict=True):
        try:
            one = compile_graph(soc, graph, source, wanted, observe, taken=dict(taken))
        except (PlacementError, PlanError) as error:
            if len(networks) == 1:
                raise
            raise error.about(f"network '{graph.name}'") from error
        compiled.append(one)
        for pool in soc.pools:
            used = one.plan.use[pool.name].used
            if used and (pool.holds_constants or pool.name in apart):
                step = max(pool.alignment, MODEL_ALIGNMENT)
                taken[pool.name] = -(-(taken.get(pool.name, 0) + used) // step) * step
    return tuple(compiled)


def _pools_of_states(compiled: Sequence[Compiled]) -> Iterator[str]:
    for each in compiled:
        yield from (each.plan.placements[name].pool for name in each.module.entry.states)


def names_of(models: Sequence[Path]) -> tuple[str, ...]:
    """Return what the networks of these files are called.

    Raises:
        ToolchainError: E075; two of them have one name.
    """
    names = tuple(map(network_name, models))
    _require_different(names)
    return names


def _require_different(names: Sequence[str]) -> None:
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ToolchainError(
            "E075",
            f"two models are called {', '.join(map(repr, repeated))}",
            remedy="rename one of the files",
        )
