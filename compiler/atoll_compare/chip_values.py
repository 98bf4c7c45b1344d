# SPDX-License-Identifier: Apache-2.0
"""A chip as values by name: what two chips are compared by."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from atoll.diagnostics.units import format_size
from atoll.records import dataclass
from atoll.resolve.register_steps import Steps, line_name
from atoll.resolve.soc import (
    Alias,
    Cache,
    Cpu,
    Device,
    Dma,
    Engine,
    Memory,
    Placed,
    Pool,
    Region,
    ResolvedSoc,
)
from atoll.resolve.tables import clock


@dataclass(frozen=True, slots=True)
class Value:
    """A value.

    Attributes:
        text: as people read it.
        number: in bytes, hertz or cycles; None if it is none.
        grows: a greater number is more of something, and no other place.
    """

    text: str
    number: int | None = None
    grows: bool = False

    @property
    def raw(self) -> str | int:
        """The value for programs."""
        return self.text if self.number is None else self.number


Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Thing:
    """What has values: ``memory`` and its name, for example. `summary` is a phrase about it."""

    kind: str
    name: str
    summary: str
    values: Values


REACH = "reach."
"""How keys of pools begin that say what a device may do."""

NO_REACH = Value("none")


def size(amount: int) -> Value:
    """Return bytes as a value."""
    return Value(format_size(amount), amount, grows=True)


def count(number: int) -> Value:
    """Return a number without a unit as a value."""
    return Value(str(number), number, grows=True)


def things_of(soc: ResolvedSoc) -> tuple[Thing, ...]:
    """Return the chip itself, its devices, memories and pools; the chip has no name here."""
    chip = {
        "name": Value(soc.name),
        "host": Value(soc.host),
        "default_device": Value(soc.default_device),
        "console": _address(soc.console.origin),
        "interface.map_inputs": _flag(soc.interface.map_inputs),
        "interface.map_outputs": _flag(soc.interface.map_outputs),
        "qemu.machine": Value(soc.qemu_machine or "none"),
        "mpool.device": Value(soc.mpool.device if soc.mpool else "none"),
        "vela.system_config": Value(soc.vela.system_config if soc.vela else "none"),
        "vela.memory_mode": Value(soc.vela.memory_mode if soc.vela else "none"),
    }
    return (
        Thing("chip", "", "", chip),
        *(Thing("device", each.name, each.kind, dict(_device(each))) for each in soc.devices),
        *(Thing("memory", each.name, _about(each), _memory(each)) for each in soc.memories),
        *(
            Thing("memory", each.name, f"an alias of {each.memory}", _alias(each))
            for each in soc.aliases
        ),
        *(
            Thing(
                "pool",
                each.name,
                f"{format_size(each.region.size)} of {each.region.memory}",
                _pool(each),
            )
            for each in soc.pools
        ),
    )


def _about(memory: Memory) -> str:
    return f"{format_size(memory.size)} of {memory.kind} at {memory.origin:#010x}"


def _device(device: Device) -> Iterator[tuple[str, Value]]:
    yield "kind", Value(device.kind)
    yield "clock", _clock(device.clock)
    yield from _stated_numbers(device)
    match device:
        case Cpu():
            yield from _core(device)
        case Engine():
            yield "accelerator", Value(device.spec.name)
            for name, number in device.params.items():
                yield f"params.{name}", count(number)
            yield from _place_values("registers", device.registers)
            yield "irq", Value("none" if device.irq is None else str(device.irq), device.irq)
            yield "runs", Value(", ".join(sorted(device.runs)))
            if device.cache:
                yield from _cache(device.cache)
            if isinstance(device, Dma):
                pairs = sorted(f"{begin} to {end}" for begin, end in device.moves)
                yield "moves", Value(", ".join(pairs))


def _stated_numbers(part: Device | Memory) -> Iterator[tuple[str, Value]]:
    """Yield the numbers of energy and area that somebody stated."""
    for key, section in (("energy", part.energy), ("area", part.area)):
        for name, stated in asdict(section).items() if section else ():
            if stated is not None:
                yield f"{key}.{name}", Value(str(stated).removesuffix(".0"))


def _core(core: Cpu) -> Iterator[tuple[str, Value]]:
    yield "isa", Value(core.isa)
    for each in core.targets:
        yield f"targets.{each.name}", Value(each.instructions.name)
    yield "core", Value(core.spec.name)
    yield "toolchain", Value("your own commands" if core.commands else core.toolchain)
    yield from _region("code", core.code)
    if core.load:
        yield from _region("load", core.load)
    yield from _region("data", core.data)
    yield from _region("stack", core.stack)
    for thread in core.threads:
        yield from _region(thread.name.partition(".")[2], thread)
    yield "stack.interrupts", size(core.interrupt_reserve)
    yield "stack.runs", Value(core.run_thread or "the main stack")
    yield "limits.max_stack_alloca_size", size(core.max_stack_alloca_size.value)
    yield "limits.max_stack_size", size(core.max_stack_size.value)
    yield "protection", _flag(core.protected)
    if core.mailbox:
        yield from _place_values("mailbox", core.mailbox)
        yield "irq", Value(str(core.irq), core.irq)
    if core.shared_mailbox:
        yield from _region("mailbox", core.shared_mailbox)
    if core.signals:
        yield "signals.event", _flag(core.signals.event)
        for end, signal in (("core", core.signals.core), ("host", core.signals.host)):
            if signal:
                yield f"signals.{end}.line", Value(line_name(signal.line), signal.line)
                yield f"signals.{end}.send", _steps(signal.send)
                yield f"signals.{end}.clear", _steps(signal.clear)
    if core.world:
        yield "world", Value(core.world)
    if core.cache:
        yield from _cache(core.cache)
    yield "hart", Value(str(core.hart), core.hart)
    if core.release:
        yield "release", _steps(core.release)


def _cache(cache: Cache) -> Iterator[tuple[str, Value]]:
    yield "cache.line", size(cache.line)
    yield "cache.write_back", _flag(cache.write_back)
    if cache.size and cache.ways:
        yield "cache.size", size(cache.size)
        yield "cache.ways", count(cache.ways)
    if cache.memories:
        yield "cache.memories", Value(", ".join(cache.memories))
    if cache.shared:
        yield "cache.shared", Value(cache.shared)
    if steps := cache.maintenance:
        yield "cache.maintenance.clean", _steps(steps.clean)
        yield "cache.maintenance.invalidate", _steps(steps.invalidate)


def _steps(steps: Steps) -> Value:
    return Value(", then ".join(map(str, steps)))


def _region(key: str, region: Region) -> Iterator[tuple[str, Value]]:
    yield f"{key}.memory", Value(region.memory)
    yield f"{key}.origin", _address(region.origin)
    yield f"{key}.size", size(region.size)


def _place_values(key: str, block: Placed) -> Iterator[tuple[str, Value]]:
    yield key, _address(block.origin)
    for viewer, origin in block.views.items():
        yield f"{'views' if key == 'origin' else f'{key}.views'}.{viewer}", _address(origin)


def _memory(memory: Memory) -> Values:
    return {
        **dict(_place_values("origin", memory)),
        "size": size(memory.size),
        "kind": Value(memory.kind),
        "width": size(memory.width),
        "banks": count(memory.banks),
        "read_latency": _cycles(memory.read_latency),
        "cached": _flag(memory.cached),
        "sector": size(memory.sector),
        **dict(_isolation(memory)),
        **dict(_stated_numbers(memory)),
    }


def _isolation(memory: Memory) -> Iterator[tuple[str, Value]]:
    if unit := memory.isolation:
        yield "isolation.granule", size(unit.granule)
        for device, number in unit.masters.items():
            yield f"isolation.masters.{device}", count(number)


def _alias(alias: Alias) -> Values:
    return {
        **dict(_place_values("origin", alias)),
        "alias_of": Value(alias.memory),
        "shows": _address(alias.byte),
        "size": size(alias.size),
        "cached": _flag(alias.cached),
        "regions": Value(", ".join(alias.regions)),
    }


def _pool(pool: Pool) -> Values:
    values = {
        **dict(_region("", pool.region)),
        ".role": Value(pool.role),
        ".alignment": size(pool.alignment),
        ".preference": Value(str(pool.preference), pool.preference),
        ".provided": Value(pool.provided),
        ".section": Value(pool.section or "none"),
        ".heap": size(pool.heap),
    }
    if speed := pool.speed:
        values[".read_bandwidth"] = size(speed.read_bandwidth)
        values[".write_bandwidth"] = size(speed.write_bandwidth)
        values[".latency"] = _cycles(speed.latency)
        values[".burst"] = size(speed.burst)
        values[".clock"] = _clock(speed.clock)
    reach = {f"{REACH}{device}": Value(access.value) for device, access in pool.reach.items()}
    return {key.removeprefix("."): value for key, value in values.items()} | reach


def _address(origin: int) -> Value:
    return Value(f"{origin:#010x}", origin)


def _clock(hertz: int) -> Value:
    return Value(clock(hertz).text, hertz, grows=True)


def _cycles(number: int) -> Value:
    return Value("1 cycle" if number == 1 else f"{number} cycles", number, grows=True)


def _flag(value: bool) -> Value:
    return Value(str(value).lower())
