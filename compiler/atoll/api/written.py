# SPDX-License-Identifier: Apache-2.0
"""Files to start from, and schemas for editors."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from atoll.api.skeleton import write_skeleton
from atoll.codegen.llvm_processors import find_processor
from atoll.description.core_files import known_cores
from atoll.description.core_template import starting_core
from atoll.description.faults import nearest
from atoll.description.fields import is_name
from atoll.description.json_schemas import require_schema_beside, write_schema_beside
from atoll.description.part_words import parts_of
from atoll.description.share import is_path
from atoll.description.template import USUAL, Parts, starting_description
from atoll.diagnostics.errors import AtollError, UsageError
from atoll.isa.find import NAMES, usual_like
from atoll.records import dataclass
from atoll.report.schema_files import schema_text
from atoll.report.schema_files import write_schemas as write_all
from atoll.resolve import load_soc
from atoll.utils.files import write_text
from atoll.utils.scratch import temporary_folder


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """Files that were written."""

    files: tuple[Path, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what the command prints with ``--json``."""
        return {"wrote": list(map(str, self.files))}


def new_soc(
    name: str,
    output: Path | str | None = None,
    *,
    cores: Sequence[str] | None = None,
    accelerators: Sequence[str] | None = None,
    engines: Sequence[str] | None = None,
    memories: Sequence[str] | None = None,
) -> WrittenFiles:
    """Write a commented description of a chip to start from, with a schema for editors beside it.

    Args:
        name: of the chip.
        output: the file; None for ``NAME.yaml``.
        cores: ``CORE`` or ``CORE:ISA``, the host first; None for the usual one, as for all others.
        accelerators: names of installed ones, or paths.
        engines: DMA engines, likewise.
        memories: ``NAME=[KIND:]SIZE[@ORIGIN]``, such as ``flash=rom:2MiB``.

    Raises:
        UsageError: E090, a memory is not understood; E091, the file is there; E092, it cannot be
            written; E099, a chip cannot have the name; E145, the parts make no chip.
        DescriptionError: E042; there is no such core.
    """
    target = require_new_soc(name, output)
    parts = parts_of(cores, accelerators, engines, memories, target.parent)
    text = starting_description(name, parts)
    _try(target, name, parts)
    require_schema_beside(target)
    write_text(target, text)
    write_schema_beside(target)
    return WrittenFiles((target,))


def require_new_soc(name: str, output: Path | str | None) -> Path:
    """Return the file of a new chip.

    Raises:
        UsageError: E091, E099; it is there, or no chip can have the name.
    """
    starting_description(name)
    return _new_file(name, output)


def new_core(
    name: str,
    output: Path | str | None = None,
    *,
    isa: str | None = None,
    cpu: str | None = None,
) -> WrittenFiles:
    """Write a commented description of a core to start from, in which guesses are called so.

    A schema for editors goes beside it.

    Args:
        name: of the core.
        output: the file; None for ``NAME.yaml``.
        isa: its instruction set, such as ``rv32imac_zba``.
        cpu: instead of that, LLVM's name of a processor with RISC-V or of a Cortex-M.

    Raises:
        UsageError: E040, no back end generates code for it; E042, LLVM does not know the
            processor; E090, E191, neither `isa` nor `cpu` is given, or both are; E091, the file is
            there; E092, it cannot be written; E099, a core cannot have the name.
        ToolchainError: E070, LLVM does not start.

    >>> import atoll
    >>> atoll.new_core("mine", "mine.yaml", cpu="cortex-m23").files[0].read_text().splitlines()[6]
    "isas: [armv8-m.base]  # of LLVM's cortex-m23"
    """
    _require_core_name(name)
    target = _new_file(name, output)
    require_schema_beside(target, "core")
    write_text(target, _core_text(name, isa, cpu))
    write_schema_beside(target, "core")
    return WrittenFiles((target,))


def _core_text(name: str, isa: str | None, cpu: str | None) -> str:
    if isa is not None and cpu is not None:
        message = "--isa says nothing beside --cpu, which has an instruction set"
        raise UsageError("E191", message, remedy="leave one of them out")
    if cpu is not None:
        found = find_processor(cpu)
        return starting_core(
            name,
            found.isa,
            processor=found.name,
            others=found.others,
            misaligned=found.misaligned,
        )
    if isa is None:
        message = "the file of a core begins with an instruction set"
        raise UsageError("E090", message, remedy="write --isa rv32imc or --cpu cortex-m23, say")
    if not NAMES.fullmatch(isa):
        own = "use another one that docs/cores.md lists"
        raise UsageError(
            "E040",
            f"no back end generates code for '{isa}'",
            remedy=nearest(isa, usual_like(isa), own),
        )
    return starting_core(name, isa)


def _require_core_name(name: str) -> None:
    taken = name in known_cores()
    if is_name(name) and not taken:
        return
    why = "it is the name of another" if taken else "use a-z, 0-9 and _, a letter first"
    raise UsageError(
        "E099",
        f"'{name}' cannot name a core: {why}",
        remedy="choose a name such as my_core",
    )


def _new_file(name: str, output: Path | str | None) -> Path:
    target = Path(f"{name}.yaml") if output is None else Path(output)
    if target.exists():
        remedy = "choose another name, or remove the file"
        raise UsageError("E091", f"{target} exists already", remedy=remedy)
    return target


def new_accelerator(name: str, folder: Path | str | None = None) -> WrittenFiles:
    """Write the package of an accelerator: description, model, RTL, a chip and tests, which pass.

    Args:
        name: of the accelerator.
        folder: that must not be there yet; None for one of its name.

    Raises:
        UsageError: E091, the folder is there; E092, it cannot be written; E099, an accelerator
            cannot have the name.
    """
    return WrittenFiles(write_skeleton(name, Path(name if folder is None else folder)))


def schema(which: str = "soc") -> dict[str, Any]:
    """Return a JSON Schema: of a description, or of what a command prints with ``--json``.

    Args:
        which: ``soc``, ``accelerator``, ``core``, ``build``, or a command such as ``run-output``.

    Raises:
        UsageError: E094; there is no such schema.

    >>> import atoll
    >>> atoll.schema("run-output")["title"]
    'atoll run --json'
    """
    made: dict[str, Any] = json.loads(schema_text(which))
    return made


def write_schemas(folder: Path | str) -> WrittenFiles:
    """Write every schema into a folder, for editors.

    Raises:
        UsageError: E092; the folder or a file in it cannot be written.
    """
    return WrittenFiles(write_all(Path(folder)))


def _try(target: Path, name: str, parts: Parts) -> None:
    """Refuse parts that make no chip.

    Raises:
        UsageError: E145; with what keeps them from being one.
    """
    if parts == USUAL:
        return
    with temporary_folder() as folder:
        trial = folder / f"{target.stem}.yaml"
        found = _with_whole_paths(parts, target.parent)
        trial.write_text(starting_description(name, found), encoding="utf-8")
        try:
            load_soc(trial)
        except AtollError as error:
            fault = error.faults[0]
            raise UsageError(
                "E145",
                f"these parts make no chip: {fault.message}",
                remedy=f"choose others; of the file: {fault.remedy}",
            ) from error


def _with_whole_paths(parts: Parts, folder: Path) -> Parts:
    """Return parts whose paths do not depend on `folder`."""

    def whole(word: str) -> str:
        return str((folder / word).resolve()) if is_path(word) else word

    return replace(
        parts,
        cores=tuple(replace(each, core=whole(each.core)) for each in parts.cores),
        accelerators=tuple(map(whole, parts.accelerators)),
        engines=tuple(map(whole, parts.engines)),
    )
