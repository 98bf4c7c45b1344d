# SPDX-License-Identifier: Apache-2.0
"""An estimate as a person reads it in a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from math import floor, log10

from rich.console import Group

from atoll.cost.bands import Band, add_parts, joint_band
from atoll.cost.basis import MEASURED, joint_basis, with_band, with_basis
from atoll.cost.energy import ChipArea, NetworkEnergy
from atoll.cost.estimate import LayerEstimate, NetworkEstimate
from atoll.diagnostics.units import nanoseconds
from atoll.report.grid import Grid, Sentence


def render_estimate(estimate: NetworkEstimate) -> Group:
    """Lay the layers out, then the memories, energy and area, then what the whole run takes."""
    energy, area = estimate.energy, estimate.area
    return Group(
        layer_grid(estimate),
        memory_grid(estimate),
        *((energy_grid(energy),) if energy else ()),
        *(_energy_sum(energy) if energy else ()),
        *(_area_sum(area) if area else ()),
        *_sums(estimate),
    )


def layer_grid(estimate: NetworkEstimate) -> Grid:
    """Return a row for each operator, with two columns for each memory that any of them uses."""
    memories = [each.memory for each in estimate.traffic]
    assumed = any(layer.basis != MEASURED for layer in estimate.layers)
    basis = ("basis",) if assumed else ()
    energies = {each.operator: each for each in estimate.energy.layers} if estimate.energy else {}
    energy = ("energy",) if energies else ()
    headings = (head for name in memories for head in (f"{name} r/w", "port"))
    return Grid(
        title=f"{estimate.model} on {estimate.soc}: cycles, bytes read and written",
        headings=("operator", "device", "cycles", "band", *basis, *energy, "bound by", *headings),
        left=("operator", "device", "basis", "bound by"),
        rows=[
            (
                layer.operator,
                _devices(layer),
                f"{layer.cycles:,}",
                band_text(layer.band),
                *((layer.basis,) if assumed else ()),
                *(microjoules(energies[layer.operator].total) for _ in energy),
                str(layer.bound),
                *(cell for name in memories for cell in _cells(layer, name)),
            )
            for layer in estimate.layers
        ],
    )


def _devices(layer: LayerEstimate) -> str:
    first, *helpers = layer.devices
    return f"{first} + {len(helpers)}" if helpers else first


def _cells(layer: LayerEstimate, memory: str) -> tuple[str, str]:
    """Return what a layer moves of a memory, and the cycles of the memory's port."""
    for each in layer.traffic:
        if each.memory == memory:
            return f"{each.read:,}/{each.written:,}", f"{each.cycles:,}"
    return "", ""


def memory_grid(estimate: NetworkEstimate) -> Grid:
    """Return a row for each memory: what all layers move of it."""
    return Grid(
        headings=("memory", "read", "written", "its port", "of the network"),
        left=("memory",),
        rows=[
            (
                each.memory,
                f"{each.read:,} B",
                f"{each.written:,} B",
                with_basis(f"{each.cycles:,} cycles", each.basis),
                with_basis(
                    f"{100 * each.cycles / max(1, estimate.network):.1f} %",
                    each.basis if each.basis != MEASURED else estimate.basis,
                ),
            )
            for each in estimate.traffic
        ],
    )


def energy_grid(energy: NetworkEnergy) -> Grid:
    """Return a row for each device and memory: what it takes while the network runs."""
    return Grid(
        headings=("energy of", "for operators", "outside of them", "static", "all"),
        left=("energy of",),
        rows=[
            (
                each.name,
                microjoules(each.operators),
                microjoules(each.dynamic_outside) if each in energy.devices else "",
                "not stated" if each.leakage is None else microjoules(each.leakage),
                microjoules(each.total),
            )
            for each in (*energy.devices, *energy.memories)
        ],
    )


def _energy_sum(energy: NetworkEnergy) -> Iterator[Sentence]:
    what = "energy of the network, without accesses of drivers and stacks"
    if energy.total is None:
        yield Sentence(f"{what}: not known; nothing states {_list(energy.lacks)}")
    else:
        inside, outside = microjoules(energy.operators), microjoules(energy.outside)
        told = f"{microjoules(energy.total)}, {inside} for operators and {outside} outside of them"
        yield Sentence(with_basis(f"{what}: {told}", energy.basis))
    if energy.without:
        yield Sentence(f"static energy that is not in it: nothing states {_list(energy.without)}")


def _area_sum(area: ChipArea) -> Iterator[Sentence]:
    what = "area of devices and memories"
    if area.total is None:
        yield Sentence(f"{what}: not known; nothing states {_list(area.lacks)}")
    else:
        yield Sentence(with_basis(f"{what}: {area.total:,} µm²", area.basis))


def _list(keys: Iterable[str]) -> str:
    return ", ".join(keys)


def microjoules(picojoules: int | None) -> str:
    """Return an energy as a cell: four digits, and no picojoule less than there are."""
    if picojoules is None:
        return "not known"
    digits = min(6, max(0, 9 - floor(log10(picojoules)))) if picojoules else 0
    return f"{picojoules / 1e6:,.{digits}f} µJ"


def _sums(estimate: NetworkEstimate) -> Iterator[Sentence]:
    devices = dict.fromkeys(layer.devices[0] for layer in estimate.layers)
    sums = (_sum(name, [e for e in estimate.layers if e.devices[0] == name]) for name in devices)
    yield Sentence(f"cycles by device: {', '.join(sums)}")
    if estimate.network < estimate.sequential:
        saved = f"{estimate.sequential - estimate.network:,} fewer than one after the other"
        found = f"devices at once: {estimate.network:,} cycles, {saved}"
        yield Sentence(with_band(found, estimate.basis, estimate.band))
    if estimate.waiting:
        yield Sentence(
            f"taking turns at memories: {estimate.waiting:,} of {estimate.network:,} cycles"
        )
    for note in estimate.notes:
        yield Sentence(f"note: {note}")
    seconds = nanoseconds(estimate.total, estimate.host_clock) / 1e6
    whole = (
        f"{estimate.before:,} cycles before the first layer, {estimate.network:,} for the network, "
        f"{estimate.after:,} after it: {estimate.total:,} from reset to exit, {seconds:,.3f} ms "
        f"at {estimate.host_clock / 1e6:,g} MHz"
    )
    yield Sentence(with_band(whole, estimate.basis, estimate.band, ", "), style="green")


def _sum(device: str, layers: Sequence[LayerEstimate]) -> str:
    total = f"{device} {sum(each.cycles for each in layers):,}"
    band = joint_band(add_parts(*(each.sources for each in layers)))
    return with_band(total, joint_basis(each.basis for each in layers), band)


def band_text(band: Band | None) -> str:
    """Return a band as a cell."""
    return str(band or "not known")
