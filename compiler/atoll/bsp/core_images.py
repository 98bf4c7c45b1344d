# SPDX-License-Identifier: Apache-2.0
"""Which files each core's image is built from: the host's, and those of cores it has work for."""

from collections.abc import Iterable

from atoll.bsp.c_names import c_name
from atoll.bsp.interface import ELF_NAME, ModelInterface
from atoll.diagnostics.errors import ToolchainError
from atoll.records import dataclass
from atoll.resolve.mailbox import step_function
from atoll.resolve.soc import Cpu, Region, ResolvedSoc

CORE_ENTRY = "atoll_core_main"
_MEMORY = "memory.c"


def image_cores(soc: ResolvedSoc) -> tuple[Cpu, ...]:
    """Return the cores that get an image: the host first, then each core with a mailbox.

    A core gets one even if no operator runs on it: out of reset it has to wait for its host.
    """
    return (soc.host_cpu, *soc.remote_cpus)


def elf_names(soc: ResolvedSoc) -> tuple[str, ...]:
    """Return the name of each core's image in a build folder, in the order of `image_cores`.

    Raises:
        ToolchainError: E075, a core's image would be named as the host's.
    """
    names = tuple(f"{core.name}.elf" for core in soc.remote_cpus)
    if ELF_NAME in names:
        core = soc.device(ELF_NAME.removesuffix(".elf"))
        raise ToolchainError(
            "E075",
            f"the image of core '{core.name}' would be called {ELF_NAME}, as the host's is",
            at=core.at,
            remedy="rename the core",
        )
    return (ELF_NAME, *names)


def script_name(soc: ResolvedSoc, core: Cpu) -> str:
    """Name the linker script of a core."""
    return f"{soc.name}.ld" if core.name == soc.host else f"{soc.name}_{core.name}.ld"


def entry_function(soc: ResolvedSoc, core: Cpu, model: str) -> str:
    """Name the function of a core's image below which all work for a model is done."""
    if core.name == soc.host:
        return f"{c_name(model)}_run"
    return step_function(c_name(model), core.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a core does for a model.

    Attributes:
        entry: the function of its image below which all of it is done.
        thread: on whose stack, "" for the main one.
        stack: that stack.
    """

    entry: str
    thread: str
    stack: Region

    @property
    def call(self) -> str:
        """The function that does it on its stack, whichever that of the caller is."""
        return f"{self.entry}_on_{self.thread}" if self.thread else self.entry


def works_of(soc: ResolvedSoc, core: Cpu, models: Iterable[ModelInterface]) -> tuple[Work, ...]:
    """Return what a core does for each of some models."""
    threads = [(model.name, model.thread_on(core.name)) for model in models]
    return tuple(
        Work(
            entry=entry_function(soc, core, name),
            thread=thread,
            stack=core.stack_of(thread),
        )
        for name, thread in threads
    )


def sources_for(soc: ResolvedSoc, core: Cpu, files: Iterable[str]) -> tuple[str, ...]:
    """Return those of the BSP's `files` that are compiled for a core, in the order given."""
    adapters = {f"{each.spec.name}.S" for each in image_cores(soc)} - {f"{core.spec.name}.S"}
    others = {name for each in soc.remote_cpus for name in own_sources(each)} | adapters
    others |= {cache_source(each) for each in soc.remote_cpus}
    if core.name == soc.host:
        return tuple(f for f in files if f.endswith((".c", ".S")) and f not in others)
    own = (*own_sources(core), f"{core.spec.name}.S", _MEMORY, cache_source(core))
    return tuple(name for name in files if name in own)


def cache_source(core: Cpu) -> str:
    """Name the source that maintains the data cache of a core, if it has one."""
    return f"cache_{core.name}.c"


def own_sources(core: Cpu) -> tuple[str, str]:
    """Name the generated sources that only the image of a core that is not the host has."""
    return f"startup_{core.name}.S", f"main_{core.name}.c"
