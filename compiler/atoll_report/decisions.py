# SPDX-License-Identifier: Apache-2.0
"""Decisions: who runs what, at which cost, what lost, and what else was tried."""

from collections.abc import Mapping

from atoll_report.node import Node


def content(documents: Node) -> Mapping[str, object] | None:
    """Return what fills the page."""
    if not (documents["explanation"] or documents["candidates"]):
        return None
    told = {each["model"].raw: each for each in documents["explanation"]}
    tried = {each["model"].raw: each for each in documents["candidates"]}
    estimates = {each["model"].raw: each for each in documents["estimate"]}
    return {
        "networks": [
            {
                "name": name,
                "told": told.get(name),
                "tried": tried.get(name),
                "estimated": _layer_estimates(estimates.get(name)),
            }
            for name in dict.fromkeys((*told, *tried))
        ],
    }


def _layer_estimates(estimate: Node | None) -> Mapping[str, Node]:
    layers = estimate["cycles"]["by_layer"] if estimate else ()
    return {each["operator"].raw: each for each in layers}
