# SPDX-License-Identifier: Apache-2.0
"""The C headers and sources that name a chip's devices and pools and a model's interface."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.bsp.c_names import c_name, refuse_clashes
from atoll.bsp.core_image import image_symbol
from atoll.bsp.core_images import image_cores
from atoll.bsp.interface import ModelInterface, Port
from atoll.bsp.linker import POOL_SYMBOL
from atoll.bsp.render import opening_sentence, render
from atoll.description.fields import ADDRESS_SPACE
from atoll.isa.instruction_set import Family
from atoll.records import dataclass
from atoll.resolve import mailbox
from atoll.resolve.device_table import device_row
from atoll.resolve.engine_parts import identity_of
from atoll.resolve.isolation import isolated_areas, non_secure_areas
from atoll.resolve.memory_views import as_seen_by, begin_of, core_as_it_sees, device_address
from atoll.resolve.register_steps import SOFTWARE_LINE, Interrupt, Signals, is_by_line
from atoll.resolve.soc import AcceleratorSpec, Cpu, Device, Engine, ResolvedSoc

MAILBOX_DRIVERS = ("mailbox", "shared_mailbox")
"""Of a core with registers, and of one that shares memory with its host."""
PARAMETERS = "_parameters.h"
"""Ends the name of the header with the bytes of the constants that the application defines."""

_RESTS_ON = {"doorbell": ("command_list",), "ethos_u": ("command_list",)}
"""The other drivers that a driver calls."""
_C_TYPES = {
    "bool": "uint8_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "float32": "float",
}
_GRID = ("SCALE", "ZERO_POINT")
NO_LINE = 255
"""Stands for the interrupt line of an accelerator without an interrupt."""

_TIMEOUT_FRACTION = 10  # of a second, more if an engine's clock is slower than the host's
_BYTES_OF_A_LINE = 24
_CORE_TIMEOUT = 20  # seconds
_LONGEST_WAIT = 2**32 - 1  # cycles; the timer has 32 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class _CPort:
    """A port as C sees it; `scale` is "" if its numbers stand for themselves."""

    member: str
    macro: str
    type: str
    size: int
    address: int
    shape: tuple[int, ...]
    scale: str
    zero_point: int

    @classmethod
    def of(cls, port: Port) -> "_CPort":
        name = c_name(port.name)
        return cls(
            member=name,
            macro=name.upper(),
            type=_C_TYPES[port.dtype],
            size=port.size,
            address=port.address,
            shape=port.shape,
            scale="" if port.scale is None else f"{float(port.scale)!r}f",
            zero_point=port.zero_point,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Driven:
    """A device that the host brings up and starts.

    Attributes:
        context: what the driver's macro for a context takes.
        core: it takes the command of a core, not a list of commands.
    """

    name: str
    driver: str
    context: str
    core: bool


def _driver_instances(soc: ResolvedSoc) -> Iterator[_Driven]:
    for core in soc.remote_cpus:
        name = core.name
        driver = MAILBOX_DRIVERS[core.shared_mailbox is not None]
        yield _Driven(name=name, driver=driver, context=name.upper(), core=True)
    for engine in soc.engines:
        name, spec = engine.name, engine.spec
        context = f"{name.upper()}, {spec.name.upper()}"
        yield _Driven(name=name, driver=spec.driver, context=context, core=False)


def header_files(
    soc: ResolvedSoc, models: Sequence[ModelInterface], origins: Mapping[str, int]
) -> Mapping[str, str]:
    """Return headers and tables of devices and pools, and the header of each model.

    Raises:
        ToolchainError: E075, a name clash.
    """
    heaps = {"atoll_pools.c": heap_source(soc)} if any(pool.heap for pool in soc.pools) else {}
    isolated = any(memory.isolation for memory in soc.memories)
    return {
        "atoll_devices.h": device_header(soc),
        "atoll_devices.c": device_source(soc),
        "atoll_pools.h": pool_header(soc),
        **heaps,
        **({"atoll_isolation.h": isolation_header(soc)} if isolated else {}),
        **{
            f"atoll_sau_{core.name}.h": sau_header(soc, core)
            for core in image_cores(soc)
            if core.world == "non_secure"
        },
        **{f"{c_name(model.name)}.h": model_header(soc, model) for model in models},
        **{
            f"{c_name(model.name)}{PARAMETERS}": parameter_header(soc, model)
            for model in models
            if model.constants
        },
    }


def device_header(soc: ResolvedSoc) -> str:
    """Write ``atoll_devices.h``: the one enumeration of devices, registers and interrupts."""
    refuse_clashes(_device_names(soc), "atoll_devices.h")
    offsets = {npu.spec.name: npu.spec.registers for npu in soc.engines if npu.spec.registers}
    if any(core.mailbox for core in soc.remote_cpus):
        held = any(core.is_held for core in soc.remote_cpus)
        offsets["mailbox"] = mailbox.registers_of(held=held)
    return render(
        "atoll_devices.h",
        made_from=opening_sentence(soc),
        soc=soc,
        macros=lambda device: tuple(_macros(soc, device)),
        specs=tuple((name, _by_offset(offsets[name])) for name in sorted(offsets)),
        cores=soc.remote_cpus,
        shares=any(core.shared_mailbox for core in soc.remote_cpus),
        cached=any(caches_mailbox(soc, core, soc.host_cpu) for core in soc.remote_cpus),
        shared=[
            core
            for core in soc.remote_cpus
            if core.shared_mailbox and core.name in soc.sharing(soc.host)
        ],
        signals=any(core.signals for core in soc.remote_cpus),
        line=mailbox.LINE,
    )


def device_source(soc: ResolvedSoc) -> str:
    """Write ``atoll_devices.c``: the device table and the dispatch to the drivers."""
    return render(
        "atoll_devices.c",
        made_from=opening_sentence(soc),
        soc=soc,
        drivers=drivers(soc),
        registers=_registers,
        driven=tuple(_driver_instances(soc)),
        held=tuple(_cores_to_load(soc)),
        signalling=tuple(core for core in soc.remote_cpus if core.signals),
        order=order_by(soc.host_cpu),
        released={
            core.name: core.release
            for core in soc.remote_cpus
            if core.shared_mailbox or core.release
        },
        begin={
            core.name: {word: f"UINT32_C({at:#010x})" for word, at in begin_of(soc, core).items()}
            for core in soc.remote_cpus
        },
        held_names={core.name for core, *_ in _cores_to_load(soc)},
        thumb=soc.host_cpu.instructions.family is Family.THUMB,
        is_by_line=is_by_line,
        views={
            engine.name: tuple(m for m in soc.memories if engine.name in m.views and m.low)
            for engine in soc.engines
        },
        cores=soc.remote_cpus,
        timeout=driver_timeout(soc),
        core_timeout=min(soc.host_cpu.clock * _CORE_TIMEOUT, _LONGEST_WAIT),
    )


def _cores_to_load(soc: ResolvedSoc) -> Iterator[tuple[Cpu, str, bool]]:
    """Yield cores that the host loads, their images, and whether its cache has to be cleaned."""
    cache = soc.host_cpu.cache
    for core in soc.remote_cpus:
        if core.is_held:
            cleaned = bool(cache and cache.write_back) and soc.memory(core.code.memory).cached
            yield core, image_symbol(core), cleaned


def driver_timeout(soc: ResolvedSoc) -> int:
    """Return the host's cycles after which a driver gives up an engine that ends no command.

    That is a part of a second, and as many of them as the host's clock is faster than an engine's.
    """
    clock = soc.host_cpu.clock
    second = max(clock * -(-clock // engine.clock) for engine in (*soc.engines, soc.host_cpu))
    return min(second // _TIMEOUT_FRACTION, _LONGEST_WAIT)


def pool_header(soc: ResolvedSoc) -> str:
    """Write ``atoll_pools.h``: origin, size and symbol of every pool, and where others see it."""
    return render(
        "atoll_pools.h",
        made_from=opening_sentence(soc),
        soc=soc,
        symbol=POOL_SYMBOL,
        far=lambda pool: pool.region.origin >= ADDRESS_SPACE,
        views=lambda pool: sorted(soc.memory(pool.region.memory).views),
        seen=lambda pool, device: device_address(soc, device, pool.region.origin),
    )


def isolation_header(soc: ResolvedSoc) -> str:
    """Write ``atoll_isolation.h``: what isolation units are to let through."""
    units = [(each, isolated_areas(soc, each)) for each in soc.memories if each.isolation]
    return render("atoll_isolation.h", made_from=opening_sentence(soc), soc=soc, units=units)


def sau_header(soc: ResolvedSoc, core: Cpu) -> str:
    """Write ``atoll_sau_<core>.h``: what the secure world opens for a non-secure core's image."""
    found = as_seen_by(soc, core.name)
    seen = core_as_it_sees(soc, core)
    return render(
        "atoll_sau.h",
        made_from=opening_sentence(soc),
        core=core,
        vectors=seen.boot.origin,
        areas=tuple(non_secure_areas(found, seen)),
    )


