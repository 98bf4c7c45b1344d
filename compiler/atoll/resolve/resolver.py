# SPDX-License-Identifier: Apache-2.0
"""Turn a description into a `ResolvedSoc`: run every rule, then build the one value."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from atoll.description.aliases import INHERITED
from atoll.description.faults import Faults
from atoll.description.loader import Description
from atoll.description.tree import Key
from atoll.diagnostics.errors import SourceLoc
from atoll.resolve.accelerators import check_accelerators
from atoll.resolve.address_map import (
    REGISTER_PAGE,
    check_bus,
    resolve_aliases,
    resolve_memories,
    resolve_registers,
)
from atoll.resolve.alias_checks import check_aliases
from atoll.resolve.claims import claims_of, code_memory
from atoll.resolve.devices import build_devices
from atoll.resolve.draft import Draft
from atoll.resolve.energies import check_energies
from atoll.resolve.engine_widths import with_widths
from atoll.resolve.fitting_stacks import check_stacks
from atoll.resolve.isolation import check_isolation
from atoll.resolve.layout import lay_out
from atoll.resolve.loaders import check_loaders
from atoll.resolve.moves import check_moves
from atoll.resolve.pools import check_heaps, check_pools, resolve_pools
from atoll.resolve.protection.check import check_protection
from atoll.resolve.reach import decisions
from atoll.resolve.references import check_references, check_reserved
from atoll.resolve.register_checks import check_steps
from atoll.resolve.soc import (
    Alias,
    CInterface,
    Memory,
    MemoryPools,
    Region,
    Registers,
    ResolvedSoc,
    VelaFile,
)
from atoll.resolve.stack_limits import ALLOCA, TOTAL, alloca_limit, total_limit
from atoll.resolve.targets import check_devices, default_device
from atoll.resolve.view_checks import check_views
from atoll.resolve.wide_addresses import check_regions
from atoll.utils.lazy import LazyTable
from atoll.utils.remember import Alike, remember

CHIPS_AT_HAND = 64
"""Chips that a process keeps; theirs are the programs and plans that it has at hand."""

DERIVED = "derived"
"""The layer of values that follow from others."""

_NOTHING_FOLLOWS = (
    ("alias_of",),
    ("mailbox",),
    ("irq",),
    ("reach",),
    ("others",),
    ("cache",),
    ("world",),
    ("release",),
    ("count",),
    ("views",),
    ("label",),
    ("load",),
)
"""Keys of a device, memory or pool that nothing follows from when they are left out."""

_NOT_KNOWN = (("energy",), ("area",))
"""Keys that are not known where they are left out, and all below them."""


def _description_key(description: Description) -> Alike:
    soc = description.soc
    speeds = tuple(each.clock for each in soc.devices.values())
    memories = tuple((each.read_latency, each.size) for each in soc.memories.values())
    sizes = tuple(each.size for each in soc.pools.values())
    sign = soc.soc, speeds, memories, sizes, Path.cwd()
    return Alike(sign, description)


@remember(_description_key, most=CHIPS_AT_HAND)
def resolve(description: Description) -> ResolvedSoc:
    """Return all that `description` implies.

    Raises:
        DescriptionError: with one fault for everything that keeps the chip from being built.
    """
    draft = Draft(description=description, faults=Faults(dict.fromkeys(description.faults)))
    check_references(draft)
    check_reserved(draft)
    check_devices(draft)
    check_accelerators(draft)
    check_energies(draft)
    check_stacks(draft)
    check_pools(draft)
    check_moves(draft)
    memories = resolve_memories(draft)
    blocks = resolve_registers(draft)
    console = Registers(origin=draft.soc.console, size=REGISTER_PAGE)
    check_bus(draft, blocks, console)
    check_steps(draft, blocks, console)
    check_aliases(draft)
    check_loaders(draft, memories)
    check_views(draft, memories, blocks, console)
    regions = lay_out(draft, memories)
    check_regions(draft, memories, regions)
    check_heaps(draft, regions)
    draft.faults.raise_any()
    assert draft.host is not None
    pools = resolve_pools(draft, regions)
    soc = ResolvedSoc(
        name=draft.soc.soc,
        devices=with_widths(build_devices(draft, regions, blocks), pools, memories, draft.host),
        memories=memories,
        pools=pools,
        host=draft.host,
        default_device=default_device(draft),
        console=console,
        layers=LazyTable(partial(_layers, draft, memories)),
        interface=CInterface(
            map_inputs=draft.soc.interface.map_inputs, map_outputs=draft.soc.interface.map_outputs
        ),
        qemu_machine=draft.soc.qemu.machine if draft.soc.qemu else "",
        mpool=_memory_pools(draft),
        vela=_vela_file(draft),
        told=description,
    )
    soc = replace(soc, aliases=_aliases(draft, soc))
    check_protection(draft, soc)
    check_isolation(draft, soc)
    draft.faults.raise_any()
    return soc


def _memory_pools(draft: Draft) -> MemoryPools | None:
    """Return the memory-pool file of the chip, whose path counts from where it is named."""
    said, at = draft.soc.mpool, draft.where.at("mpool", "file")
    if said is None:
        return None
    return MemoryPools(device=said.device, path=_folder(draft, at) / said.file, at=at)


def _vela_file(draft: Draft) -> VelaFile | None:
    """Return Vela's configuration of the chip, whose path counts from where it is named."""
    said, at = draft.soc.vela, draft.where.at("vela", "file")
    if said is None:
        return None
    return VelaFile(
        path=_folder(draft, at) / said.file,
        system_config=said.system_config,
        memory_mode=said.memory_mode,
        at=at,
    )


