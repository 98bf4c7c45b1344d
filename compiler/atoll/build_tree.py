"""The build folder of a compiled network: texts of every stage, object code, BSP, firmware."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from atoll.bsp.cores import elf_names
from atoll.bsp.firmware import Part, link_firmware
from atoll.bsp.interface import ELF_NAME, Firmware, GivenPool, ModelInterface, PoolShare, Port
from atoll.checksums import write_checksums
from atoll.codegen.llvm import emit_objects
from atoll.files import new_folder
from atoll.memory.build_problem import NOTHING
from atoll.memory.contract_text import contract_json
from atoll.memory.plan_text import plan_json
from atoll.memory.run_arguments import run_arguments
from atoll.pipeline import Compiled
from atoll.resolve.export import to_json, without_positions

MARKER = "build.json"
RESOLVED = "resolved.json"
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildTree:
    """A build folder on disk."""

    folder: Path
    firmware: Firmware


def build(
    compiled: Compiled,
    folder: Path,
    *,
    toolchain: str | None = None,
    definitions: tuple[str, ...] = (),
) -> BuildTree:
    """Write the build folder: texts of every stage, object code, BSP, firmware.

    Args:
        compiled: what `compile_file` returned.
        folder: made, or replaced if it is a build folder; never left half written.
        toolchain: ``zig`` or ``gcc``; None takes the description's.
        definitions: see `bsp.firmware.link_firmware`.

    Raises:
        UsageError: the folder is something else.
        ToolchainError: a tool is missing or failed.
        PlanError: code or stack do not fit.
    """
    with new_folder(folder, marker=MARKER) as fresh:
        write_texts(compiled, fresh)
        parts = (part_of(compiled),)
        firmware = link_firmware(compiled.soc, parts, fresh, toolchain, definitions)
        write_checksums(fresh, sources_of(compiled.graph.name, elf_names(compiled.soc)))
    return BuildTree(folder=folder, firmware=replace(firmware, folder=folder))


def tree_json(tree: BuildTree, models: Sequence[Compiled]) -> dict[str, object]:
    """Return what `atoll build --json` prints."""
    return {
        "folder": str(tree.folder),
        "soc": models[0].soc.name,
        "models": [model.graph.name for model in models],
        "images": [image.as_json() for image in tree.firmware.images],
    }


def part_of(compiled: Compiled, position: int = 0, origins: Mapping[str, int] = NOTHING) -> Part:
    """Return what a firmware has of the compiled network, in machine code.

    Args:
        compiled: the network.
        position: its place among those of the firmware, from 0.
        origins: where the plan has its constants, by symbol.
    """
    soc, module = compiled.soc, compiled.module
    codes = emit_objects(module, compiled.plan, soc, compiled.commands, position)
    return Part(
        interface=interface_of(compiled), code=codes.pop(soc.host), others=codes, origins=origins
    )


def interface_of(compiled: Compiled) -> ModelInterface:
    """Return what the application sees of the compiled network."""
    soc, graph, plan = compiled.soc, compiled.graph, compiled.plan

    def ports(names: tuple[str, ...]) -> tuple[Port, ...]:
        tensors = map(graph.tensor, names)
        return tuple(
            Port(name=each.name, size=each.size, address=plan.address(each.name), dtype=each.dtype)
            for each in tensors
        )

    arguments = run_arguments(compiled.module, plan, soc)
    return ModelInterface(
        name=graph.name,
        inputs=ports(graph.inputs),
        outputs=ports(graph.outputs),
        shares=tuple(_shares(compiled)),
        pools=tuple(
            GivenPool(pool=name, size=plan.use[name].used, alignment=soc.pool(name).alignment)
            for name in arguments.pools
        ),
        devices=arguments.devices,
        map_inputs=soc.interface.map_inputs,
        map_outputs=soc.interface.map_outputs,
    )


def _shares(compiled: Compiled) -> Iterator[PoolShare]:
    """Yield what the network takes of each pool that it uses."""
    plan, entry = compiled.plan, compiled.module.entry
    constants = {constant.name for constant in entry.constants}
    for pool in plan.problem.pools:
        ends = {True: 0, False: 0}
        for placement in plan.placements.values():
            if placement.pool == pool.name:
                constant = placement.buffer in constants
                end = placement.offset + entry.sizes[placement.buffer]
                ends[constant] = max(ends[constant], end)
        if any(ends.values()):
            yield PoolShare(pool=pool.name, workspace=ends[False], constants=ends[True])


def sources_of(model: str, elves: tuple[str, ...] = (ELF_NAME,)) -> tuple[str, ...]:
    """Return the files that `atoll simulate` reads from the build folder of a model."""
    return (MARKER, RESOLVED, f"{model}.tflite", *elves)


def texts_of(compiled: Compiled) -> dict[str, str]:
    """Return the text files of the build folder by name."""
    marker = {
        "format": FORMAT,
        "soc": compiled.soc.name,
        "model": compiled.graph.name,
        "accelerators": compiled.options.accelerators,
        "requests": compiled.options.requests.plain(),
    }
    texts = {
        MARKER: json.dumps(marker, indent=2),
        RESOLVED: to_json(without_positions(compiled.soc)),
        "graph.txt": str(compiled.graph),
        "placement.txt": "".join(f"{decision}\n" for decision in compiled.decisions),
        "module.tir": str(compiled.module),
        "plan.json": json.dumps(plan_json(compiled.plan), indent=2),
        "contract.json": json.dumps(contract_json(compiled.contract), indent=2),
    }
    return {name: text.rstrip("\n") + "\n" for name, text in texts.items()}


def write_texts(compiled: Compiled, folder: Path) -> None:
    """Write the texts of every stage and the model file into `folder`."""
    for name, text in texts_of(compiled).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / f"{compiled.graph.name}.tflite").write_bytes(compiled.source)
