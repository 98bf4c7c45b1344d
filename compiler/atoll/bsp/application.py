"""The application around the models: the host's ``main.c``, and the loop of each other core."""

from collections.abc import Mapping, Sequence
from typing import Any

from atoll.bsp.cores import own_sources, works_of
from atoll.bsp.headers import model_values, own_mailbox
from atoll.bsp.interface import GivenPool, ModelInterface
from atoll.bsp.linker import POOL_SECTION
from atoll.bsp.render import made_from, render
from atoll.resolve.mailbox import MODEL_SHIFT
from atoll.resolve.soc import Cpu, ResolvedSoc


def application_files(
    soc: ResolvedSoc, models: Sequence[ModelInterface], origins: Mapping[str, int]
) -> Mapping[str, str]:
    """Return ``main.c`` and, for each other core, ``main_<core>.c``."""
    cores = {own_sources(core)[1]: core_main(soc, core, models) for core in soc.remote_cpus}
    return {**({"main.c": _main(soc, models)} if models else {}), **cores}


def _main(soc: ResolvedSoc, models: Sequence[ModelInterface]) -> str:
    """Write the loop of docs/platform.md over the planned buffers, models in turn."""
    return render(
        "main.c",
        made_from=made_from(soc, *models),
        **run_values(soc, models),
    )


def run_values(soc: ResolvedSoc, models: Sequence[ModelInterface]) -> dict[str, Any]:
    """Return what the template of the functions that run models takes."""
    given: dict[str, GivenPool] = {}
    for pool in (pool for model in models for pool in model.pools):
        largest = max(pool, given.get(pool.pool, pool), key=lambda each: each.size)
        given[pool.pool] = largest
    return {
        "models": tuple(
            {**model_values(model), "work": work}
            for model, work in zip(models, works_of(soc, soc.host_cpu, models), strict=True)
        ),
        "pools": tuple(given.values()),
        "section": POOL_SECTION,
    }


def core_main(
    soc: ResolvedSoc, core: Cpu, models: Sequence[ModelInterface], *, selftest: bool = False
) -> str:
    """Write the loop that takes the host's commands from the mailbox.

    Args:
        soc: the chip.
        core: whose loop it is.
        models: the networks that the core runs steps of.
        selftest: it also does what `atoll_selftest.h` lists.
    """
    return render(
        "core_main.c",
        made_from=made_from(soc, *models),
        cpu=core,
        mailbox=own_mailbox(core),
        models=models,
        works=works_of(soc, core, models),
        shift=MODEL_SHIFT,
        selftest=selftest,
    )