def heap_source(soc: ResolvedSoc) -> str:
    """Write ``atoll_pools.c``: the workspace allocator of every pool that keeps a heap."""
    return render("atoll_pools.c", made_from=opening_sentence(soc), soc=soc)


def model_header(soc: ResolvedSoc, model: ModelInterface) -> str:
    """Write ``<model>.h``: structs, sizes and buffers of a model, and its run function.

    Raises:
        ToolchainError: E075, two tensors or pools would get one C name.
    """
    name = c_name(model.name)
    refuse_clashes(_model_names(name.upper(), model), f"{name}.h")
    values = model_values(model)
    return render(
        "model.h", made_from=opening_sentence(soc, model), cores=soc.remote_cpus, **values
    )


def parameter_header(soc: ResolvedSoc, model: ModelInterface) -> str:
    """Write ``<model>_parameters.h``: the bytes of the constants that the application defines."""
    return render(
        "parameters.h",
        made_from=opening_sentence(soc, model),
        lines=lambda data: [
            ", ".join(map(str, data[at : at + _BYTES_OF_A_LINE]))
            for at in range(0, len(data), _BYTES_OF_A_LINE)
        ],
        **model_values(model),
    )


def drivers(soc: ResolvedSoc) -> tuple[str, ...]:
    """Return the drivers that the chip's accelerators and cores need, sorted."""
    named = {device.driver for device in _driver_instances(soc)}
    return tuple(sorted(named.union(*(_RESTS_ON.get(name, ()) for name in named))))


