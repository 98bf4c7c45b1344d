# SPDX-License-Identifier: Apache-2.0
"""What the linked image of each core can use of its stack."""

from collections.abc import Mapping
from pathlib import Path

from atoll.bsp.core_images import elf_names, entry_function, image_cores
from atoll.resolve.memory_views import core_as_it_sees
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll.stack.bound import StackBound
from atoll.stack.elf_check import check_stack


def stacks_of(folder: Path, models: Mapping[str, ResolvedSoc]) -> Mapping[str, StackBound]:
    """Return the stack bound of each core's image in a build folder.

    Args:
        folder: the build folder.
        models: the chip by name of each model, with the threads that the model runs on.

    Raises:
        PlanError: as `check_stack`.
    """
    soc = next(iter(models.values()))
    return {
        core.name: check_stack(core, folder / elf, _works(core, models), core_as_it_sees(soc, core))
        for core, elf in zip(image_cores(soc), elf_names(soc), strict=True)
    }


def _works(core: Cpu, models: Mapping[str, ResolvedSoc]) -> Mapping[str, str]:
    """Return the thread for each function of a core's image that does a model's work."""
    works = {}
    for model, soc in models.items():
        own = soc.device(core.name)
        assert isinstance(own, Cpu)
        works[entry_function(soc, core, model)] = own.run_thread
    return works
