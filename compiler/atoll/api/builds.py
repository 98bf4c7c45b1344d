# SPDX-License-Identifier: Apache-2.0
"""Build folders: a firmware ready to simulate, or objects for another firmware."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from atoll.api.compilation import Compilation
from atoll.api.notebook import Row, html_table
from atoll.artifacts.build_tree import Emit, tree_json
from atoll.artifacts.build_tree import build as write_tree
from atoll.artifacts.object_tree import build_objects
from atoll.diagnostics.progress import current
from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Build:
    """A build folder on disk.

    Attributes:
        folder: where it is.
        linked: it holds a firmware, and not only objects.
        summary: what there is, in one line.
    """

    folder: Path
    linked: bool
    summary: str
    _data: Mapping[str, Any] = field(repr=False)

    def rows(self) -> list[Row]:
        """Return the images of a firmware, or the objects."""
        rows: list[Row] = self._data["images" if self.linked else "objects"]
        return rows

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll build --json`` prints."""
        return dict(self._data)

    def _repr_html_(self) -> str:
        return html_table(str(self.folder), self.rows())


def build(
    compilation: Compilation,
    folder: Path | str,
    *,
    objects: bool = False,
    emit: Literal["object", "c"] = "object",
    toolchain: str | None = None,
) -> Build:
    """Write a build folder: every stage as text, the BSP, and the firmware.

    Args:
        compilation: what `compile` returned.
        folder: made, or replaced if it is a build folder; never left half written.
        objects: write objects, headers and plans alone, for another firmware.
        emit: make the networks' code by LLVM, or as C by the compiler of each core.
        toolchain: ``zig``, ``gcc`` or ``clang``; None takes the description's.

    Raises:
        UsageError: the folder is something else.
        ToolchainError: a tool is missing or failed.
        PlanError: code or stack do not fit.
    """
    models, path, how = compilation._compiled, Path(folder), Emit(emit)
    notes = {"notes": [note for each in compilation for note in each.notes]}
    compilation.soc.require_toolchain(toolchain)
    if objects:
        made = build_objects(models, path, emit=how, toolchain=toolchain)
        return Build(
            path, linked=False, summary=made.summary(), _data={**made.as_json(models), **notes}
        )
    current()("building the firmware")
    tree = write_tree(models, path, toolchain=toolchain, emit=how)
    return Build(
        path,
        linked=True,
        summary=tree.firmware.summary(),
        _data={**tree_json(tree, models), **notes},
    )
