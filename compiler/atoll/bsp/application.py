# SPDX-License-Identifier: Apache-2.0
"""The application around the models: the host's ``main.c``, and the loop of each other core."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from atoll.bsp.c_names import c_name
from atoll.bsp.core_images import own_sources, works_of
from atoll.bsp.headers import caches_mailbox, model_values, order_by, own_mailbox, woken_by
from atoll.bsp.interface import GivenPool, ModelInterface
from atoll.bsp.render import opening_sentence, render
from atoll.records import dataclass
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
        made_from=opening_sentence(soc, *models),
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
        "parameters": tuple(_parameters(models)),
    }


@dataclass(frozen=True, slots=True)
class _Member:
    """Constants of a model in an array of the application; `gap` bytes are before them."""

    name: str
    gap: int
    size: int
    data: str


@dataclass(frozen=True, slots=True)
class _Parameters:
    """What the application defines of all models' constants in a pool."""

    pool: str
    section: str
    alignment: int
    members: tuple[_Member, ...]


def _parameters(models: Sequence[ModelInterface]) -> Iterator[_Parameters]:
    """Yield the constants of each pool, those of each model where the plan has them."""
    named = [(c_name(model.name), each) for model in models for each in model.constants]
    for pool in dict.fromkeys(each.pool for _, each in named):
        inside = [(name, each) for name, each in named if each.pool == pool]
        members, end = [], 0
        for name, each in inside:
            data = f"{name.upper()}_{pool.upper()}_CONSTANTS"
            members.append(_Member(name, each.offset - end, each.size, data))
            end = each.offset + each.size
        alignment = max(each.alignment for _, each in inside)
        yield _Parameters(pool, inside[0][1].section, alignment, tuple(members))


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
    heard = core.signals.core if core.signals else None
    return render(
        "core_main.c",
        made_from=opening_sentence(soc, *models),
        cpu=core,
        mailbox=own_mailbox(soc, core),
        cached=caches_mailbox(soc, core, core),
        line=woken_by(core.signals, heard),
        order=order_by(core),
        models=models,
        works=works_of(soc, core, models),
        shift=MODEL_SHIFT,
        selftest=selftest,
    )
