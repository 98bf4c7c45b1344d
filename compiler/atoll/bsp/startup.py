# SPDX-License-Identifier: Apache-2.0
"""From reset to ``main``: the generated start-up code of each image and its core's own part."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from atoll.bsp.core_images import CORE_ENTRY, Work, cache_source, image_cores, own_sources, works_of
from atoll.bsp.headers import order_by
from atoll.bsp.interface import ModelInterface
from atoll.bsp.linker import copied_pools
from atoll.bsp.protection_table import protection_setup
from atoll.bsp.render import FOLDER, opening_sentence, render
from atoll.description.fields import ADDRESS_SPACE
from atoll.diagnostics.errors import ToolchainError
from atoll.isa.instruction_set import Family
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.register_steps import is_by_line
from atoll.resolve.soc import Cpu, Pool, ResolvedSoc

_TEMPLATES = {Family.THUMB: "startup_thumb.S", Family.AARCH64: "startup_a64.S"}
"""From reset on, by family of cores."""

_BLOCK = 2 * 2**20


def startup_files(
    soc: ResolvedSoc, models: Sequence[ModelInterface], origins: Mapping[str, int]
) -> Mapping[str, str]:
    """Return ``startup.S``, that of each other core, and the shipped part of each core.

    Raises:
        ToolchainError: as `core_files`; E071, a core has no start-up code at all.
    """
    for core in image_cores(soc):
        if not core.spec.startup:
            raise ToolchainError(
                "E071",
                f"core '{core.spec.name}' of '{core.name}' has no start-up code",
                at=core.at,
                remedy="build objects for a firmware of your own (atoll build --objects), or give"
                " the core's YAML 'startup'",
            )
    host = soc.host_cpu
    return {
        "startup.S": _startup(soc, host, "main", works_of(soc, host, models), copied_pools(soc)),
        **{
            own_sources(core)[0]: _startup(soc, core, CORE_ENTRY, works_of(soc, core, models))
            for core in soc.remote_cpus
        },
        **core_files(soc),
        **{
            cache_source(core): _cache(soc, core)
            for core in image_cores(soc)
            if soc.maintains_cache(core)
        },
    }


def _cache(soc: ResolvedSoc, core: Cpu) -> str:
    """Write how a core maintains its data cache."""
    found = core.cache and core.cache.maintenance
    told = {"clean": found.clean, "invalidate": found.invalidate} if found else {}
    return render(
        "atoll_cache.c",
        made_from=opening_sentence(soc),
        core=core,
        ranges=[name for name, steps in told.items() if not is_by_line(steps)],
        order=order_by(core),
    )


def core_files(soc: ResolvedSoc) -> Mapping[str, str]:
    """Return the file of reset, interrupts and waiting of each kind of core, by its name.

    Raises:
        ToolchainError: E071, a file is missing; E075, two kinds have one name.
    """
    files: dict[str, str] = {}
    for core in image_cores(soc):
        if not core.spec.startup:
            continue
        text = _own_part(core)
        if files.setdefault(f"{core.spec.name}.S", text) != text:
            raise ToolchainError(
                "E075",
                f"'{core.name}' and another core are of two kinds called '{core.spec.name}'",
                at=core.at,
                remedy="give one of them another name in its YAML",
            )
    return files


def _own_part(core: Cpu) -> str:
    folder, name = FOLDER / "startup", core.spec.startup
    try:
        return (folder / name).read_text(encoding="utf-8")
    except (OSError, ValueError) as fault:
        shipped = ", ".join(sorted(path.name for path in folder.iterdir()))
        raise ToolchainError(
            "E071",
            f"no start-up code '{name}' for core '{core.spec.name}' of '{core.name}'",
            at=core.spec.places.get("startup") or core.at,
            remedy=f"let 'startup' of the core be a path with a '/', or one of {shipped}",
        ) from fault


def _blocks(soc: ResolvedSoc, core: Cpu) -> tuple[tuple[int, str], ...]:
    """Return how many blocks of 2 MiB in a row are of one kind, for a memory management unit."""
    normal = {
        block
        for memory in as_seen_by(soc, core.name).memories
        for block in range(memory.low.start // _BLOCK, -(-memory.low.stop // _BLOCK))
    }
    kinds = ("NORMAL" if block in normal else "DEVICE" for block in range(ADDRESS_SPACE // _BLOCK))
    return tuple((len(tuple(row)), kind) for kind, row in groupby(kinds))


def _startup(
    soc: ResolvedSoc,
    core: Cpu,
    entry: str,
    works: Sequence[Work],
    copied: Sequence[Pool] = (),
) -> str:
    """Write stack, initialised and zeroed data, then `entry`; and how `works` get their stacks."""
    return render(
        _TEMPLATES.get(core.instructions.family, "startup.S"),
        made_from=opening_sentence(soc),
        copied=copied,
        entry=entry,
        bits=core.instructions.bits,
        core=core,
        blocks=_blocks(soc, core),
        threads=tuple(stack.name.split(".")[1] for stack in core.threads),
        works=tuple(work for work in works if work.thread),
        turns_cache_on=core.maintained_by == "scb",
        **protection_setup(soc, core),
    )
