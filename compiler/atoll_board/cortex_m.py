# SPDX-License-Identifier: Apache-2.0
"""What the formats for Cortex-M say of a core beside its name."""

from atoll.isa.instruction_set import Family
from atoll.resolve.soc import Cpu

_BASELINE = ("armv6-m", "armv8-m.base")
_PRIORITY_BITS = {True: 2, False: 3}
"""By whether it is a baseline core: the architecture's least, since drivers use no priorities."""


def is_cortex_m(core: Cpu) -> bool:
    """Return whether a core has the M profile."""
    return core.instructions.family is Family.THUMB


def architecture(core: Cpu) -> str:
    """Return the architecture of a Cortex-M, such as ``armv8-m.main``, without extensions."""
    return core.isa.partition("+")[0]


def has_floats(core: Cpu) -> bool:
    """Return whether a Cortex-M has instructions for floating-point numbers."""
    return any("fp" in extension for extension in core.isa.split("+")[1:])


def priority_bits(core: Cpu) -> int:
    """Return how many bits an interrupt's priority has at least."""
    return _PRIORITY_BITS[architecture(core) in _BASELINE]
