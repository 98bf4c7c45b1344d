# SPDX-License-Identifier: Apache-2.0
"""Estimates of compiled networks, with what a reader should know of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from atoll.cost.estimate import NetworkEstimate
from atoll.cost.estimate import estimates_of as costs_of
from atoll.driver.compiled import Compiled, cost_of
from atoll.ops.registry import kind_of
from atoll.report.explanation import cautions, notes


def estimates_of(models: Sequence[Compiled]) -> tuple[NetworkEstimate, ...]:
    """Return what each of the networks takes that share a firmware, if it runs as the first."""
    found = costs_of(tuple(map(cost_of, models)))
    return tuple(
        replace(
            each,
            notes=tuple(dict.fromkeys((*each.notes, *_notes(model)))),
            model_sha256=model.source.sha256,
        )
        for each, model in zip(found, models, strict=True)
    )


def _notes(model: Compiled) -> Iterator[str]:
    yield from notes(model)
    yield from cautions(model)
    for op in model.graph.operators:
        if what := kind_of(op).unproven:
            yield f"{op.device}: {what}"
