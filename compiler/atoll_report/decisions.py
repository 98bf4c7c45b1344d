# SPDX-License-Identifier: Apache-2.0
"""Decisions: who runs what, at which cost, what lost, and what else was tried."""

import re
from collections.abc import Mapping

from atoll_report.node import Node

_NUMBER = re.compile(r"(?<![\w.])[0-9]{4,}(?![\w.])")


def content(documents: Node) -> Mapping[str, object] | None:
    """Return what fills the page."""
    if not (documents["explanation"] or documents["candidates"]):
        return None
    told = {each["model"].raw: each for each in documents["explanation"]}
    tried = {each["model"].raw: each for each in documents["candidates"]}
    estimates = {each["model"].raw: each for each in documents["estimate"]}
    return {
        "grouped": grouped,
        "networks": [
            {
                "name": name,
                "told": told.get(name),
                "tried": tried.get(name),
                "estimated": _estimated(estimates.get(name)),
            }
            for name in dict.fromkeys((*told, *tried))
        ],
    }


def _estimated(estimate: Node | None) -> Mapping[str, Node]:
    layers = estimate["cycles"]["by_layer"] if estimate else ()
    return {each["operator"].raw: each["cycles"] for each in layers}


def grouped(words: Node) -> str:
    """Return words in which long numbers have separators, as those of the rest of the page."""
    return _NUMBER.sub(lambda found: f"{int(found[0]):,}", str(words))
