# SPDX-License-Identifier: Apache-2.0
"""Everything that resolution derived, one table per subject."""

from atoll.resolve.explain_devices import accelerators, devices, protection, stacks, targets
from atoll.resolve.se_scope import ScopeTable
from atoll.resolve.soc import Access, Cpu, Placed, Region, Registers, ResolvedSoc
from atoll.resolve.tables import Quantity, Table, address, clock, size


def summary(soc: ResolvedSoc) -> tuple[Table, ...]:
    """Return the short story of a chip: devices, memories and pools."""
    return devices(soc), _memories(soc), _aliases(soc), _views(soc), _pools(soc)


def explain(soc: ResolvedSoc) -> tuple[Table, ...]:
    """Return all that follows from a description, with the layer that set each value."""
    return (
        *summary(soc),
        _speeds(soc),
        _scopes(soc),
        _address_map(soc),
        _reach(soc),
        _reach_layers(soc),
        stacks(soc),
        protection(soc),
        targets(soc),
        accelerators(soc),
        _layers(soc),
    )


def _memories(soc: ResolvedSoc) -> Table:
    return Table(
        key="memories",
        title="Memories",
        columns=("memory", "kind", "from", "to", "size", "width", "banks", "read latency"),
        keys=(
            *("memory", "kind", "first_address", "last_address", "size_bytes"),
            *("width_bytes_per_cycle", "banks", "read_latency_cycles"),
        ),
        rows=tuple(
            (
                memory.name,
                memory.kind,
                address(memory.origin),
                address(memory.end - 1),
                size(memory.size),
                memory.width,
                memory.banks,
                memory.read_latency,
            )
            for memory in soc.memories
        ),
    )


def _aliases(soc: ResolvedSoc) -> Table:
    return Table(
        key="aliases",
        title="Aliases, where devices see bytes of a memory that lie elsewhere on the bus",
        columns=("alias", "memory", "from", "to", "shows", "size", "cached", "used by"),
        keys=(
            *("alias", "memory", "first_address", "last_address", "byte", "size_bytes"),
            *("cached", "regions"),
        ),
        rows=tuple(
            (
                alias.name,
                alias.memory,
                address(alias.origin),
                address(alias.end - 1),
                address(alias.byte),
                size(alias.size),
                "yes" if alias.cached else "no",
                ", ".join(alias.regions),
            )
            for alias in soc.aliases
        ),
    )


def _views(soc: ResolvedSoc) -> Table:
    placed: dict[str, Placed] = {memory.name: memory for memory in soc.memories}
    placed |= {alias.name: alias for alias in soc.aliases}
    placed |= _blocks(soc)
    return Table(
        key="views",
        title="Views, where devices see memories and registers",
        columns=("what", "device", "from", "to"),
        keys=("what", "device", "first_address", "last_address"),
        rows=tuple(
            (what, device, address(seen.start), address(seen.stop - 1))
            for what, part in placed.items()
            for device in part.views
            for seen in (part.device_range(device),)
        ),
    )


def _pools(soc: ResolvedSoc) -> Table:
    return Table(
        key="pools",
        title="Pools, in the order in which the planner tries them",
        columns=("pool", "role", "memory", "from", "to", "size", "align", "preference"),
        keys=(
            *("pool", "role", "memory", "first_address", "last_address", "size_bytes"),
            *("alignment_bytes", "preference"),
        ),
        rows=tuple(
            (
                pool.name,
                pool.role,
                pool.region.memory,
                address(pool.region.origin),
                address(pool.region.end - 1),
                size(pool.region.size),
                pool.alignment,
                pool.preference,
            )
            for pool in soc.pools
        ),
    )


def _speeds(soc: ResolvedSoc) -> Table:
    rows = tuple(
        (
            pool.name,
            pool.speed.read_bandwidth,
            pool.speed.write_bandwidth,
            pool.speed.latency,
            Quantity(pool.speed.burst or None, str(pool.speed.burst or "any")),
            clock(pool.speed.clock),
        )
        for pool in soc.pools
        if pool.speed
    )
    return Table(
        key="speeds",
        title="Speed of the pools, for estimates: bytes per cycle, cycles, bytes",
        columns=("pool", "read", "write", "latency", "burst", "clock"),
        keys=(
            *("pool", "read_bytes_per_cycle", "write_bytes_per_cycle", "latency_cycles"),
            *("burst_bytes", "clock_hz"),
        ),
        rows=rows,
    )


def _scopes(soc: ResolvedSoc) -> Table:
    return Table(
        key="scopes",
        title="Storage and execution scopes",
        columns=("device", "scope"),
        rows=tuple((name, str(scope)) for name, scope in ScopeTable(soc).devices().items()),
    )


def _blocks(soc: ResolvedSoc) -> dict[str, Registers]:
    return {
        f"{name}.{'mailbox' if isinstance(soc.device(name), Cpu) else 'registers'}": block
        for name, block in soc.register_blocks.items()
    }


def _address_map(soc: ResolvedSoc) -> Table:
    spans = [
        (region.origin, region.end, region.name, f"{region.kind} in {_place(soc, region)}")
        for region in soc.regions()
    ]
    for what, block in (_blocks(soc) | {"console": soc.console}).items():
        spans.append((block.origin, block.origin + block.size, what, "registers"))
    for pool in soc.pools:
        if pool.heap:
            end = pool.heap_origin + pool.heap
            spans.append((pool.heap_origin, end, f"{pool.name}.heap", f"heap in {pool.name}"))
    return Table(
        key="address_map",
        title="Address map",
        columns=("from", "to", "size", "what", "kind"),
        keys=("first_address", "last_address", "size_bytes", "what", "kind"),
        rows=tuple(
            (address(begin), address(end - 1), size(end - begin), what, kind)
            for begin, end, what, kind in sorted(spans)
        ),
    )


def _place(soc: ResolvedSoc, region: Region) -> str:
    alias = soc.alias_for(region)
    return f"{region.memory} at {alias.name}" if alias else region.memory


def _reach(soc: ResolvedSoc) -> Table:
    return Table(
        key="reach",
        title="Reach: what each device may do in each pool",
        columns=("pool", *(device.name for device in soc.devices)),
        rows=tuple(
            (pool.name, *(_access(pool.reach[device.name]) for device in soc.devices))
            for pool in soc.pools
        ),
        data=tuple(
            {"pool": pool.name, "access": {name: each.value for name, each in pool.reach.items()}}
            for pool in soc.pools
        ),
    )


def _reach_layers(soc: ResolvedSoc) -> Table:
    return Table(
        key="reach_layers",
        title="Reach: what decides each access",
        columns=("pool", "device", "access", "set by"),
        keys=("pool", "device", "access", "set_by"),
        rows=tuple(
            (pool.name, device, access.value, soc.layers[f"pools.{pool.name}.reach.{device}"])
            for pool in soc.pools
            for device, access in pool.reach.items()
        ),
    )


def _access(access: Access) -> str:
    return "-" if access is Access.NONE else access.value


def _layers(soc: ResolvedSoc) -> Table:
    return Table(
        key="layers",
        title="Where each value was set",
        columns=("key", "layer"),
        rows=tuple(soc.layers.items()),
    )
