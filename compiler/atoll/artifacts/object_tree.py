# SPDX-License-Identifier: Apache-2.0
"""The folder of `atoll build --objects`: networks for a firmware that is not Atoll's."""

import json
from collections.abc import Sequence
from pathlib import Path

from atoll.artifacts.build_tree import MARKER, Emit, parts_of, write_texts
from atoll.bsp.c_names import c_name
from atoll.bsp.core_images import image_cores
from atoll.bsp.emitters import interface_headers
from atoll.bsp.firmware import Part
from atoll.bsp.object_files import PORT_HEADER, ObjectFile, object_file, port_header
from atoll.driver.pipeline import Compiled
from atoll.records import dataclass
from atoll.report.plan_table import total_use
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.files import new_folder, write_bytes, write_text

OBJECTS = "objects.json"
KIND = "objects"
"""Key of the marker that says that there is no image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectTree:
    """A folder with objects on disk."""

    folder: Path
    objects: tuple[ObjectFile, ...]

    def as_json(self, models: Sequence[Compiled]) -> dict[str, object]:
        """Return what `atoll build --objects --json` prints."""
        return {
            "folder": str(self.folder),
            "soc": models[0].soc.name,
            "models": [model.graph.name for model in models],
            "objects": [each.as_json() for each in self.objects],
        }

    def summary(self) -> str:
        """Say in one line what there is."""
        return "; ".join(map(str, self.objects))


def build_objects(
    models: Sequence[Compiled],
    folder: Path,
    *,
    emit: Emit = Emit.OBJECT,
    toolchain: str | None = None,
) -> ObjectTree:
    """Write an object of each network for each core, headers, plans and ``objects.json``.

    There is no start-up code, no linker script, no main function and no link. The objects are
    those that the firmware of `build` is linked from, byte by byte.

    Args:
        models: what `atoll.driver.pipeline.compile_models` returned; at least one.
        folder: made, or replaced if it is a build folder; never left half written.
        emit: how the code is made.
        toolchain: compiles C: ``zig`` or ``gcc``; None takes each core's own.

    Raises:
        UsageError: the folder is something else.
        ToolchainError: E075, a name clash; a tool is missing or failed.
    """
    soc = models[0].soc
    with new_folder(folder, marker=MARKER) as fresh:
        write_texts(models, fresh)
        marker = json.loads((fresh / MARKER).read_text(encoding="utf-8")) | {KIND: True}
        write_text(fresh / MARKER, json.dumps(marker, indent=2) + "\n")
        objects: list[ObjectFile] = []
        interfaces = []
        for compiled, part in zip(models, parts_of(models, emit, fresh, toolchain), strict=True):
            interfaces.append(part.interface)
            objects += (
                _write_object(compiled, part, core, code, fresh)
                for core, code in part.codes().items()
            )
        headers = interface_headers(soc, interfaces) | {
            PORT_HEADER: port_header(soc, tuple(objects))
        }
        for name, text in headers.items():
            write_text(fresh / name, text)
        write_text(fresh / OBJECTS, _description(soc, models, objects))
    return ObjectTree(folder=folder, objects=tuple(objects))


def _write_object(
    compiled: Compiled, part: Part, core: str, code: bytes, folder: Path
) -> ObjectFile:
    """Write the object of a network for a core."""
    soc, name = compiled.soc, c_name(compiled.graph.name)
    suffix = "" if core == soc.host else f"_{core}"
    found = object_file(
        code,
        file=f"{name}{suffix}.o",
        network=compiled.graph.name,
        core=next(each for each in image_cores(soc) if each.name == core),
        kernels=part.kernels[core],
        origins={
            space.name: device_address(soc, core, space.origin)
            for space in compiled.plan.problem.pools
        },
    )
    write_bytes(folder / found.file, code)
    return found


def _description(
    soc: ResolvedSoc, models: Sequence[Compiled], objects: Sequence[ObjectFile]
) -> str:
    """Return ``objects.json``: the objects, and where the pools are that they use."""
    used = total_use(soc, {each.graph.name: each.plan for each in models})
    data = {
        "soc": soc.name,
        "objects": [each.as_json() for each in objects],
        "pools": {
            pool.name: {
                "address": device_address(soc, soc.host, pool.region.origin),
                "used_bytes": used[pool.name],
                "alignment_bytes": pool.alignment,
                "memory": pool.region.memory,
                "role": pool.role,
            }
            for pool in soc.pools
            if pool.name in used
        },
    }
    return json.dumps(data, indent=2) + "\n"
