# SPDX-License-Identifier: Apache-2.0
"""What an accelerator is asked to run for one operator."""

from collections.abc import Mapping
from dataclasses import field

from atoll.ir.graph import Tensor
from atoll.ir.safe_overlap import SafeOverlap
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One operator as an accelerator runs it: a list of commands over buffers.

    Attributes:
        operator: name of the operator.
        device: name of the accelerator instance.
        reads: names of the activations that it reads.
        writes: names of the activations that it writes.
        constants: tensors made for it, ``<operator>_weights`` and the like; they replace the
            operator's own constants, which the accelerator does not read.
        commands: name of the buffer that holds its commands, ``<operator>_commands``; it is
            planned as a constant and its bytes are known after memory planning.
        commands_size: bytes.
        commands_count: what the accelerator is told to execute.
        alignment: bytes that `constants` start at multiples of.
        commands_alignment: bytes that `commands` starts at a multiple of.
        overlaps: which of `writes` may lie over which of `reads`, and how.
        link_size: bytes that the compiler keeps behind `commands` for one that goes on with another
            list (`atoll.lower.accelerator.Linking`); emitters leave it alone.
        copied: for constants that are copied ahead, which are not among `constants`, the buffers
            among `reads` that hold them.
    """

    operator: str
    device: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    constants: tuple[Tensor, ...]
    commands: str
    commands_size: int
    commands_count: int = 1
    alignment: int = 16
    commands_alignment: int = 64
    overlaps: tuple[SafeOverlap, ...] = ()
    link_size: int = 0
    copied: Mapping[str, str] = field(default_factory=dict)
