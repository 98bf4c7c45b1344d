# SPDX-License-Identifier: Apache-2.0
"""What the formats for Cortex-M say of a core beside its name."""

import re

from atoll.isa.instruction_set import Family
from atoll.resolve.soc import Cpu

_BASELINE = ("armv6-m", "armv8-m.base")
_USUAL = {
    "armv6-m": "m0plus",
    "armv7-m": "m3",
    "armv7e-m": "m4",
    "armv8-m.base": "m23",
    "armv8-m.main": "m33",
    "armv8.1-m.main": "m55",
}
_OF_ARM = re.compile(r"cortex_(m[0-9]+(?:plus)?)")
_PRIORITY_BITS = {True: 2, False: 3}
"""By whether it is a baseline core: the architecture's least, since drivers use no priorities."""


def is_cortex_m(core: Cpu) -> bool:
    """Return whether a core has the M profile."""
    return core.instructions.family is Family.THUMB


def architecture(core: Cpu) -> str:
    """Return the architecture of a Cortex-M, such as ``armv8-m.main``, without extensions."""
    return core.isa.partition("+")[0]


def is_baseline(core: Cpu) -> bool:
    """Return whether a Cortex-M lacks the main extension of its architecture."""
    return architecture(core) in _BASELINE


def model(core: Cpu) -> str:
    """Return Arm's name of a Cortex-M behind the dash, such as ``m0plus``.

    A core that is called otherwise is like the first one with its architecture.
    """
    found = _OF_ARM.fullmatch(core.spec.name)
    return found[1] if found else _USUAL[architecture(core)]


def has_floats(core: Cpu) -> bool:
    """Return whether a Cortex-M has instructions for floating-point numbers."""
    return any("fp" in extension for extension in core.isa.split("+")[1:])


def priority_bits(core: Cpu) -> int:
    """Return how many bits an interrupt's priority has at least."""
    return _PRIORITY_BITS[is_baseline(core)]
