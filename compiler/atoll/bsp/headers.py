"""The C headers and sources that name a chip's devices and pools and a model's interface."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atoll.bsp.interface import GivenPool, ModelInterface, Port
from atoll.bsp.linker import POOL_SECTION, POOL_SYMBOL
from atoll.bsp.names import c_name, refuse_clashes
from atoll.bsp.render import made_from, render
from atoll.resolve.soc import AcceleratorSpec, Cpu, Device, Engine, ResolvedSoc

_C_TYPES = {
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "float32": "float",
}
_TIMEOUT_FRACTION = 10  # of a second


@dataclass(frozen=True, slots=True, kw_only=True)
class _CPort:
    """A port as C sees it."""

    member: str
    macro: str
    type: str
    size: int
    address: int

    @classmethod
    def of(cls, port: Port) -> "_CPort":
        name = c_name(port.name)
        return cls(
            member=name,
            macro=name.upper(),
            type=_C_TYPES[port.dtype],
            size=port.size,
            address=port.address,
        )


def device_header(soc: ResolvedSoc) -> str:
    """Write ``atoll_devices.h``: the one enumeration of devices, registers and interrupts."""
    refuse_clashes(_device_names(soc), "atoll_devices.h")
    specs = {npu.spec.name: npu.spec for npu in soc.engines}
    return render(
        "atoll_devices.h",
        made_from=made_from(soc),
        soc=soc,
        macros=lambda device: tuple(_macros(device)),
        specs=tuple((name, _by_offset(specs[name])) for name in sorted(specs)),
    )


def device_source(soc: ResolvedSoc) -> str:
    """Write ``atoll_devices.c``: the device table and the dispatch to the drivers."""
    return render(
        "atoll_devices.c",
        made_from=made_from(soc),
        soc=soc,
        drivers=drivers(soc),
        registers=_registers,
        timeout=soc.host_cpu.clock // _TIMEOUT_FRACTION,
    )


def pool_header(soc: ResolvedSoc) -> str:
    """Write ``atoll_pools.h``: origin, size and symbol of every pool."""
    return render("atoll_pools.h", made_from=made_from(soc), soc=soc, symbol=POOL_SYMBOL)


def heap_source(soc: ResolvedSoc) -> str:
    """Write ``atoll_pools.c``: the workspace allocator of every pool that keeps a heap."""
    return render("atoll_pools.c", made_from=made_from(soc), soc=soc)


def model_header(soc: ResolvedSoc, model: ModelInterface) -> str:
    """Write ``<model>.h``: structs, sizes and buffers of a model, and its run function.

    Raises:
        ToolchainError: E075, two tensors or pools would get one C name.
    """
    name = c_name(model.name)
    refuse_clashes(_model_names(name.upper(), model), f"{name}.h")
    return render("model.h", made_from=made_from(soc, model), **_model_values(model))


def application(soc: ResolvedSoc, models: Sequence[ModelInterface]) -> str:
    """Write ``main.c``: the loop of docs/platform.md over the planned buffers, models in turn."""
    given: dict[str, GivenPool] = {}
    for pool in (pool for model in models for pool in model.pools):
        largest = max(pool, given.get(pool.pool, pool), key=lambda each: each.size)
        given[pool.pool] = largest
    return render(
        "main.c",
        made_from=made_from(soc, *models),
        models=tuple(map(_model_values, models)),
        pools=tuple(given.values()),
        run_thread=soc.host_cpu.run_thread,
        section=POOL_SECTION,
    )


def drivers(soc: ResolvedSoc) -> tuple[str, ...]:
    """Return the drivers that the chip's accelerators need, sorted."""
    return tuple(sorted({npu.spec.driver for npu in soc.engines}))


def _model_values(model: ModelInterface) -> dict[str, object]:
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
            for suffix in ("SIZE", "BUFFER"):
                macro = f"{prefix}_{way.upper()}_{c_name(port.name).upper()}_{suffix}"
                yield macro, f"{way} '{port.name}'"
    for share in model.shares:
        for suffix in ("WORKSPACE_SIZE", "CONSTANTS_SIZE"):
            yield f"{prefix}_{share.pool.upper()}_{suffix}", f"pool '{share.pool}'"


def _device_names(soc: ResolvedSoc) -> Iterator[tuple[str, str]]:
    yield "ATOLL_DEVICE_COUNT", "the number of devices"
    for device in soc.devices:
        prefix = f"ATOLL_DEVICE_{device.name.upper()}"
        yield prefix, f"device '{device.name}'"
        for name, _ in _macros(device):
            yield f"{prefix}_{name}", f"{name.lower()} of device '{device.name}'"


def _macros(device: Device) -> Iterator[tuple[str, str]]:
    yield "NAME", f'"{device.name}"'
    yield "TYPE", str(device.device_type)
    yield "ID", str(device.device_id)
    yield "CLOCK", f"UINT32_C({device.clock})"
    if isinstance(device, Engine):
        yield "REGISTERS", _registers(device)
        yield "IRQ", f"UINT32_C({device.irq})"
        for name in sorted(device.params):
            yield c_name(name).upper(), f"UINT32_C({device.params[name]})"


def _registers(device: Device) -> str:
    assert isinstance(device, (Cpu, Engine))
    return "0" if isinstance(device, Cpu) else f"UINT32_C(0x{device.registers.origin:08X})"


def _by_offset(spec: AcceleratorSpec) -> tuple[tuple[str, int], ...]:
    named = ((c_name(name).upper(), offset) for name, offset in spec.registers.items())
    return tuple(sorted(named, key=lambda row: (row[1], row[0])))
