# SPDX-License-Identifier: Apache-2.0
"""What the logic of a chip takes: cells of its devices and of the platform that joins them.

`data/areas.json` has what `benchmarks.areas` fitted to the RTL that ships, in cells of an open
library. A device that is none of that counts if its description says what it takes of the same
library; else nothing is known of the chip. SRAM is bytes, and in no area. Of flash only the ports
count: how wide and fast its array is, they hardly show.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

from atoll.cost.bands import Band
from atoll.cost.basis import joint_basis
from atoll.program.expressions import Expression, names_of, parse, value_of
from atoll.records import dataclass
from atoll.resolve.memory_views import shows_memory
from atoll.resolve.soc import Access, Cpu, Device, Engine, ResolvedSoc, once_per_chip

Params = Mapping[str, int]

FITTED = "fitted"
"""The basis of areas of the model."""

PLATFORM = "platform"
BEAT_BYTES = 8
"""Bytes of a beat of the bus at least."""

FEW_WINDOWS = 4
"""Windows of each table of a firewall at least."""

CROSSING_DEPTH = 16
WINDOWS = "window registers"
"""What keeps where memories, registers and windows of firewalls lie."""

_CONTROL = {
    "axi4_lite": "atoll_bus_to_axil",
    "apb": "atoll_bus_to_apb",
    "obi": "atoll_bus_to_obi",
    "wishbone": "atoll_bus_to_wishbone",
}
_DATA = {
    "axi4": "atoll_axi_to_bus",
    "axi4_lite": "atoll_axil_to_bus",
    "obi": "atoll_obi_to_bus",
    "wishbone": "atoll_wishbone_to_bus",
}


@dataclass(frozen=True, slots=True)
class Module:
    """What a module takes, by its parameters.

    Attributes:
        terms: square micrometres of each.
        sram_bits: bits of SRAM of each.
        limits: the least and greatest value of the samples, of parameters and terms.
        band: how far samples are from what the others say of them.
    """

    terms: tuple[tuple[Expression, float], ...]
    sram_bits: tuple[tuple[Expression, int], ...]
    limits: Mapping[str, tuple[Expression, int, int]]
    band: Band

    def beyond(self, params: Params) -> str:
        """Return what has a value beyond all samples, nothing if there is nothing."""
        for name, (of, least, most) in self.limits.items():
            if not names_of(of) <= params.keys():
                return f"no {name}"
            if not least <= (value := value_of(of, params)) <= most:
                return f"{name} {value}"
        return ""

    def um2(self, params: Params) -> float:
        """Return the square micrometres of its cells."""
        return sum(each * value_of(term, params) for term, each in self.terms)

    def bits(self, params: Params) -> int:
        """Return the bits of its SRAM."""
        return sum(each * value_of(term, params) for term, each in self.sram_bits)


@dataclass(frozen=True, slots=True)
class Model:
    """What was fitted.

    Attributes:
        library: of cells.
        source: of the samples.
        modules: by name.
    """

    library: str
    source: str
    modules: Mapping[str, Module]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipLogic:
    """What a chip takes of cells and of SRAM.

    Attributes:
        parts: square micrometres of what is known, by key of the description.
        low, high: ends of the band of the sum; None if that is not known, as it is of what a
            description states.
        sram_bytes: of memories in RAM and of arrays inside devices; None if that is not known.
        basis: what the sum rests on.
        source: how the model was made.
        lacks: what is not known.
    """

    parts: Mapping[str, float]
    low: int | None
    high: int | None
    sram_bytes: int | None
    basis: str
    source: str
    lacks: tuple[str, ...]

    @property
    def basis_words(self) -> str:
        """Return the basis, or what is not known."""
        return f"nothing says {', '.join(self.lacks)}" if self.lacks else self.basis

    @property
    def total(self) -> int | None:
        """All together; None if a part is not known."""
        return None if self.lacks else round(sum(self.parts.values()))


@cache
def model() -> Model:
    """Return the model that ships."""
    return model_of(files("atoll.cost.data").joinpath("areas.json").read_text())


def model_of(text: str) -> Model:
    """Return the model that a file has."""
    told = json.loads(text)
    modules = {
        name: Module(
            terms=tuple((parse(term), each) for term, each in module["um2"].items()),
            sram_bits=tuple((parse(term), each) for term, each in module["sram_bits"].items()),
            limits={key: (parse(key), *ends) for key, ends in module["limits"].items()},
            band=Band(module["band"]["low"], module["band"]["high"]),
        )
        for name, module in told["modules"].items()
    }
    return Model(told["library"], told["source"], modules)


@once_per_chip
def logic_of(soc: ResolvedSoc) -> ChipLogic:
    """Return what the logic of a chip takes."""
    account = _Account()
    beat = max((BEAT_BYTES, *(width for each in soc.engines for width in _port_bytes(each))))
    for device in soc.devices:
        account.device(device, beat)
    for key, module, params in _platform(soc, beat):
        account.add(key, module, params)
    return account.sum(sum(each.size for each in soc.memories if each.kind == "ram"))


class _Account:
    def __init__(self) -> None:
        self._model = model()
        self._parts: dict[str, float] = {}
        self._low, self._high, self._bits = 0.0, 0.0, 0
        self._lacks: dict[str, None] = {}
        self._bases = [FITTED]
        self._modelled = True

    def device(self, device: Device, beat: int) -> None:
        """Add a device: as stated, else as the model says."""
        key = f"devices.{device.name}"
        if device.area and device.area.library == self._model.library:
            self._parts[key] = device.area.um2
            self._bases.append(device.area.basis)
            self._modelled = False
        elif device.area:
            self._lacks[f"{key}.area.library: {self._model.library}"] = None
        elif (found := own_module(device, beat)) is None:
            self._lacks[f"{key}.area"] = None
        else:
            self.add(key, *found)
        if isinstance(device, Cpu) and device.unit:
            self._lacks[f"function unit of {key}"] = None

    def add(self, key: str, name: str, params: Params) -> None:
        """Add a module."""
        module = self._model.modules.get(name)
        beyond = module.beyond(params) if module else ""
        if module is None or beyond:
            self._lacks[f"{key}: {name}{' with ' + beyond if beyond else ''}"] = None
            return
        um2 = module.um2(params)
        self._parts[key] = self._parts.get(key, 0) + um2
        self._low += um2 * module.band.low
        self._high += um2 * module.band.high
        self._bits += module.bits(params)

    def sum(self, memory_bytes: int) -> ChipLogic:
        """Return the sum."""
        whole, lacks = sum(self._parts.values()), tuple(self._lacks)
        known = self._modelled and not lacks
        return ChipLogic(
            parts=self._parts,
            low=round(whole - self._low) if known else None,
            high=round(whole + self._high) if known else None,
            sram_bytes=memory_bytes + self._bits // 8 if known else None,
            basis=joint_basis(self._bases),
            source=self._model.source,
            lacks=lacks,
        )


def own_module(device: Device, beat: int) -> tuple[str, Params] | None:
    """Return the module of a device that the model may know, with its parameters."""
    if not isinstance(device, Cpu | Engine) or not device.spec.rtl_module:
        return None
    if any("/" in name for name in device.spec.rtl_sources):
        return None
    if isinstance(device, Cpu):
        extensions = device.isa[4:].partition("_")[0]
        flags = {f"has_{each}": int(each in extensions) for each in "mce"}
        flags["has_b"] = int({"zba", "zbb", "zbs"} <= {*device.isa.split("_")})
        return device.spec.rtl_module, {"data_bytes": beat, **flags}
    return device.spec.rtl_module, device.params


def _port_bytes(engine: Engine) -> list[int]:
    """Return the bytes of a beat of each port of an engine to memory."""
    return [
        value_of(parse(port.bytes), engine.params)
        if port.bytes
        else engine.params.get("data_bytes", BEAT_BYTES)
        for port in engine.spec.ports.data
    ]


def _platform(soc: ResolvedSoc, beat: int) -> Iterator[tuple[str, str, Params]]:
    """Yield the modules between devices and memories, as `atoll_sim.chip` builds them."""
    masters = [each for each in soc.devices if isinstance(each, Cpu | Engine)]
    blocks = {**soc.register_blocks, "console": soc.console, "guard": soc.guard}
    windows = len(soc.memories) + len(blocks) + len(soc.aliases)
    for memory in soc.memories:
        params = {
            "ports": len(masters),
            "data_bytes": beat,
            "word_bytes": min(memory.width, beat),
            "banks": memory.banks,
            "read_latency": memory.read_latency,
        }
        yield f"memories.{memory.name}", "atoll_memory", params
    for device in masters:
        if isinstance(device, Engine):
            control = _CONTROL[device.spec.ports.control]
            yield PLATFORM, control, {"data_bytes": beat}
            if device.clock != soc.host_cpu.clock:
                # No sample is so shallow: what such a chip takes is not known.
                yield PLATFORM, "atoll_bus_crossing", {"data_bytes": beat, "depth": 2}
        readable = _windows(soc, device, Access.READ, Access.WRITE)
        writable = _windows(soc, device, Access.WRITE)
        own = len(blocks) if device.name == soc.host else len([*soc.registers_of(device)])
        targets, views = len(soc.memories) + own, _views(soc, device)
        tables = {"readable": readable, "writable": writable}
        yield PLATFORM, "atoll_firewall", {"data_bytes": beat, **tables}
        yield PLATFORM, "atoll_demux", {"data_bytes": beat, "targets": targets}
        windows += readable + writable + targets + views
        if views:
            yield PLATFORM, "atoll_view", {"views": views}
        far = device.clock != soc.host_cpu.clock
        if far:
            yield PLATFORM, "atoll_bus_crossing", {"data_bytes": beat, "depth": CROSSING_DEPTH}
        if isinstance(device, Engine):
            ports = _port_bytes(device)
            for port, width in zip(device.spec.ports.data, ports, strict=True):
                depth = CROSSING_DEPTH if far else 8
                of = {"data_bytes": beat, "port_bytes": width, "depth": depth}
                yield PLATFORM, _DATA[port.protocol], of
            if len(ports) > 1:
                yield PLATFORM, "atoll_merge", {"data_bytes": beat, "ports": len(ports)}
    for core in soc.cpus:
        if core.mailbox:
            yield PLATFORM, "atoll_mailbox", {"data_bytes": beat, "holds": int(core.is_held)}
    yield PLATFORM, "atoll_guard", {"data_bytes": beat, "masters": len(masters)}
    yield PLATFORM, "atoll_console", {"data_bytes": beat}
    yield PLATFORM, "atoll_watchdog", {}
    yield PLATFORM, WINDOWS, {"windows": windows}


def _windows(soc: ResolvedSoc, device: Device, *allowed: Access) -> int:
    """Return for how many windows a table of a firewall has room."""
    spans = sorted(
        (window.origin, window.origin + window.size)
        for window, access in soc.windows(device)
        if access in allowed
    )
    count, end = 0, -1
    for first, last in spans:
        count += first > end
        end = max(end, last)
    return max(FEW_WINDOWS, 1 << (count - 1).bit_length())


def _views(soc: ResolvedSoc, device: Device) -> int:
    """Return how many parts of the chip a device sees elsewhere than the bus has them."""
    placed = (*soc.memories, *soc.register_blocks.values())
    shown = (
        device.name in each.devices and not shows_memory(soc, each, device.name)
        for each in soc.aliases
    )
    return sum(device.name in each.views for each in placed) + sum(shown)
