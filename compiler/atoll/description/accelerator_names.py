# SPDX-License-Identifier: Apache-2.0
"""Hold the names in an accelerator's description against what Atoll knows."""

from itertools import count

from atoll.description.accelerator import Accelerator
from atoll.description.faults import Faults, nearest_key
from atoll.description.operators import DRIVERS, FEATURES, OPERATOR_GROUP
from atoll.description.pattern_checks import known_words
from atoll.description.tree import SourceMap
from atoll.plugins.registry import registered


def check_operators(accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    """Note operators, and features or values, that there are not; others' are not known."""
    for kind, operator in accelerator.operators.items():
        if kind in FEATURES or operator.pattern:
            _check_features(kind, accelerator, where, faults)
        elif kind.lower() not in registered(OPERATOR_GROUP):
            faults.add(
                "E116",
                f"Atoll has no operator '{kind}'",
                at=where.key_at("operators", kind),
                remedy=nearest_key(f"operators.{kind}", FEATURES),
            )


def _check_features(kind: str, accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    operator = accelerator.operators[kind]
    if (words := known_words(kind, operator)) is None:
        return
    for feature in operator.limits:
        if feature not in (*words.features, *operator.values):
            faults.add(
                "E117",
                f"{kind} has no feature '{feature}'",
                at=where.key_at("operators", kind, "limits", feature),
                remedy=nearest_key(f"operators.{kind}.limits.{feature}", words.features),
            )


def check_driver(accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    """Note a driver that there is not, and registers that a driver lacks."""
    if accelerator.program or "/" in accelerator.driver:
        return
    driver, registers = accelerator.driver, accelerator.registers.map
    if driver not in DRIVERS:
        faults.add(
            "E071",
            f"there is no C driver '{driver}'",
            at=where.at("driver"),
            remedy=f"write '{next(iter(DRIVERS))}'",
        )
        return
    missing = [name for name in DRIVERS[driver] if name not in registers]
    free = (offset for offset in count(0, 4) if offset not in registers.values())
    additions = [
        f"add '{name}: {offset:#04x}' to 'registers.map'"
        for name, offset in zip(missing, free, strict=False)
    ]
    if missing:
        faults.add(
            "E115",
            f"the driver '{driver}' uses registers that 'map' does not have: {', '.join(missing)}",
            at=where.key_at("registers", "map"),
            remedy=f"{', then '.join(additions)}; the offsets are those of your hardware",
        )
