# SPDX-License-Identifier: Apache-2.0
"""The RTL of a chip as a folder for other tools."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from atoll.api.beside import function_of
from atoll.api.chips import SocSource, load_soc
from atoll.api.compilation import Compilation
from atoll.artifacts.samples import Sample, random_sample
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedRtl:
    """A folder that was written.

    Attributes:
        soc: the chip's name.
        folder: where it is.
        top: the top level's module.
        sources: how many files are compiled or included.
        clocks: inputs of the top level, and their frequencies in hertz.
        networks: what the firmware of the bench runs; without any there is no bench.
    """

    soc: str
    folder: Path
    top: str
    sources: int
    clocks: Mapping[str, int]
    networks: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll export-rtl --json`` prints."""
        return {
            "soc": self.soc,
            "folder": str(self.folder),
            "top": self.top,
            "sources": self.sources,
            "clocks": dict(self.clocks),
            "networks": list(self.networks),
        }


def export_rtl(
    soc: SocSource,
    folder: Path | str,
    networks: Compilation | None = None,
    *,
    samples: Sequence[Sequence[Sample]] = (),
    toolchain: str | None = None,
) -> ExportedRtl:
    """Write a chip's RTL with lists and constraints for other tools.

    Args:
        soc: the chip, or what `load_soc` takes.
        folder: to be made; one that was made so is replaced.
        networks: compiled for this chip; a bench runs them in firmware, and compares the results.
        samples: of each network, as many for all; a random one if there are none.
        toolchain: that builds the firmware, as for `build`.

    Raises:
        UsageError: E090, no simulator is installed; E091, E092, the folder cannot be written.
        SimulationError: E080 to E083, E113; a part of the chip has no RTL.
        ToolchainError: the firmware cannot be built.
    """
    export = function_of("atoll_sim.export.export_rtl:export_rtl", "export_rtl")
    models = networks._compiled if networks else ()
    batches = samples or tuple(random_sample(model.graph) for model in models)
    made: ExportedRtl = export(
        models[0].soc if models else load_soc(soc)._resolved,
        Path(folder),
        models,
        batches,
        toolchain=toolchain,
    )
    return made
