"""The tree of a BSP: every file that the firmware of one chip and model is built from."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from atoll.bsp.cores import core_files, image_cores, script_name, sources_for
from atoll.bsp.headers import (
    MAILBOX_DRIVER,
    application,
    device_header,
    device_source,
    drivers,
    heap_source,
    model_header,
    pool_header,
)
from atoll.bsp.interface import ModelInterface
from atoll.bsp.linker import copied_pools, core_linker_script, linker_script
from atoll.bsp.names import c_name, refuse_clashes
from atoll.bsp.render import FOLDER, made_from, render
from atoll.errors import Fault, ToolchainError
from atoll.files import write_text
from atoll.resolve.soc import Cpu, ResolvedSoc

_STANDARD_HEADERS = ("stddef.h", "stdint.h")


def bsp_files(
    soc: ResolvedSoc, *models: ModelInterface, origins: Mapping[str, int] | None = None
) -> dict[str, str]:
    """Return the text of every file of the BSP of one or more models by its name, sorted.

    Raises:
        ToolchainError: E071, a core or driver that the BSP does not have; E075, a name clash.
    """
    refuse_clashes(_file_names(soc, models), "the BSP")
    files = {
        script_name(soc, soc.host_cpu): linker_script(soc, origins),
        **{script_name(soc, core): core_linker_script(soc, core) for core in soc.remote_cpus},
        "startup.S": startup(soc),
        "atoll_devices.h": device_header(soc),
        "atoll_devices.c": device_source(soc),
        "atoll_pools.h": pool_header(soc),
        **({"atoll_pools.c": heap_source(soc)} if any(pool.heap for pool in soc.pools) else {}),
        **{f"{c_name(model.name)}.h": model_header(soc, model) for model in models},
        "main.c": application(soc, models),
        **core_files(soc, models),
        **dict(_shipped(soc)),
    }
    return dict(sorted(files.items()))


def interface_headers(soc: ResolvedSoc, models: Sequence[ModelInterface]) -> dict[str, str]:
    """Return the text of every header that a firmware other than Atoll's includes, by name.

    Raises:
        ToolchainError: E075, a name clash.
    """
    refuse_clashes(_file_names(soc, models), "the headers")
    shipped = ["atoll_status.h"]
    shipped += ["atoll_workspace.h"] if any(pool.heap for pool in soc.pools) else []
    return {
        "atoll_devices.h": device_header(soc),
        "atoll_pools.h": pool_header(soc),
        **{f"{c_name(model.name)}.h": model_header(soc, model) for model in models},
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
    tuple(_shipped(soc))
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


def startup(soc: ResolvedSoc) -> str:
    """Write ``startup.S``: stack, initialised and zeroed data, then ``main``."""
    return render(
        "startup.S",
        made_from=made_from(soc),
        copied=copied_pools(soc),
        entry="main",
        threads=tuple(stack.name.split(".")[1] for stack in soc.host_cpu.threads),
        run_thread=soc.host_cpu.run_thread,
    )


def _shipped(soc: ResolvedSoc) -> Iterator[tuple[str, str]]:
    for core in map(_core_source, image_cores(soc)):
        yield core, (FOLDER / "startup" / core).read_text()
    for path in sorted((FOLDER / "runtime").iterdir()):
        yield path.name, path.read_text()
    _check_drivers(soc)
    for driver in drivers(soc):
        for name in (f"{driver}.c", f"{driver}.h"):
            yield name, (FOLDER / "drivers" / name).read_text()


def _core_source(cpu: Cpu) -> str:
    """Name the file of reset, interrupts and waiting, which differ from core to core."""
    name = f"{cpu.rtl}.S"
    known = sorted(path.name for path in (FOLDER / "startup").iterdir())
    if name in known:
        return name
    raise ToolchainError(
        "E071",
        f"no start-up code for core '{cpu.rtl}' of '{cpu.name}'",
        at=cpu.at,
        remedy=f"set devices.{cpu.name}.rtl to one of "
        + ", ".join(other.removesuffix(".S") for other in known),
    )


def _check_drivers(soc: ResolvedSoc) -> None:
    shipped = {path.stem for path in (FOLDER / "drivers").glob("*.c")}
    known = sorted(shipped - {MAILBOX_DRIVER})
    faults = tuple(
        Fault(
            code="E071",
            message=f"no C driver '{npu.spec.driver}' for '{npu.name}'",
            at=npu.spec.places.get("driver") or npu.at,
            remedy=f"let accelerator '{npu.spec.name}' name one of {', '.join(known)}",
        )
        for npu in soc.engines
        if npu.spec.driver not in known
    )
    if faults:
        raise ToolchainError.all(faults)