def _folder(draft: Draft, at: SourceLoc | None) -> Path:
    """Return the folder of the file in which a key is."""
    return at.path.parent if at else draft.description.folder


def _aliases(draft: Draft, soc: ResolvedSoc) -> tuple[Alias, ...]:
    """Return the aliases with what is touched there, and by whom."""

    def complete(alias: Alias) -> Alias:
        claims = claims_of(draft, soc.memories)
        regions = tuple(sorted(each.name for each in claims if each.described == alias.name))
        devices = tuple(
            device.name
            for device in soc.devices
            if device.name == soc.host
            or any(isinstance(w, Region) and w.name in regions for w, _ in soc.windows(device))
        )
        return replace(alias, regions=regions, devices=devices)

    return tuple(map(complete, resolve_aliases(draft)))


def _layers(draft: Draft, memories: tuple[Memory, ...]) -> dict[str, str]:
    """Return the layer of every resolved value by dotted key."""
    layers: dict[str, str] = {}
    for key, value in draft.description.values():
        if value is not None:
            layers[".".join(key)] = _layer(draft, key)
        elif _follows(key):
            layers[".".join(key)] = DERIVED
    for name, cpu in draft.cpus():
        if cpu.code.memory is None:
            memory, why = code_memory(cpu, memories)
            layers[f"devices.{name}.code.memory"] = f"{DERIVED}: {memory}, {why}"
    for name, npu, spec in draft.engines():
        for parameter in spec.model.parameters.keys() - npu.params.keys():
            layer = spec.where.layer("parameters", parameter, "default")
            layers[f"devices.{name}.params.{parameter}"] = layer
    for name, _ in draft.pools():
        for device, decided in decisions(draft, name):
            layers[f"pools.{name}.reach.{device}"] = decided.layer(draft)
    for name, cpu in draft.cpus():
        layers[f"devices.{name}.limits.{ALLOCA}"] = alloca_limit(
            draft, name, cpu, cpu.stack.runs or ""
        ).layer
        layers[f"devices.{name}.limits.{TOTAL}"] = total_limit(
            draft, name, cpu, cpu.stack.runs or ""
        ).layer
    return dict(sorted(layers.items()))


def _follows(key: Key) -> bool:
    """Tell whether a value that is left out follows from others."""
    left_out = key == ("extends",) or key[2:] in _NOTHING_FOLLOWS or key[2:3] in _NOT_KNOWN
    offset = key[0] == "memories" and key[2:] == ("offset",)
    return not (left_out or offset or key[-2:-1] == ("limits",))


def _layer(draft: Draft, key: Key) -> str:
    """Return the layer of a value; of an alias' that is its memory's, a word that says so."""
    memory = key[1] if key[0] == "memories" and key[-1] in INHERITED else ""
    real = draft.real(memory)
    return (
        draft.where.layer(*key)
        if real == memory or draft.where.is_set(*key)
        else (f"{DERIVED}: as 'memories.{real}'")
    )
