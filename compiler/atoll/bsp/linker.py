# SPDX-License-Identifier: Apache-2.0
"""The linker script of a core, from the regions of the chip."""

from collections.abc import Mapping, Sequence

from atoll.bsp.core_images import script_name, works_of
from atoll.bsp.interface import ModelInterface
from atoll.bsp.render import opening_sentence, render
from atoll.codegen.pool_images import MODEL_ALIGNMENT
from atoll.isa.instruction_set import Family
from atoll.resolve.memory_views import as_seen_by, core_as_it_sees
from atoll.resolve.soc import Access, Cpu, Pool, ResolvedSoc
from atoll.stack.elf_threads import STACK_OF

POOL_SECTION = ".atoll.pool."
POOL_SYMBOL = "atoll_pool_"


def pool_section(pool: Pool) -> str:
    """Return the section of the application's that lies at the pool's origin."""
    return pool.section or f"{POOL_SECTION}{pool.name}"


def pool_sections(pool: Pool) -> str:
    """Return what a linker script gathers in a pool: what is at its origin, then what follows.

    Two statements, since sections of one are in the order of files, whichever pattern they match.
    """
    own = f"{POOL_SECTION}{pool.name}"
    if not pool.section:
        return f"KEEP(*({own}))"
    return f"KEEP(*({own} {pool.section})) KEEP(*({pool.section}.*))"


def linker_files(
    soc: ResolvedSoc, models: Sequence[ModelInterface], origins: Mapping[str, int]
) -> Mapping[str, str]:
    """Return the script of each core that has an image."""
    return {
        script_name(soc, soc.host_cpu): linker_script(soc, origins, models=models),
        **{
            script_name(soc, core): core_linker_script(soc, core, models)
            for core in soc.remote_cpus
        },
    }


def linker_script(
    soc: ResolvedSoc,
    origins: Mapping[str, int] | None = None,
    behind: Mapping[str, str] | None = None,
    models: Sequence[ModelInterface] = (),
) -> str:
    """Place code, data and stack of the host and every pool where `soc` says.

    A pool that may hold constants gets the section ``.atoll.pool.<pool>`` at its origin; each pool
    has the symbol ``atoll_pool_<pool>``, from the model's object file or else from the script.
    `origins` are addresses that symbols of model objects must have.
    `behind` names sections ``.atoll.pool.<pool>.<name>`` that come after it, by pool.
    What an application defines in that section of a pool that it provides lies at the origin too.
    """
    constants = tuple(pool for pool in soc.pools if pool.holds_constants)
    return render(
        "linker.ld",
        made_from=opening_sentence(soc),
        **_sections_of(soc.host_cpu),
        cpu=soc.host_cpu,
        host=True,
        held=any(core.is_held for core in soc.remote_cpus),
        pools=soc.pools,
        constants=constants,
        copied=copied_pools(soc),
        given=tuple(
            pool
            for pool in soc.pools
            if pool.provided == "application" and not pool.holds_constants
        ),
        unloadable={pool.name for pool in constants if unloadable(pool, soc)},
        origins=sorted((origins or {}).items()),
        behind=behind or {},
        works=works_of(soc, soc.host_cpu, models),
        stack_of=STACK_OF,
        step=lambda pool: max(pool.alignment, MODEL_ALIGNMENT),
        section=POOL_SECTION,
        sections=pool_sections,
        symbol=POOL_SYMBOL,
    )


def core_linker_script(soc: ResolvedSoc, core: Cpu, models: Sequence[ModelInterface] = ()) -> str:
    """Place code, data and stack of another core than the host where the core sees them.

    The pools are names of addresses: the host's image holds what is in them.
    """
    own = core_as_it_sees(soc, core)
    return render(
        "linker.ld",
        made_from=opening_sentence(soc),
        **_sections_of(core),
        cpu=own,
        host=False,
        held=False,
        pools=as_seen_by(soc, core.name).pools,
        constants=(),
        copied=(),
        given=(),
        unloadable=frozenset(),
        origins=(),
        behind={},
        works=works_of(soc, own, models),
        stack_of=STACK_OF,
        step=None,
        section=POOL_SECTION,
        sections=pool_sections,
        symbol=POOL_SYMBOL,
    )


def _sections_of(core: Cpu) -> Mapping[str, object]:
    """Return where a core begins, and what its family calls sections that are in no region."""
    return {"boot": "load" if core.load else "code", **_family_sections(core)}


def _family_sections(core: Cpu) -> Mapping[str, object]:
    if core.instructions.family is Family.THUMB:
        return {
            "thumb": True,
            "attributes": ".ARM.attributes",
            "unwinding": ".ARM.ex* ",
            "stubs": " .glue_7 .glue_7t .vfp11_veneer .v4_bx .iplt .igot.plt",
            "tables": "",
        }
    others = {"thumb": False, "attributes": ".riscv.attributes", "unwinding": ""}
    if core.instructions.family is Family.AARCH64:
        return {**others, "stubs": " .iplt", "tables": " .got .got.plt .igot.plt"}
    return {**others, "stubs": "", "tables": ""}


def copied_pools(soc: ResolvedSoc) -> tuple[Pool, ...]:
    """Return the pools whose constants the host copies from its code region at start."""
    return tuple(
        pool
        for pool in soc.pools
        if pool.holds_constants and _in_ram(pool, soc) and not unloadable(pool, soc)
    )


def _in_ram(pool: Pool, soc: ResolvedSoc) -> bool:
    return soc.memory(pool.region.memory).kind == "ram"


def unloadable(pool: Pool, soc: ResolvedSoc) -> bool:
    """Say whether constants cannot come to a pool: it is RAM that the host may not write."""
    return _in_ram(pool, soc) and pool.reach[soc.host] is not Access.WRITE