def model_values(model: ModelInterface) -> dict[str, object]:
    """Return what templates say of a model."""
    name = c_name(model.name)
    directions = (
        ("INPUT", model.inputs, model.map_inputs),
        ("OUTPUT", model.outputs, model.map_outputs),
    )
    return {
        "model": model,
        "name": name,
        "prefix": name.upper(),
        "parameters": model.parameters,
        "directions": tuple(
            (way, tuple(map(_CPort.of, ports)), mapped) for way, ports, mapped in directions
        ),
    }


def _model_names(prefix: str, model: ModelInterface) -> Iterator[tuple[str, str]]:
    for way, ports in (("input", model.inputs), ("output", model.outputs)):
        for port in ports:
            for suffix in ("SIZE", "BUFFER", *(() if port.scale is None else _GRID)):
                macro = f"{prefix}_{way.upper()}_{c_name(port.name).upper()}_{suffix}"
                yield macro, f"{way} '{port.name}'"
    for share in model.shares:
        for suffix in ("WORKSPACE_SIZE", "CONSTANTS_SIZE"):
            yield f"{prefix}_{share.pool.upper()}_{suffix}", f"pool '{share.pool}'"
    for given in model.constants:
        yield f"{prefix}_{given.pool.upper()}_CONSTANTS", f"constants of pool '{given.pool}'"


def _device_names(soc: ResolvedSoc) -> Iterator[tuple[str, str]]:
    yield "ATOLL_DEVICE_COUNT", "the number of devices"
    for device in soc.devices:
        prefix = f"ATOLL_DEVICE_{device.name.upper()}"
        yield prefix, f"device '{device.name}'"
        for name, _ in _macros(soc, device):
            yield f"{prefix}_{name}", f"{name.lower()} of device '{device.name}'"


