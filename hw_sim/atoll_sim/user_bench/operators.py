# SPDX-License-Identifier: Apache-2.0
"""The operators of networks as a bench has them."""

from collections.abc import Mapping
from typing import Any

from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterStep:
    """One access of the host to a register, or window, of an accelerator.

    Attributes:
        do: ``write``; ``read``; ``wait``: read until the bits under `mask` are `equals`; ``push``:
            write the words of memory one by one; ``pop``: read them; ``interrupt``: wait until the
            device's line is high.
        register: its name in the accelerator's description.
        address: on the bus.
        value: what is written.
        memory: bus address of the bytes that are pushed or popped, `size` of them.
    """

    do: str
    register: str
    address: int
    value: int = 0
    mask: int = 0
    equals: int = 0
    memory: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator of a placed network.

    Attributes:
        network: its name.
        number: in the events of the firmware.
        name: in reports.
        kind: such as ``conv_2d``.
        device: that runs it.
        inputs: names of the tensors that it reads, constants among them.
        outputs: names of the tensors that it writes.
        registers: what has its accelerator run it alone; empty if a core does.
    """

    network: str
    number: int
    name: str
    kind: str
    device: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    registers: tuple[RegisterStep, ...]

    @classmethod
    def of_json(cls, plain: Mapping[str, Any]) -> "Operator":
        """Return the operator that was written as JSON."""
        return cls(
            **{
                **plain,
                "inputs": tuple(plain["inputs"]),
                "outputs": tuple(plain["outputs"]),
                "registers": tuple(RegisterStep(**each) for each in plain["registers"]),
            }
        )
