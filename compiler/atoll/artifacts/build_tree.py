# SPDX-License-Identifier: Apache-2.0
"""The build folder of compiled networks: texts of every stage, object code, BSP, firmware."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cache, partial
from pathlib import Path

from atoll.artifacts.target_objects import kernel_names, objects_of
from atoll.bsp.core_images import elf_names
from atoll.bsp.firmware import Part, link_firmware
from atoll.bsp.interface import (
    Firmware,
    GivenConstants,
    GivenPool,
    ModelInterface,
    PoolShare,
    Port,
)
from atoll.bsp.linker import pool_section
from atoll.codegen.commands import link_lists
from atoll.codegen.pool_images import behind, pool_images, pool_symbol
from atoll.codegen.run_arguments import run_arguments
from atoll.contract.contract_text import contract_json
from atoll.driver.pipeline import Compiled
from atoll.interchange.plan_text import plan_json
from atoll.isa.code_target import Generator
from atoll.records import dataclass
from atoll.resolve.export import to_json, without_positions
from atoll.resolve.memory_views import device_address
from atoll.utils.checksums import write_checksums
from atoll.utils.files import new_folder

MARKER = "build.json"
RESOLVED = "resolved.json"
FORMAT = 1
SUFFIX = ".tflite"


class Emit(StrEnum):
    """How the code of networks is made: by LLVM, or as C by the compiler of each core."""

    OBJECT = "object"
    C = "c"

    @property
    def generator(self) -> Generator:
        """What makes the code of which no target says otherwise."""
        return Generator.C if self is Emit.C else Generator.LLVM


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildTree:
    """A build folder on disk."""

    folder: Path
    firmware: Firmware


def build(
    models: Sequence[Compiled],
    folder: Path,
    *,
    toolchain: str | None = None,
    definitions: tuple[str, ...] = (),
    emit: Emit = Emit.OBJECT,
) -> BuildTree:
    """Write the build folder of one or more networks; one firmware runs them in turn.

    Of several networks each has the texts of its stages in a folder of its name.

    Args:
        models: what `atoll.driver.pipeline.compile_models` returned; at least one.
        folder: made, or replaced if it is a build folder; never left half written.
        toolchain: ``zig`` or ``gcc``; None takes the description's.
        definitions: see `bsp.firmware.link_firmware`.
        emit: how the networks' code is made.

    Raises:
        UsageError: the folder is something else.
        ToolchainError: a tool is missing or failed.
        PlanError: code or stack do not fit.
    """
    soc, names = models[0].soc, [compiled.graph.name for compiled in models]
    with new_folder(folder, marker=MARKER) as fresh:
        write_texts(models, fresh)
        parts = parts_of(models, emit, fresh, toolchain)
        firmware = link_firmware(soc, parts, fresh, toolchain, definitions)
        suffixes = [compiled.source.suffix for compiled in models]
        write_checksums(fresh, sources_of(names, elf_names(soc), suffixes))
    return BuildTree(folder=folder, firmware=replace(firmware, folder=folder))


def tree_json(tree: BuildTree, models: Sequence[Compiled]) -> dict[str, object]:
    """Return what `atoll build --json` prints."""
    return {
        "folder": str(tree.folder),
        "soc": models[0].soc.name,
        "models": [model.graph.name for model in models],
        "images": [image.as_json() for image in tree.firmware.images],
    }


def homes_of(names: Sequence[str]) -> tuple[Path, ...]:
    """Return where in a build folder each network's texts are: several have a folder each."""
    return (Path(),) if len(names) == 1 else tuple(map(Path, names))


def parts_of(
    models: Sequence[Compiled], emit: Emit, folder: Path, toolchain: str | None = None
) -> tuple[Part, ...]:
    """Return what a firmware has of networks; with their code as C, that is left in `folder`."""
    homes = homes_of([compiled.graph.name for compiled in models])
    return tuple(
        _part(compiled, emit, partial(_codes, compiled, position, emit, folder / home, toolchain))
        for position, (compiled, home) in enumerate(zip(models, homes, strict=True))
    )


def part_of(compiled: Compiled, position: int = 0) -> Part:
    """Return what a firmware has of a network, by LLVM; `position` is the network's in it."""
    return _part(compiled, Emit.OBJECT, partial(_codes, compiled, position, Emit.OBJECT))


def _codes(
    compiled: Compiled,
    position: int,
    emit: Emit,
    folder: Path | None = None,
    toolchain: str | None = None,
) -> Mapping[str, bytes]:
    return objects_of(compiled, position, emit.generator, folder, toolchain)


def _part(compiled: Compiled, emit: Emit, codes: Callable[[], Mapping[str, bytes]]) -> Part:
    soc, module, plan = compiled.soc, compiled.module, compiled.plan
    origins = {
        pool_symbol(module.name, space, soc): device_address(soc, soc.host, space.origin)
        for space in plan.problem.pools
        if behind(space, soc)
        and soc.pool(space.name).provided == "internal"
        and any(_is_in(compiled, space.name))
    }
    return Part(
        interface=interface_of(compiled),
        codes=cache(codes),
        origins=origins,
        kernels=kernel_names(compiled, emit.generator),
    )


