"""What the linked image of each core can use of its stack."""

from collections.abc import Mapping
from pathlib import Path

from atoll.bsp.cores import elf_names, entry_function, image_cores
from atoll.resolve.soc import ResolvedSoc
from atoll.stack.bound import StackBound
from atoll.stack.elf_check import check_stack


def stacks_of(soc: ResolvedSoc, folder: Path, model: str) -> Mapping[str, StackBound]:
    """Return the stack bound of each core's image in the build folder of a model.

    Raises:
        PlanError: as `check_stack`.
    """
    return {
        core.name: check_stack(core, folder / elf, entry_function(soc, core, model))
        for core, elf in zip(image_cores(soc), elf_names(soc), strict=True)
    }