def _macros(soc: ResolvedSoc, device: Device) -> Iterator[tuple[str, str]]:
    yield "NAME", f'"{device.shown}"'
    yield "TYPE", str(device.device_type)
    yield "ID", str(device.device_id)
    yield "CLOCK", f"UINT32_C({device.clock})"
    row = device_row(soc, device)
    yield "GENERATOR", f'"{row.generator}"'
    yield "ACCELERATOR", f'"{row.accelerator}"'
    yield "LOADER", f'"{row.loader}"'
    if isinstance(device, Cpu) and device.has_mailbox:
        what = "MAILBOX" if device.shared_mailbox else "REGISTERS"
        yield what, f"UINT32_C(0x{_mailbox_at(soc, device, soc.host):08X})"
        if suffix := _apart(soc, device):
            seen = _mailbox_at(soc, device, device.name)
            yield f"{what}{suffix}", f"UINT32_C(0x{seen:08X})"
        told = device.signals
        yield "IRQ", woken_by(told, told.host if told else None, device.irq)
    if isinstance(device, Engine):
        yield "REGISTERS", _registers(device)
        line = device.irq if device.irq is not None else NO_LINE
        yield "IRQ", f"UINT32_C({line})"
        for name in sorted(device.params):
            yield c_name(name).upper(), f"UINT32_C({device.params[name]})"
        identity = identity_of(device)
        rows = ", ".join(_identity(device.spec, identity)) or "{0u, 0u}"
        yield "IDENTITY", f"{{{rows}}}"
        yield "IDENTITY_COUNT", f"UINT32_C({len(identity)})"


def _identity(spec: AcceleratorSpec, values: Mapping[str, int]) -> Iterator[str]:
    for name, value in values.items():
        yield f"{{ATOLL_{spec.name.upper()}_REGISTER_{name}, UINT32_C(0x{value:08X})}}"


def own_mailbox(soc: ResolvedSoc, core: Cpu) -> str:
    """Return the macro of the address at which a core sees its mailbox."""
    what = "MAILBOX" if core.shared_mailbox else "REGISTERS"
    return f"ATOLL_DEVICE_{core.name.upper()}_{what}{_apart(soc, core)}"


def order_by(core: Cpu) -> str:
    """Return the instruction with which a core keeps memory and registers in order."""
    return "fence iorw, iorw" if core.instructions.family is Family.RISCV else "dsb sy"


def woken_by(signals: Signals | None, heard: Interrupt | None, line: int | None = None) -> str:
    """Return what one side of a mailbox waits for, as `atoll_wait_interrupt` takes it."""
    line = heard.line if heard else line
    if line == SOFTWARE_LINE:
        return "ATOLL_SOFTWARE_INTERRUPT"
    if line is not None:
        return f"UINT32_C({line})"
    return "ATOLL_EVENT" if signals and signals.event else "ATOLL_NO_LINE"


def caches_mailbox(soc: ResolvedSoc, core: Cpu, viewer: Cpu) -> bool:
    """Tell whether the data cache of a core hides the mailbox in memory of one from its other side.

    It keeps lines of it, and host and core do not share it.
    """
    kept = viewer.cache and core.shared_mailbox and soc.is_kept(core.shared_mailbox)
    return bool(kept) and not {core.name, soc.host} <= soc.sharing(viewer.name)


def _mailbox_at(soc: ResolvedSoc, core: Cpu, device: str) -> int:
    """Return where the host, or the core, sees the core's mailbox."""
    if core.mailbox:
        return (
            core.mailbox.device_range(device).start if device == core.name else core.mailbox.origin
        )
    seen = as_seen_by(soc, device).device(core.name)
    assert isinstance(seen, Cpu)
    assert seen.shared_mailbox
    return seen.shared_mailbox.origin


def _apart(soc: ResolvedSoc, core: Cpu) -> str:
    """Return how the macro ends where the core sees its mailbox elsewhere than the host does."""
    same = _mailbox_at(soc, core, core.name) == _mailbox_at(soc, core, soc.host)
    return "" if same else f"_AT_{core.name.upper()}"


def _registers(device: Device) -> str:
    block = None
    if isinstance(device, Cpu):
        block = device.mailbox
    elif isinstance(device, Engine):
        block = device.registers
    return f"UINT32_C(0x{block.origin:08X})" if block else "0"


def _by_offset(registers: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    named = ((c_name(name).upper(), offset) for name, offset in registers.items())
    return tuple(sorted(named, key=lambda row: (row[1], row[0])))
