# SPDX-License-Identifier: Apache-2.0
"""What a network takes of energy, and the chip of area: stated numbers times what is estimated.

A sum is known only if each number that it needs is stated. Static power counts where it is stated,
and is named where it is not. Picojoules of each part are rounded to whole ones, so that sums are
exact.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from atoll.cost.basis import joint_basis, weakest
from atoll.cost.engines import crossing_cycles, driver_cycles
from atoll.cost.program import ProgramCost
from atoll.cost.spent import of_host
from atoll.cost.traffic import Traffic
from atoll.ir.tir import AcceleratorStart, AcceleratorWait, Step
from atoll.records import dataclass
from atoll.resolve.soc import Device, Engine, Master, Memory, ResolvedSoc

Picojoules = int | None
"""Whole ones; None if they are not known."""

Part = Device | Memory

_PJ_OF_MW_SECOND = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerEnergy:
    """What an operator takes.

    Attributes:
        devices: for its cycles and products, by device; the driver's are the host's.
        memories: for its accesses, by memory.
        basis: what that rests on.
    """

    operator: str
    devices: Mapping[str, Picojoules]
    memories: Mapping[str, Picojoules]
    basis: str

    @property
    def total(self) -> Picojoules:
        """All together."""
        return add_known((*self.devices.values(), *self.memories.values()))

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "operator": self.operator,
            "total_pj": self.total,
            "devices_pj": dict(self.devices),
            "memories_pj": dict(self.memories),
            "basis": self.basis,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PartEnergy:
    """What a device or a memory takes while a network runs.

    Attributes:
        operators: for operators.
        between: between operators; only the host works there.
        idle: of a device, while it waits.
        leakage: statically; None if that is not stated, and then it is in no sum.
        source: of the numbers; "" if there are none.
    """

    name: str
    operators: Picojoules
    between: Picojoules = 0
    idle: Picojoules = 0
    leakage: Picojoules
    source: str

    @property
    def dynamic_outside(self) -> Picojoules:
        """Outside of operators, and not static."""
        return add_known((self.between, self.idle))

    @property
    def outside(self) -> Picojoules:
        """Outside of operators."""
        return add_known((self.dynamic_outside, self.leakage or 0))

    @property
    def total(self) -> Picojoules:
        """All together."""
        return add_known((self.operators, self.outside))

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "part": self.name,
            "operators_pj": self.operators,
            "between_pj": self.between,
            "idle_pj": self.idle,
            "leakage_pj": self.leakage,
            "total_pj": self.total,
            "source": self.source,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkEnergy:
    """What a network takes from the begin of its first operator to the end of its last one.

    Accesses of drivers and stacks are not counted, as in the traffic of memories.

    Attributes:
        devices: that Atoll programs.
        memories: that operators use, or that state what they take.
        basis: what the sum rests on.
        lacks: keys of the description, and hits in data caches, without which it is not known.
        without: keys of static power that is not stated, and in no sum.
    """

    layers: tuple[LayerEnergy, ...]
    devices: tuple[PartEnergy, ...]
    memories: tuple[PartEnergy, ...]
    basis: str
    lacks: tuple[str, ...]
    without: tuple[str, ...]

    @property
    def operators(self) -> Picojoules:
        """Of all operators."""
        return add_known(each.total for each in self.layers)

    @property
    def outside(self) -> Picojoules:
        """Outside of operators: of a host between them, of devices that wait, and static."""
        return add_known(each.outside for each in (*self.devices, *self.memories))

    @property
    def total(self) -> Picojoules:
        """All together."""
        return add_known((self.operators, self.outside))

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "total_pj": self.total,
            "operators_pj": self.operators,
            "outside_pj": self.outside,
            "basis": self.basis,
            "weakest": weakest(self.basis),
            "by_layer": [each.as_json() for each in self.layers],
            "by_device": [each.as_json() for each in self.devices],
            "by_memory": [each.as_json() for each in self.memories],
            "lacks": list(self.lacks),
            "without": list(self.without),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipArea:
    """What a chip takes of area: its devices and memories, and no buses.

    Attributes:
        parts: whole square micrometres by key of the description; None where they are not stated.
        basis: what the sum rests on.
        lacks: keys of the description without which it is not known.
    """

    parts: Mapping[str, int | None]
    basis: str
    lacks: tuple[str, ...]

    @property
    def total(self) -> int | None:
        """All together."""
        return add_known(self.parts.values())

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "total_um2": self.total,
            "parts_um2": dict(self.parts),
            "basis": self.basis,
            "weakest": weakest(self.basis),
            "lacks": list(self.lacks),
        }


def add_known(parts: Iterable[int | None]) -> int | None:
    """Return a sum, None if a part is not known."""
    total = 0
    for each in parts:
        if each is None:
            return None
        total += each
    return total


def area_of(soc: ResolvedSoc) -> ChipArea | None:
    """Return what the parts of a chip take, None if none says so."""
    stated = {_key(each): each.area for each in _parts(soc)}
    if not any(stated.values()):
        return None
    return ChipArea(
        parts={key: round(area.um2) if area else None for key, area in stated.items()},
        basis=joint_basis(area.basis for area in stated.values() if area),
        lacks=tuple(f"{key}.area" for key, area in stated.items() if not area),
    )


@dataclass(frozen=True, slots=True)
class Work:
    """What an operator does.

    Attributes:
        macs: its multiply-accumulates.
        traffic: by memory.
        basis: what its cycles rest on.
    """

    macs: int
    traffic: Sequence[Traffic]
    basis: str


def energy_of(cost: ProgramCost, works: Mapping[str, Work], basis: str) -> NetworkEnergy | None:
    """Return what a network takes, None if no part of its chip says what it takes.

    Args:
        cost: of the network.
        works: what each operator does.
        basis: what the cycles of the network rest on.
    """
    if not any(each.energy for each in _parts(cost.soc)):
        return None
    return _Account(cost, works, basis).network()


class _Account:
    """Adds up what a network takes, and the numbers that this needs and nobody stated."""

    def __init__(self, cost: ProgramCost, works: Mapping[str, Work], basis: str) -> None:
        self._cost, self._soc, self._works, self._basis = cost, cost.soc, works, basis
        self._ops = {op.name: op for op in cost.graph.operators}
        self._lacks: dict[str, None] = {}
        self._without: list[str] = []
        self._active: dict[str, Fraction] = {}

    def network(self) -> NetworkEnergy:
        """Return what the network takes."""
        soc, cost = self._soc, self._cost
        layers = tuple(
            self._layer(step, together)
            for together in cost.lists
            for step in together
            if not isinstance(step.action, AcceleratorWait)
        )
        between = cost.sequential - sum(cost.spent[each.operator].cycles for each in layers)
        devices = tuple(
            self._device(each, layers, max(0, between) if each.name == soc.host else 0)
            for each in soc.devices
            if not isinstance(each, Master)
        )
        moved = {each.memory for work in self._works.values() for each in work.traffic}
        memories = tuple(
            self._memory(each, layers)
            for each in soc.memories
            if each.name in moved or each.energy is not None
        )
        stated = [each.energy.basis for each in _parts(soc) if each.energy]
        return NetworkEnergy(
            layers=layers,
            devices=devices,
            memories=memories,
            basis=joint_basis([*stated, self._basis]),
            lacks=tuple(self._lacks),
            without=tuple(self._without),
        )

    def _layer(self, step: Step, together: Sequence[Step]) -> LayerEnergy:
        op = self._ops[step.operator]
        work, worked = self._works[op.name], self._working_cycles(step, together)
        share = Fraction(work.macs, len(op.devices))
        devices = {
            name: self._work(self._soc.device(name), cycles, share if name in op.devices else 0)
            for name, cycles in worked.items()
            if cycles
        }
        cores = (core for core in self._soc.cpus if core.name in op.devices and core.cache)
        caching = [core.name for core in cores if op.name not in self._cost.lines]
        memories = {each.memory: self._accesses(each, caching) for each in work.traffic}
        used: list[Part] = [*map(self._soc.device, devices), *map(self._soc.memory, memories)]
        stated = [each.energy.basis for each in used if each.energy]
        return LayerEnergy(
            operator=op.name,
            devices=devices,
            memories=memories,
            basis=joint_basis([*stated, work.basis]),
        )

    def _working_cycles(self, step: Step, together: Sequence[Step]) -> Mapping[str, Fraction]:
        """Return the cycles in which each device works for an operator, of its own clock.

        A host sleeps until the interrupt of an engine; without one, or where it drives the engine
        step by step, it works until the engine has ended. In lists that an engine goes through by
        itself, the host starts the first one and hears of the end of the last one.
        """
        spent, soc = self._cost.spent[step.operator], self._soc
        engine = soc.device(step.device)
        if not isinstance(engine, Engine) or spent.busy is None:
            return {name: self._of(name, spent.cycles) for name in self._ops[step.operator].devices}
        busy = of_host(spent.busy.cycles, engine, soc)
        driving = max(0, spent.cycles - busy)
        if len(together) > 1:
            start, finish, _ = driver_cycles(soc)
            begins = start + crossing_cycles(engine, soc) if step is together[0] else 0
            driving = begins + (finish if step is together[-1] else 0)
        elif engine.irq is None or engine.spec.program is not None:
            driving = driving if isinstance(step.action, AcceleratorStart) else spent.cycles
            return {engine.name: Fraction(spent.busy.cycles), soc.host: Fraction(driving)}
        going_on = max(0, spent.cycles - busy - driving)
        worked = Fraction(spent.busy.cycles) + self._of(engine.name, going_on)
        return {engine.name: worked, soc.host: Fraction(driving)}

    def _of(self, device: str, cycles: int) -> Fraction:
        """Return cycles of the host in those of a device."""
        soc = self._soc
        return Fraction(cycles * soc.device(device).clock, soc.host_cpu.clock)

    def _work(self, device: Device, cycles: Fraction, macs: Fraction | int) -> Picojoules:
        self._active[device.name] = self._active.get(device.name, Fraction(0)) + cycles
        each = self._number(device, "active_pj_per_cycle", cycles)
        product = device.energy.pj_per_mac if device.energy else None
        return None if each is None else round(cycles * each + macs * _exact(product or 0))

    def _accesses(self, moved: Traffic, caching: Sequence[str]) -> Picojoules:
        """Return what accesses take; how many of them hit a data cache nobody knows."""
        memory = self._soc.memory(moved.memory)
        if memory.cached and caching:
            self._lacks |= {f"hits in the data cache of {name}": None for name in caching}
            return None
        read = self._number(memory, "read_pj_per_byte", moved.read)
        written = self._number(memory, "write_pj_per_byte", moved.written)
        if read is None or written is None:
            return None
        return round(moved.read * read + moved.written * written)

    def _device(self, device: Device, layers: Sequence[LayerEnergy], between: int) -> PartEnergy:
        """Return what a device takes in all; of the host, `between` are its cycles outside."""
        cycles, whole = (self._of(device.name, each) for each in (between, self._cost.length))
        worked = self._active.get(device.name, Fraction(0)) + cycles
        waits = max(Fraction(0), whole - worked)
        idle = self._number(device, "idle_pj_per_cycle", waits)
        each = self._number(device, "active_pj_per_cycle", cycles)
        return PartEnergy(
            name=device.name,
            operators=add_known(layer.devices.get(device.name, 0) for layer in layers),
            between=None if each is None else round(cycles * each),
            idle=None if idle is None else round(waits * idle),
            leakage=self._leakage(device),
            source=device.energy.source if device.energy else "",
        )

    def _memory(self, memory: Memory, layers: Sequence[LayerEnergy]) -> PartEnergy:
        return PartEnergy(
            name=memory.name,
            operators=add_known(layer.memories.get(memory.name, 0) for layer in layers),
            leakage=self._leakage(memory),
            source=memory.energy.source if memory.energy else "",
        )

    def _leakage(self, part: Part) -> Picojoules:
        power = part.energy.leakage_mw if part.energy else None
        if power is None:
            self._without.append(f"{_key(part)}.energy.leakage_mw")
            return None
        seconds = Fraction(self._cost.length, self._soc.host_cpu.clock)
        return round(_exact(power) * seconds * _PJ_OF_MW_SECOND)

    def _number(self, part: Part, name: str, times: Fraction | int) -> Fraction | None:
        """Return a stated number, 0 if it counts no times, None if it is not stated."""
        if not times:
            return Fraction(0)
        stated = getattr(part.energy, name) if part.energy else None
        if stated is not None:
            return _exact(stated)
        self._lacks[f"{_key(part)}.energy.{name}"] = None
        return None


def _exact(stated: float) -> Fraction:
    """Return a number as it was written."""
    return Fraction(str(stated))


def _parts(soc: ResolvedSoc) -> tuple[Part, ...]:
    return (*soc.devices, *soc.memories)


def _key(part: Part) -> str:
    return f"{'memories' if isinstance(part, Memory) else 'devices'}.{part.name}"
