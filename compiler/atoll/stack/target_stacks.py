# SPDX-License-Identifier: Apache-2.0
"""What the kernels of each target of a core take of the stack, from the linked image."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from atoll.stack.elf_bounds import bounds


def target_stacks(
    elf: Path, networks: Sequence[Mapping[str, Sequence[str]]]
) -> Mapping[str, int | None]:
    """Return the most bytes that a kernel of each target takes, with all that it calls.

    Args:
        elf: the image.
        networks: of each network in it, the kernels by target.

    Returns:
        By target; None where a kernel has the name of another network's, which a symbol table does
        not tell apart.
    """
    every = [name for each in networks for names in each.values() for name in names]
    found: dict[str, int | None] = {}
    if not every:
        return found
    bound = bounds(elf, tuple(dict.fromkeys(every)))
    for target in sorted({target for each in networks for target in each}):
        names = [name for each in networks for name in each.get(target, ())]
        alone = all(every.count(name) == 1 for name in names)
        found[target] = max(bound[name].bytes for name in names) if alone else None
    return found
