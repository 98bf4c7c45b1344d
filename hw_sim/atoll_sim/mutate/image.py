# SPDX-License-Identifier: Apache-2.0
"""From a planted fault to the bytes that are loaded."""

from dataclasses import replace
from pathlib import Path

from atoll.artifacts.build_tree import interface_of, part_of
from atoll.bsp.firmware import link_unchecked
from atoll_sim.mutate.mutant import Mutant
from atoll_sim.simulate.firmware import Segment, load_images


def segments_of(mutant: Mutant, folder: Path, toolchain: str | None = None) -> tuple[Segment, ...]:
    """Compile and link the faulty program in `folder`; return all that its image loads.

    The application is that of the right program: it passes its buffers at their right places.

    Raises:
        AtollError: the compiler or the linker notices the fault.
    """
    if mutant.image is not None:
        return mutant.image
    part = replace(part_of(mutant.built), interface=interface_of(mutant.judged))
    edits = (mutant.edit, mutant.edit_source)
    elves = link_unchecked(mutant.built.soc, (part,), folder, toolchain, *edits)
    return load_images(elves, mutant.built.soc)