def _is_in(compiled: Compiled, pool: str) -> Iterator[bool]:
    """Tell of each constant whether it lies in a pool."""
    for constant in compiled.module.entry.constants:
        yield compiled.plan.placements[constant.name].pool == pool


def interface_of(compiled: Compiled) -> ModelInterface:
    """Return what the application sees of the compiled network."""
    soc, graph, plan = compiled.soc, compiled.graph, compiled.plan

    def ports(names: tuple[str, ...]) -> tuple[Port, ...]:
        tensors = [(each, each.quantization) for each in map(graph.tensor, names)]
        return tuple(
            Port(
                name=each.name,
                size=each.size,
                address=device_address(soc, soc.host, plan.address(each.name)),
                dtype=each.dtype,
                shape=each.shape,
                scale=grid.scales[0] if grid else None,
                zero_point=grid.zero_points[0] if grid else 0,
            )
            for each, grid in tensors
        )

    arguments = run_arguments(compiled.module, plan, soc)
    return ModelInterface(
        name=graph.name,
        suffix=compiled.source.suffix,
        inputs=ports(graph.inputs),
        outputs=ports(graph.outputs),
        states=ports(graph.states),
        shares=tuple(_shares(compiled)),
        pools=tuple(
            GivenPool(
                pool=name,
                size=plan.use[name].used,
                alignment=soc.pool(name).alignment,
                section=pool_section(soc.pool(name)),
            )
            for name in arguments.pools
        ),
        constants=tuple(_given_constants(compiled, arguments.parameters)),
        devices=arguments.devices,
        map_inputs=soc.interface.map_inputs,
        map_outputs=soc.interface.map_outputs,
        threads=tuple((core.name, core.run_thread) for core in soc.cpus if core.run_thread),
    )


def _given_constants(compiled: Compiled, pools: Sequence[str]) -> Iterator[GivenConstants]:
    """Yield what the application defines of the constants of a network."""
    if not pools:
        return
    soc, module, plan = compiled.soc, compiled.module, compiled.plan
    images = pool_images(module, plan, link_lists(compiled.commands, module, plan, soc))
    spaces = {space.name: space for space in plan.problem.pools}
    for name in pools:
        inside = (
            buffer.alignment
            for buffer in plan.problem.buffers
            if plan.placements[buffer.name].pool == name
        )
        yield GivenConstants(
            pool=name,
            data=images[name],
            offset=behind(spaces[name], soc),
            alignment=max(soc.pool(name).alignment, *inside),
            section=pool_section(soc.pool(name)),
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


def sources_of(
    names: Sequence[str], elves: Sequence[str] = (), suffixes: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the files that `atoll simulate` reads from a build folder.

    Args:
        names: of the networks.
        elves: names of the images.
        suffixes: of the networks' files; TFLite's if none are given.
    """
    files = zip(names, suffixes or [SUFFIX] * len(names), strict=True)
    own = (
        (home / file).as_posix()
        for (name, suffix), home in zip(files, homes_of(names), strict=True)
        for file in (MARKER, RESOLVED, name + suffix)
    )
    return tuple(dict.fromkeys((MARKER, *elves, *own)))


def texts_of(compiled: Compiled) -> dict[str, str]:
    """Return the text files of the build folder by name."""
    marker = {
        "format": FORMAT,
        "soc": compiled.soc.name,
        "model": compiled.graph.name,
        "accelerators": compiled.options.accelerators,
        "requests": compiled.options.requests.plain(),
    }
    if compiled.source.suffix != SUFFIX:
        marker["suffix"] = compiled.source.suffix
    texts = {
        MARKER: json.dumps(marker, indent=2),
        RESOLVED: to_json(without_positions(compiled.soc)),
        "graph.txt": compiled.graph.brief(),
        "placement.txt": "".join(f"{decision}\n" for decision in compiled.decisions),
        "module.tir": compiled.module.brief(),
        "plan.json": json.dumps(plan_json(compiled.plan), indent=2),
        "contract.json": json.dumps(contract_json(compiled.contract), indent=2),
    }
    return {name: text.rstrip("\n") + "\n" for name, text in texts.items()}


def write_texts(models: Sequence[Compiled], folder: Path) -> None:
    """Write the texts of every stage and the model file of each network into `folder`."""
    names = [compiled.graph.name for compiled in models]
    if len(models) > 1:
        marker = {"format": FORMAT, "soc": models[0].soc.name, "models": names}
        (folder / MARKER).write_text(json.dumps(marker, indent=2) + "\n", encoding="utf-8")
    for compiled, home in zip(models, homes_of(names), strict=True):
        (folder / home).mkdir(exist_ok=True)
        for name, text in texts_of(compiled).items():
            (folder / home / name).write_text(text, encoding="utf-8")
        source = compiled.source
        (folder / home / f"{compiled.graph.name}{source.suffix}").write_bytes(source.data)
