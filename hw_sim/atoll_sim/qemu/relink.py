# SPDX-License-Identifier: Apache-2.0
"""A chip that is no machine of QEMU, with its host's regions where such a machine has memory.

The networks keep their programs, and their buffers the offsets in pools: only symbols move. Other
devices have no part in it; what runs nothing of a network can be left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from atoll.diagnostics.errors import Fault, SimulationError
from atoll.diagnostics.units import format_size
from atoll.driver.compiled import Compiled, with_plan
from atoll.report.result import Relinked
from atoll.resolve.address_map import GRANULE, REGISTER_PAGE
from atoll.resolve.entities import Device, Engine, Master
from atoll.resolve.memory_views import STEP, as_seen_by
from atoll.resolve.places import Memory, Region, RegionKind
from atoll.resolve.soc import Registers, ResolvedSoc
from atoll_sim.qemu.machines import QemuMachine, machine_for
from atoll_sim.qemu.place_regions import Piece, place

OTHERWISE = "use another --cpu; 'atoll check' says who plays the chip"
_CONSOLE = "console page"
"""No name of a region."""


def relinked_chip(soc: ResolvedSoc, used: Mapping[str, int]) -> ResolvedSoc:
    """Return a chip as a machine of QEMU has it that runs the code of its host.

    Regions keep names, sizes and kinds of memory; each has a memory of its own. If the machine has
    less, pools are as small as `used` allows. The other devices are masters that nobody programs.

    Args:
        soc: has a machine (`machine_for`), and names none.
        used: bytes from the origin of a pool on, by pool; 0 where it is left out.

    Raises:
        SimulationError: E103; the machine has too little memory.
    """
    machine = machine_for(soc.host_cpu)
    assert machine is not None
    seen = as_seen_by(soc, soc.host)
    places = place(*_pieces(seen), machine.memories)
    if isinstance(places, Piece):
        seen = _with_small_pools(seen, used)
        places = place(*_pieces(seen), machine.memories)
    if isinstance(places, Piece):
        raise _no_room(seen, machine, places)
    return _move(seen, machine, places)


def relink(models: Sequence[Compiled]) -> tuple[Compiled, ...]:
    """Return networks of one firmware for `relinked_chip`; as they are if their chip is a machine.

    Raises:
        SimulationError: E103; another device than the host takes part, or too little memory.
    """
    if models[0].soc.qemu_machine:
        return tuple(models)
    if faults := tuple(fault for each in models for fault in _faults(each)):
        raise SimulationError.all(faults)
    used = {
        pool.name: max(_extent(each, pool.name) for each in models) for pool in models[0].soc.pools
    }
    return tuple(_on_chip(each, relinked_chip(each.soc, used)) for each in models)


def relinking_for(soc: ResolvedSoc) -> Relinked | None:
    """Return what a report says of firmware that is relinked; None if the chip is a machine."""
    machine = machine_for(soc.host_cpu)
    if soc.qemu_machine or machine is None:
        return None
    without = (each.name for each in soc.devices if _is_left_out(soc, each))
    return Relinked(machine=machine.name, core=machine.core, without=tuple(without))


def _is_left_out(soc: ResolvedSoc, device: Device) -> bool:
    return device.name != soc.host and not isinstance(device, Master)


def _pieces(soc: ResolvedSoc) -> tuple[Piece, tuple[Piece, ...]]:
    """Return what moves, what the core begins in first."""
    alignments = {pool.name: pool.alignment for pool in soc.pools}
    first, *others = (
        Piece(
            name=each.name,
            origin=each.origin,
            size=each.size,
            step=max(STEP, alignments.get(each.name, 0)),
        )
        for each in _regions(soc)
    )
    page = Piece(name=_CONSOLE, origin=0, size=REGISTER_PAGE, step=REGISTER_PAGE)
    return first, (*others, page)


def _regions(soc: ResolvedSoc) -> Iterator[Region]:
    host = soc.host_cpu
    yield from (*host.code_regions, host.data, *host.stacks)
    yield from (pool.region for pool in soc.pools)


def _with_small_pools(soc: ResolvedSoc, used: Mapping[str, int]) -> ResolvedSoc:
    """Return a chip whose pools end where nothing uses them, but for those with a heap there."""
    return replace(
        soc,
        pools=tuple(
            pool
            if pool.heap
            else replace(
                pool,
                region=replace(
                    pool.region,
                    size=max(GRANULE, -(-used.get(pool.name, 0) // GRANULE) * GRANULE),
                ),
            )
            for pool in soc.pools
        ),
    )


def _move(soc: ResolvedSoc, machine: QemuMachine, places: Mapping[str, int]) -> ResolvedSoc:
    host = soc.host_cpu

    def move(region: Region) -> Region:
        return replace(region, memory=region.name, origin=places[region.name])

    memories = tuple(
        _memory_of(soc.memory(region.memory), move(region)) for region in _regions(soc)
    )
    moved_host = replace(
        host,
        code=move(host.code),
        load=move(host.load) if host.load else None,
        data=move(host.data),
        stack=move(host.stack),
        threads=tuple(map(move, host.threads)),
    )
    return replace(
        soc,
        name=f"{soc.name}_on_{machine.name.replace('-', '_')}",
        devices=tuple(
            moved_host if each.name == soc.host else _master_for(each) for each in soc.devices
        ),
        memories=tuple(sorted(memories, key=lambda each: each.origin)),
        pools=tuple(replace(pool, region=move(pool.region)) for pool in soc.pools),
        default_device=soc.host,
        console=Registers(origin=places[_CONSOLE], size=REGISTER_PAGE),
        qemu_machine=machine.name,
    )


def _memory_of(memory: Memory, region: Region) -> Memory:
    """Return a memory of the kind of another one that is a region alone."""
    return replace(
        memory,
        name=region.name,
        origin=region.origin,
        size=region.size,
        views={},
        isolation=None,
        sector=0,
    )


def _master_for(device: Device) -> Master:
    names = ("name", "device_type", "device_id", "ordinal", "clock", "at", "label")
    return Master(kind="master", **{name: getattr(device, name) for name in names})


def _on_chip(compiled: Compiled, chip: ResolvedSoc) -> Compiled:
    """Return a network on a chip with other origins of pools; offsets in them are the same."""
    problem = compiled.plan.problem
    spaces = tuple(
        replace(
            space,
            origin=space.origin
            - compiled.soc.pool(space.name).region.origin
            + chip.pool(space.name).region.origin,
        )
        for space in problem.pools
    )
    plan = replace(compiled.plan, problem=replace(problem, pools=spaces))
    return with_plan(replace(compiled, soc=chip), plan)


def _extent(compiled: Compiled, pool: str) -> int:
    """Return how many bytes of a pool a network needs, those of networks before it included."""
    plan, region = compiled.plan, compiled.soc.pool(pool).region
    (space,) = (each for each in plan.problem.pools if each.name == pool)
    return space.origin - region.origin + plan.use[pool].used


def _faults(compiled: Compiled) -> Iterator[Fault]:
    """Yield a fault for each device beside the host that does something for a network."""
    soc = compiled.soc
    taking = {
        device for step in compiled.module.entry.steps for device in (*step.devices, step.runner)
    }
    for device in (each for each in soc.devices if each.name in taking and each.name != soc.host):
        alone = f"--on-device '*={soc.host}'"
        if isinstance(device, Engine):
            alone = "--accelerator none"
        yield Fault(
            code="E103",
            message=f"'{device.name}' has a part in network '{compiled.graph.name}', and QEMU runs"
            f" '{soc.host}' alone",
            at=device.at,
            remedy=f"add {alone}, or {OTHERWISE}",
        )


def _no_room(soc: ResolvedSoc, machine: QemuMachine, piece: Piece) -> SimulationError:
    region = next((each for each in _regions(soc) if each.name == piece.name), None)
    smaller = f"make 'devices.{piece.name}.size' smaller, or "
    return SimulationError(
        "E103",
        f"QEMU's machine '{machine.name}', which runs the code of '{soc.name}' at other addresses,"
        f" has no room for '{piece.name}', {format_size(piece.size)}",
        at=soc.memory(region.memory).at if region else None,
        remedy=f"{smaller if region and region.kind is RegionKind.CODE else ''}{OTHERWISE}",
    )
