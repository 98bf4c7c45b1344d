"""Several models in one firmware image: shared workspaces, constants side by side."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from atoll.bsp.cores import elf_names
from atoll.bsp.firmware import Part, link_firmware
from atoll.build_tree import FORMAT, MARKER, RESOLVED, BuildTree, build, part_of, write_texts
from atoll.checksums import write_checksums
from atoll.codegen.llvm_pools import MODEL_ALIGNMENT, pool_symbol
from atoll.errors import ToolchainError
from atoll.files import new_folder
from atoll.pipeline import BuildOptions, Compiled, Observer, compile_file
from atoll.resolve.soc import ResolvedSoc


def compile_together(
    soc: ResolvedSoc,
    models: Sequence[Path],
    options: BuildOptions | None = None,
    observe: Observer = lambda stage, result: None,
) -> tuple[Compiled, ...]:
    """Compile one or more models for one firmware image.

    They run one at a time: their workspaces share the pools' first bytes, as large as the largest
    needs, and their constants lie one behind the other.

    Raises:
        ToolchainError: E075; two models have one name.
        AtollError: as `compile_file`.
    """
    names = [model.stem for model in models]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ToolchainError(
            "E075",
            f"two models are called {', '.join(map(repr, repeated))}",
            remedy="rename one of the files",
        )
    taken: dict[str, int] = {}
    together = []
    for model in models:
        compiled = compile_file(soc, model, options, observe, taken=dict(taken))
        together.append(compiled)
        for pool in soc.pools:
            used = compiled.plan.use[pool.name].used
            if pool.role != "workspace" and used:
                step = max(pool.alignment, MODEL_ALIGNMENT)
                taken[pool.name] = -(-(taken.get(pool.name, 0) + used) // step) * step
    return tuple(together)


def build_models(
    models: Sequence[Compiled], folder: Path, *, toolchain: str | None = None
) -> BuildTree:
    """Write the build folder of what `compile_together` returned: `build` or `build_together`."""
    if len(models) == 1:
        return build(models[0], folder, toolchain=toolchain)
    return build_together(models, folder, toolchain=toolchain)


def build_together(
    models: Sequence[Compiled], folder: Path, *, toolchain: str | None = None
) -> BuildTree:
    """Write a folder with the firmware of models that `compile_together` returned.

    It has the texts of each model in a folder of its name. The application runs the models in
    turn, one at each request.

    Raises:
        UsageError, ToolchainError, PlanError: as `build`.
    """
    soc = models[0].soc
    with new_folder(folder, marker=MARKER) as fresh:
        for compiled in models:
            (fresh / compiled.graph.name).mkdir()
            write_texts(compiled, fresh / compiled.graph.name)
        names = [compiled.graph.name for compiled in models]
        marker = {
            "format": FORMAT,
            "soc": soc.name,
            "models": names,
            "accelerators": models[0].options.accelerators,
            "requests": models[0].options.requests.plain(),
        }
        (fresh / MARKER).write_text(json.dumps(marker, indent=2) + "\n", encoding="utf-8")
        parts = tuple(_part(compiled, position) for position, compiled in enumerate(models))
        firmware = link_firmware(soc, parts, fresh, toolchain)
        write_checksums(fresh, sources_together(names, elf_names(soc)))
    return BuildTree(folder=folder, firmware=replace(firmware, folder=folder))


def sources_together(names: Sequence[str], elves: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the files that `atoll simulate` reads from the build folder of several models.

    Args:
        names: of the models.
        elves: names of the images.
    """
    own = (f"{name}/{file}" for name in names for file in (MARKER, RESOLVED, f"{name}.tflite"))
    return (MARKER, *elves, *own)


def _part(compiled: Compiled, position: int) -> Part:
    plan, soc = compiled.plan, compiled.soc
    origins = {
        pool_symbol(compiled.module.name, space, soc): space.origin
        for space in plan.problem.pools
        if any(plan.placements[c.name].pool == space.name for c in compiled.module.entry.constants)
    }
    return part_of(compiled, position, origins)
