# SPDX-License-Identifier: Apache-2.0
"""Build the devices of a chip from a draft that has no faults."""

from collections.abc import Mapping
from typing import Any

from atoll.description.accelerator_files import AcceleratorDescription
from atoll.description.devices import Cache as CacheModel
from atoll.description.devices import CacheSteps as CacheStepsModel
from atoll.description.devices import Cpu as CpuModel
from atoll.description.devices import Device as DeviceModel
from atoll.description.devices import Dma as DmaModel
from atoll.description.devices import Engine as EngineModel
from atoll.description.devices import Master as MasterModel
from atoll.description.devices import Npu as NpuModel
from atoll.description.devices import NpuCache as NpuCacheModel
from atoll.description.devices import Signal as SignalModel
from atoll.isa.find import instruction_set
from atoll.resolve import accelerators
from atoll.resolve.accelerators import operators_of, params_of
from atoll.resolve.code_targets import code_targets
from atoll.resolve.core_instances import spec_of, with_instruction_cache
from atoll.resolve.draft import Draft
from atoll.resolve.energies import area_of, energy_of
from atoll.resolve.function_units import unit_of
from atoll.resolve.loaders import loader_of
from atoll.resolve.register_steps import (
    SOFTWARE_LINE,
    CacheSteps,
    Interrupt,
    Signals,
    steps_of,
)
from atoll.resolve.soc import (
    Cache,
    Commands,
    Cpu,
    Device,
    Dma,
    Master,
    Npu,
    Region,
    RegionKind,
    Registers,
)
from atoll.resolve.stack_limits import thread_limits
from atoll.resolve.targets import DEVICE_TYPES


def build_devices(
    draft: Draft, regions: Mapping[str, Region], blocks: Mapping[str, Registers]
) -> tuple[Device, ...]:
    """Return the devices in canonical order, numbered in all and within their type."""
    numbers = dict.fromkeys(DEVICE_TYPES.values(), 0)
    devices: list[Device] = []
    for name, model in draft.devices():
        device_type = DEVICE_TYPES[model.kind]
        common = {
            "name": name,
            "kind": model.kind,
            "device_type": device_type,
            "device_id": numbers[device_type],
            "ordinal": len(devices),
            "clock": model.clock,
            "at": draft.where.key_at("devices", name),
            "label": model.label or "",
            "energy": energy_of(draft, name, model),
            "area": area_of(draft, name, model),
            "loader": loader_of(draft, model, _code_memory(regions, name)),
        }
        numbers[device_type] += 1
        devices.append(_device(draft, common, model, regions, blocks))
    return tuple(devices)


def _code_memory(regions: Mapping[str, Region], name: str) -> str:
    region = regions.get(f"{name}.{RegionKind.CODE}")
    return region.memory if region else ""


def _device(
    draft: Draft,
    common: Mapping[str, Any],
    model: DeviceModel,
    regions: Mapping[str, Region],
    blocks: Mapping[str, Registers],
) -> Device:
    name = common["name"]
    if isinstance(model, CpuModel):
        return _cpu(draft, common, model, regions, blocks.get(name))
    if isinstance(model, MasterModel):
        return Master(**common)
    description = draft.description.accelerators[name]
    if isinstance(model, NpuModel):
        cache = _npu_cache(draft, model.cache) if model.cache else None
        return Npu(**common, **_engine(model, description, blocks[name]), cache=cache)
    return Dma(**common, **_engine(model, description, blocks[name]), moves=_moves(draft, model))


def _moves(draft: Draft, model: DmaModel) -> tuple[tuple[str, str], ...]:
    return tuple((draft.real(begin), draft.real(end)) for begin, end in model.moves)


def _cpu(
    draft: Draft,
    common: Mapping[str, Any],
    model: CpuModel,
    regions: Mapping[str, Region],
    mailbox: Registers | None,
) -> Cpu:
    name, own = common["name"], model.commands
    limits = thread_limits(draft, name, model)
    run = next(each for each in limits if each.thread == (model.stack.runs or ""))
    return Cpu(
        **common,
        instructions=instruction_set(model.isa, model.abi),
        spec=with_instruction_cache(spec_of(draft.description.cores[name]), model),
        toolchain=model.toolchain,
        commands=Commands(compile=own.compile, link=own.link) if own else None,
        code=regions[f"{name}.{RegionKind.CODE}"],
        load=regions.get(f"{name}.{RegionKind.LOAD}"),
        data=regions[f"{name}.{RegionKind.DATA}"],
        stack=regions[f"{name}.{RegionKind.STACK}"],
        threads=tuple(
            regions[f"{name}.{thread}.{RegionKind.STACK}"] for thread in sorted(model.stack.threads)
        ),
        run_thread=model.stack.runs or "",
        interrupt_reserve=model.stack.interrupts,
        max_stack_alloca_size=run.alloca,
        max_stack_size=run.total,
        thread_limits=limits,
        mailbox=mailbox,
        shared_mailbox=regions.get(f"{name}.{RegionKind.MAILBOX}"),
        signals=_signals(draft, name, model),
        irq=model.irq,
        hart=model.hart,
        protected=model.protection,
        release=steps_of(model.release),
        world=model.world or "",
        cache=_cache(model.cache) if model.cache else None,
        targets=tuple(code_targets(model)),
        unit=unit_of(units[name]) if name in (units := draft.description.function_units) else None,
    )


def _signals(draft: Draft, name: str, model: CpuModel) -> Signals | None:
    found = model.signals
    if found is None:
        return None
    core, host = found.core, found.host
    return Signals(
        event=found.event,
        core=_interrupt(name, core.line, core) if core else None,
        host=_interrupt(draft.host or "", host.line or model.irq, host) if host else None,
    )


def _interrupt(core: str, line: int | str | None, model: SignalModel) -> Interrupt:
    number = line if isinstance(line, int) else SOFTWARE_LINE
    send, clear = steps_of(model.send), steps_of(model.clear)
    return Interrupt(core=core, line=number, send=send, clear=clear)


def _cache(model: CacheModel) -> Cache:
    maintenance = _cache_steps(model.maintenance) if model.maintenance else None
    return Cache(**{**dict(model), "shared": model.shared or "", "maintenance": maintenance})


def _npu_cache(draft: Draft, model: NpuCacheModel) -> Cache:
    return Cache(
        line=model.line,
        write_back=model.write_back,
        maintenance=_cache_steps(model.maintenance),
        memories=tuple(map(draft.real, model.memories or ())),
    )


def _cache_steps(model: CacheStepsModel) -> CacheSteps:
    return CacheSteps(clean=steps_of(model.clean), invalidate=steps_of(model.invalidate))


def _engine(
    model: EngineModel, description: AcceleratorDescription, registers: Registers
) -> Mapping[str, Any]:
    return {
        "spec": accelerators.spec_of(description),
        "params": params_of(model, description.model),
        "registers": registers,
        "irq": model.irq,
        "runs": operators_of(model, description.model),
    }
