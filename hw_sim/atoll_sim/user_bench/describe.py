# SPDX-License-Identifier: Apache-2.0
"""Write down what a bench inside the simulator knows of chip and networks."""

import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from atoll.artifacts.samples import Sample
from atoll.driver.pipeline import Compiled
from atoll.ir.graph import Tensor
from atoll.ir.tir import EngineAction, Step
from atoll.ops import reference
from atoll.resolve.memory_views import on_bus
from atoll_sim.chip.chip_parts import PICOSECONDS, Chip, Master
from atoll_sim.chip.ports import CONTROL, DATA, Signal, control_signals, data_signals
from atoll_sim.engines.player import list_address
from atoll_sim.engines.script import script_of
from atoll_sim.host.rtl_jobs import Around, list_job
from atoll_sim.trace.contents import contents_of
from atoll_sim.user_bench.files import DESCRIBED, TENSORS, reference_file
from atoll_sim.user_bench.operators import Operator, RegisterStep


def describe(
    chip: Chip, models: Sequence[Compiled], samples: Sequence[Sequence[Sample]], folder: Path
) -> Path:
    """Write `DESCRIBED` and the references of all tensors into `folder`; return the former."""
    for model, those in zip(models, samples, strict=True):
        for number, values in enumerate(reference.run_in_turn(model.graph, those, model.soc)):
            for name, array in values.items():
                path = folder / reference_file(model.graph.name, number, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                np.save(path, array)
    plain = {
        "soc": chip.soc.name,
        "cycle_time": PICOSECONDS // chip.soc.host_cpu.clock,
        "samples": len(samples[0]) if samples else 0,
        "firmware": not chip.external_host,
        "masters": [master.name for master in chip.masters],
        "devices": [_device(chip, master) for master in chip.masters],
        "operators": [asdict(each) for model in models for each in _operators(model)],
    }
    tensors = {model.graph.name: dict(_places(model)) for model in models}
    (folder / TENSORS).write_bytes(pickle.dumps(tensors))
    written = folder / DESCRIBED
    written.write_text(json.dumps(plain, indent=1))
    return written


def _device(chip: Chip, master: Master) -> Mapping[str, Any]:
    engine = master.npu
    built = engine and not master.stand_in
    lines = {each.source: each.signal for each in chip.interrupts}
    origin = engine.registers.origin if engine else 0
    registers = engine.spec.registers if engine else {}
    return {
        "name": master.name,
        "kind": chip.soc.device(master.name).kind,
        "ports": [
            _port(
                port.name,
                port.protocol,
                f"{master.signal}_{port.name}_{DATA[port.protocol].infix}",
                data_signals(port),
            )
            for port in (master.ports if built else ())
        ],
        "control": _port(
            "control",
            engine.spec.ports.control,
            f"{master.signal}_{CONTROL[engine.spec.ports.control].infix}",
            control_signals(engine.spec.ports.control),
        )
        if engine and built
        else None,
        "clock": f"{master.clock}_i" if master.clock else "clk_i",
        "reset": master.reset,
        "interrupt": lines.get(master.name),
        "registers": {name: origin + offset for name, offset in registers.items()},
    }


def _port(name: str, protocol: str, prefix: str, signals: Sequence[Signal]) -> Mapping[str, Any]:
    return {
        "name": name,
        "protocol": protocol,
        "prefix": prefix,
        "signals": [each.name for each in signals],
        "asks": [each.name for each in signals if each.asks],
    }


def _places(model: Compiled) -> Iterator[tuple[str, tuple[int, Tensor]]]:
    """Yield the activations that have a place, each with its address on the bus.

    Constants lie as their accelerators want them, packed.
    """
    graph = model.graph
    for tensor in graph.tensors:
        stored = graph.buffer(tensor.name)
        if tensor.data is None and stored in model.plan.placements:
            address = model.plan.address(stored)
            yield tensor.name, (address, replace(tensor, initial=None))


def _operators(model: Compiled) -> Iterator[Operator]:
    steps = model.module.entry.steps
    actions = {
        step.number: (step, step.action) for step in steps if isinstance(step.action, EngineAction)
    }
    for number, op in enumerate(model.graph.operators):
        yield Operator(
            network=model.graph.name,
            number=number,
            name=op.name,
            kind=op.kind,
            device=op.device,
            inputs=tuple(name for name in op.inputs if name),
            outputs=tuple(op.outputs),
            registers=tuple(_registers(model, *actions[number])) if number in actions else (),
        )


def _registers(model: Compiled, step: Step, action: EngineAction) -> Iterator[RegisterStep]:
    """Yield what has an accelerator run a step alone, and takes its interrupt back."""
    engine = next(each for each in model.soc.engines if each.name == action.device)
    names = {offset: name for name, offset in engine.spec.registers.items()}
    origin = engine.registers.origin
    if engine.spec.program:
        script = script_of(engine, contents_of(model)[action.commands])
        for access in (*script.run, *script.finish):
            for each in access.words() if access.rises else (access,):
                yield RegisterStep(
                    do=each.verb.value,
                    register=names[access.offset],
                    address=origin + each.offset,
                    value=each.value,
                    mask=each.mask,
                    equals=each.equals,
                    memory=on_bus(model.soc, model.soc.host, each.address) if each.size else 0,
                    size=each.size,
                )
        return
    around = Around(patience=0, cycle_time=0)
    job = list_job(engine, list_address(model, step), action.count, around)
    for do in job.start:
        yield RegisterStep(
            do="wait" if do.mask else "write",
            register=names[do.address - origin],
            address=do.address,
            value=do.value or 0,
            mask=do.mask,
            equals=do.equals,
        )
    yield RegisterStep(do="interrupt", register="", address=0)
    for at, value in job.finish:
        yield RegisterStep(do="write", register=names[at - origin], address=at, value=value)
