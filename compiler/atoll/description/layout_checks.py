# SPDX-License-Identifier: Apache-2.0
"""Hold the layouts of an accelerator's operands against the operators that have them."""

from collections.abc import Callable

from atoll.description.accelerator import Accelerator, OperandLayout
from atoll.description.faults import Faults, nearest
from atoll.description.operators import FEATURES
from atoll.description.pattern_checks import known_words
from atoll.description.tree import SourceMap

RESULT = "output"
CONSTANTS = ("filter", "bias")

Formula = Callable[[str, frozenset[str], tuple[str, ...]], None]


def check_layouts(
    accelerator: Accelerator, where: SourceMap, faults: Faults, formula: Formula
) -> None:
    """Note layouts of what is no operand, and those that cannot be; `formula` judges formulas."""
    for kind, operator in accelerator.operators.items():
        words = known_words(kind, operator)
        if words is None:
            continue
        known = frozenset({*accelerator.parameters, *words.features, *words.quantities})
        whose = words.operands
        names = [name for name in whose if whose[name][1] not in CONSTANTS]
        for name, layout in operator.layouts.items():
            at = ("operators", kind, "layouts", name)
            dotted = ".".join(at)
            if name in whose and whose[name][1] in CONSTANTS:
                what = f"'{name}' of {kind} is a constant: a function under 'constants' packs it"
                faults.add("E155", what, at=where.key_at(*at), remedy=f"remove '{dotted}'")
            elif name not in names:
                what = f"{kind} has no operand '{name}'"
                faults.add("E155", what, at=where.key_at(*at), remedy=nearest(name, names))
            windows = name in whose and name != RESULT and _has_windows(whose[name][0])
            for objection, remedy in _objections(kind, name, layout, dotted, windows=windows):
                faults.add("E155", objection, at=where.key_at(*at), remedy=remedy)
            for key in ("block", "row"):
                if (text := getattr(layout, key)) is not None:
                    formula(text, known, (*at, key))


def _has_windows(kind: str) -> bool:
    return "kernel_h" in FEATURES[kind]


def _objections(
    kind: str, name: str, layout: OperandLayout, dotted: str, *, windows: bool
) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    blocked = layout.order.endswith("c")
    if blocked and layout.block is None:
        what = f"the order {layout.order} has a channel block, but 'block' does not give its size"
        found.append((what, "add 'block: 8', for example"))
    if not blocked and layout.block is not None:
        what = f"the order {layout.order} has no channel block (a 'c' at its end)"
        found.append((what, f"remove '{dotted}.block', or write 'order: {layout.order}c'"))
    if layout.patches and not windows:
        what = f"'{name}' of {kind} has no windows, so 'patches' does not apply"
        found.append((what, f"remove '{dotted}.patches'"))
    return found
