# SPDX-License-Identifier: Apache-2.0
"""The tree of a BSP: every file that the firmware of one chip and model is built from."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from atoll.bsp.c_names import c_name, refuse_clashes
from atoll.bsp.core_images import image_cores, sources_for
from atoll.bsp.drivers import STATUS, check_drivers, protocol_headers
from atoll.bsp.headers import device_header, drivers, header_files
from atoll.bsp.interface import ModelInterface
from atoll.bsp.render import FOLDER
from atoll.bsp.startup import core_files
from atoll.diagnostics.errors import AtollError
from atoll.plugins.loading import CORRECT_MEMBER
from atoll.plugins.registry import Registry
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.files import write_text

_FILE = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)

_STANDARD_HEADERS = ("stddef.h", "stdint.h")

Emitter = Callable[[ResolvedSoc, Sequence[ModelInterface], Mapping[str, int]], Mapping[str, str]]
"""Returns files of the BSP, text by name, from the chip, its models, and the addresses that symbols
of model objects must have, all as the host sees them. A source among them is compiled for the
host."""

EMITTERS: Registry[Emitter] = Registry(
    group="atoll.emitters",
    noun="BSP emitter",
    own={
        "linker": "atoll.bsp.linker:linker_files",
        "startup": "atoll.bsp.startup:startup_files",
        "headers": "atoll.bsp.headers:header_files",
        "drivers": "atoll.bsp.drivers:driver_files",
        "application": "atoll.bsp.application:application_files",
    },
    interface=("soc", "models", "origins"),
)


def bsp_files(
    soc: ResolvedSoc, *models: ModelInterface, origins: Mapping[str, int] | None = None
) -> dict[str, str]:
    """Return the text of every file of the BSP of one or more models by its name, sorted.

    Raises:
        ToolchainError: E071, a core or driver that the BSP does not have; E075, a name clash.
        AtollError: E111, E112; another package's emitter failed, or returned no files.
    """
    soc = as_seen_by(soc, soc.host)
    refuse_clashes(_file_names(soc, models), "the BSP")
    files: dict[str, str] = {}
    owners: list[tuple[str, str]] = []
    for name in EMITTERS.names():
        emitted = _emit(name, soc, models, origins or {})
        files |= emitted
        owners += [(file, f"a file of BSP emitter '{name}'") for file in emitted]
    refuse_clashes(owners, "the BSP")
    return dict(sorted(files.items()))


def _emit(
    name: str, soc: ResolvedSoc, models: Sequence[ModelInterface], origins: Mapping[str, int]
) -> Mapping[str, str]:
    """Call an emitter; another package's is not trusted."""
    emitter = EMITTERS.get(name)
    if name in EMITTERS.own:
        return emitter(soc, models, origins)
    emitted: object = emitter(soc, models, origins)
    if isinstance(emitted, Mapping) and all(map(_is_file, emitted.items())):
        return emitted
    message = f"BSP emitter '{name}' returned {emitted!r:.80}, no texts by plain file name"
    raise AtollError("E112", message, remedy=CORRECT_MEMBER)


def _is_file(item: tuple[object, object]) -> bool:
    name, text = item
    return isinstance(text, str) and isinstance(name, str) and bool(_FILE.fullmatch(name))


def interface_headers(soc: ResolvedSoc, models: Sequence[ModelInterface]) -> dict[str, str]:
    """Return the text of every header that a firmware other than Atoll's includes, by name.

    Raises:
        ToolchainError: E075, a name clash.
    """
    refuse_clashes(_file_names(soc, models), "the headers")
    shipped = ["atoll_workspace.h"] if any(pool.heap for pool in soc.pools) else []
    made = header_files(as_seen_by(soc, soc.host), models, {})
    return {
        **{name: text for name, text in made.items() if name.endswith(".h")},
        STATUS: protocol_headers()[STATUS],
        **{name: (FOLDER / "runtime" / name).read_text() for name in shipped},
    }


def write_bsp(
    soc: ResolvedSoc,
    models: Sequence[ModelInterface],
    folder: Path,
    origins: Mapping[str, int] | None = None,
) -> Mapping[str, tuple[str, ...]]:
    """Write the BSP into `folder`; return the names of the sources to compile for each core."""
    files = bsp_files(soc, *models, origins=origins)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_text(folder / name, text)
    return {core.name: sources_for(soc, core, files) for core in image_cores(soc)}


def check_bsp(soc: ResolvedSoc) -> None:
    """Find out whether `soc` can have a BSP at all.

    Raises:
        ToolchainError: as `bsp_files`.
    """
    refuse_clashes(_file_names(soc, ()), "the BSP")
    core_files(soc)
    check_drivers(soc)
    device_header(soc)


def _file_names(soc: ResolvedSoc, models: Sequence[ModelInterface]) -> Iterator[tuple[str, str]]:
    """Yield the headers that a compiler may meet; ``atoll...`` is the runtime's own."""
    for name in (*_STANDARD_HEADERS, *(path.name for path in (FOLDER / "runtime").iterdir())):
        yield name, f"header '{name}' of C or of the runtime"
    for driver in drivers(soc):
        yield f"{driver}.h", f"driver '{driver}'"
    for model in models:
        name = c_name(model.name)
        if name.lower() == "atoll" or name.lower().startswith("atoll_"):
            yield f"{name}.h", f"header '{name}.h' of C or of the runtime"
        yield f"{name}.h", f"model '{model.name}'"
