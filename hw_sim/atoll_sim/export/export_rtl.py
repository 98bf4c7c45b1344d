# SPDX-License-Identifier: Apache-2.0
"""Write the RTL of a chip into a folder that needs nothing of Atoll any more."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.api.exported_rtl import ExportedRtl
from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import Sample
from atoll.diagnostics.progress import current
from atoll.driver.pipeline import Compiled
from atoll.protocol import Request, TraceEvent
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.files import new_folder
from atoll.utils.scratch import temporary_folder
from atoll.version import __version__
from atoll_sim.chip.checks import check_addresses, check_cores, check_engines
from atoll_sim.chip.chip_parts import BuiltMemory, Chip
from atoll_sim.chip.generate import defines, environment_of, generate, versions
from atoll_sim.chip.memory_map import windows_of
from atoll_sim.chip.plan import plan_chip
from atoll_sim.export.firmware_bench import FIRMWARE, FirmwareBench, bench_of
from atoll_sim.export.source_tree import SourceTree
from atoll_sim.protocol.records import RESET_CYCLES

MARKER = "export.json"
ALONE = ("name a core with RTL", "name a function unit with RTL")
"""What helps where a core, or its function unit, has none: everything is exported."""

BANK = "atoll_memory_bank.sv"
"""The module that a user replaces by a memory of the technology."""


def export_rtl(
    soc: ResolvedSoc,
    folder: Path,
    models: Sequence[Compiled] = (),
    samples: Sequence[Sequence[Sample]] = (),
    *,
    toolchain: str | None = None,
) -> ExportedRtl:
    """Write sources, lists for other tools, constraints, and a bench that runs networks.

    Args:
        soc: the chip; that of `models`, if there are some.
        folder: made, or replaced if it was made so.
        models: networks that the bench's firmware runs.
        samples: of each network; all have the same number.
        toolchain: see `atoll.artifacts.build_tree.build`.

    Raises:
        SimulationError: E080 to E083, E113; some part of the chip has no RTL.
        UsageError: E091, E092; the folder cannot be written.
        ToolchainError: the firmware cannot be built.
    """
    check_cores(soc, ALONE)
    check_engines(soc, frozenset())
    check_addresses(soc)
    planned = plan_chip(soc)
    memories = tuple(map(_trim_memory, planned.memories))
    chip = replace(planned, memories=memories, exported=True)
    top = f"{soc.name}_top"
    bench = None
    with new_folder(folder, marker=MARKER) as made:
        if models:
            current()("building the firmware")
            with temporary_folder() as temporary:
                tree = build(models, temporary / "build", toolchain=toolchain)
                bench = bench_of(models, tree.firmware.elves, samples)
        current()("writing the sources")
        texts = {**generate(chip), f"{top}.sv": _render("top.sv.j2", chip, top)}
        sources = SourceTree(chip, texts)
        for path, data in _files(chip, top, sources, bench):
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_bytes(data)
        marker = {"soc": soc.name, "top": top, "atoll": __version__}
        (made / MARKER).write_text(json.dumps(marker) + "\n")
    return ExportedRtl(
        soc=soc.name,
        folder=folder,
        top=top,
        sources=len(sources.compiled) + len(sources.headers),
        clocks={f"{clock.signal}_i": clock.hertz for clock in chip.clocks},
        networks=tuple(model.graph.name for model in models),
    )


def _trim_memory(memory: BuiltMemory) -> BuiltMemory:
    """Return a memory with the rows that it has: a model has more, so that chips can share it."""
    row = memory.word_bytes * memory.banks
    rows = max(1, -(-len(memory.span) // row))
    return replace(memory, room=rows * row)


def _files(
    chip: Chip, top: str, tree: SourceTree, bench: FirmwareBench | None
) -> Iterator[tuple[Path, bytes]]:
    yield from tree.files()
    yield from tree.licences()
    name = chip.soc.name
    texts = {
        "synthesis.f": _list(tree, chip, "SYNTHESIS"),
        "lint.f": _list(tree, chip, waivers=True),
        f"{name}.sdc": _render("constraints.sdc.j2", chip, top),
        f"{name}.core": _render("fusesoc.core.j2", chip, top, tree=tree, bench=bench),
        "README.md": _render("README.md.j2", chip, top, tree=tree, bench=bench),
    }
    if bench:
        bank = Path("sim", BANK)
        texts |= {
            "simulation.f": _list(tree, chip, instead={BANK: bank}, more=(Path("sim/bench.sv"),)),
            "sim/bench.sv": _render("bench.sv.j2", chip, top, bench=bench),
            str(bank): _render("memory_bank.sv.j2", chip, top),
            **{f"sim/{file}": text for file, text in bench.texts.items()},
        }
    for file, data in tree.memory_files():
        yield Path(file), data
        if bench:
            yield Path("sim", file), data
    for file, text in texts.items():
        yield Path(file), text.encode()


def _list(
    tree: SourceTree,
    chip: Chip,
    *macros: str,
    waivers: bool = False,
    instead: Mapping[str, Path] | None = None,
    more: Sequence[Path] = (),
) -> str:
    """Return a list of files as simulators and synthesis tools take it."""
    lines = [f"+define+{name}" for name in macros]
    lines += [f"+define+{name}={text}" for name, text in sorted(defines(chip).items())]
    lines += [f"+incdir+{path}" for path in tree.include_folders]
    lines += [str(path) for path in (tree.waivers if waivers else ())]
    lines += [str((instead or {}).get(path.name, path)) for path in tree.compiled]
    lines += [str(path) for path in more]
    return "".join(f"{line}\n" for line in lines)


def _render(template: str, chip: Chip, top: str, **more: object) -> str:
    return (
        environment_of("atoll_sim.export")
        .get_template(template)
        .render(
            chip=chip,
            top=top,
            windows=windows_of(chip.soc),
            versions=versions(chip),
            reset_cycles=RESET_CYCLES,
            request=Request,
            event=TraceEvent,
            firmware=FIRMWARE,
            **more,
        )
    )
