"""From reset to ``main``: the generated start-up code of each image and its core's own part."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.bsp.cores import CORE_ENTRY, image_cores, own_sources
from atoll.bsp.interface import ModelInterface
from atoll.bsp.linker import copied_pools
from atoll.bsp.render import FOLDER, made_from, render
from atoll.errors import ToolchainError
from atoll.resolve.soc import Cpu, Pool, ResolvedSoc


def startup_files(
    soc: ResolvedSoc, models: Sequence[ModelInterface], origins: Mapping[str, int]
) -> Mapping[str, str]:
    """Return ``startup.S``, that of each other core, and the shipped part of each core.

    Raises:
        ToolchainError: E071, a core that the BSP does not have.
    """
    host = soc.host_cpu
    return {
        "startup.S": _startup(soc, host, "main", copied_pools(soc), host.run_thread),
        **{own_sources(core)[0]: _startup(soc, core, CORE_ENTRY) for core in soc.remote_cpus},
        **dict(shipped_cores(soc)),
    }


def shipped_cores(soc: ResolvedSoc) -> Iterator[tuple[str, str]]:
    """Yield the file of reset, interrupts and waiting of each core, which differ from core to core.

    Raises:
        ToolchainError: E071, there is none.
    """
    known = sorted(path.name for path in (FOLDER / "startup").iterdir())
    for core in image_cores(soc):
        if f"{core.rtl}.S" not in known:
            raise ToolchainError(
                "E071",
                f"no start-up code for core '{core.rtl}' of '{core.name}'",
                at=core.at,
                remedy=f"set devices.{core.name}.rtl to one of "
                + ", ".join(other.removesuffix(".S") for other in known),
            )
        yield f"{core.rtl}.S", (FOLDER / "startup" / f"{core.rtl}.S").read_text()


def _startup(
    soc: ResolvedSoc,
    core: Cpu,
    entry: str,
    copied: Sequence[Pool] = (),
    run_thread: str | None = None,
) -> str:
    """Write stack, initialised and zeroed data, then `entry`."""
    return render(
        "startup.S",
        made_from=made_from(soc),
        copied=copied,
        entry=entry,
        threads=tuple(stack.name.split(".")[1] for stack in core.threads),
        run_thread=run_thread,
    )
