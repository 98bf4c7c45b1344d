# SPDX-License-Identifier: Apache-2.0
"""The commands of an operator with a region for each tensor, as another reader has judged them."""

from itertools import chain

from atoll.ir.graph import Graph
from atoll.npu_stream.judge import (
    Place,
    Region,
    Role,
    differences,
    faults,
    find_unused,
    unread_inputs,
)
from atoll.npu_stream.reader import StreamError, operations
from atoll.vela.missed import find_missed, needs_all
from atoll.vela.optimised import SCRATCH_REGION, WEIGHTS_REGION, NpuCall
from atoll.vela.run_vela import WITHOUT, VelaRefusalError, vela_version
from atoll.vela.stream import with_own_regions

FIRST_REGION, MOST_REGIONS = 2, 8
"""The region of the first input, behind constants and scratch; base addresses of an NPU."""


def addresses_missing(call: NpuCall) -> VelaRefusalError | None:
    """Return the error of an operator with more edges than the NPU has base addresses for."""
    edges, most = len(call.inputs) + len(call.outputs), MOST_REGIONS - FIRST_REGION
    if edges <= most:
        return None
    return refuse_commands(
        f"they have {edges} inputs and outputs, and the NPU has addresses for {most}"
    )


def judge_stream(body: Graph, call: NpuCall) -> tuple[int, ...]:
    """Return the commands of `call` with a region for each tensor.

    Args:
        body: what they compute; its inputs and outputs are in the order of the call's.
        call: what Vela made, with addresses for all of them.

    Raises:
        VelaRefusalError: E170, the commands touch other bytes than those of their tensors, or leave
            out some that results depend on.
    """
    inputs, outputs = body.inputs, body.outputs
    edges = tuple(body.tensor(name) for name in (*inputs, *outputs))
    places = tuple(
        _place(call, name, tensor.size, number)
        for number, (name, tensor) in enumerate(
            zip((*call.inputs, *call.outputs), edges, strict=True), FIRST_REGION
        )
    )
    old, product = call.payload.stream, call.payload.product
    entering, leaving = places[: len(inputs)], places[len(inputs) :]
    stream = with_own_regions(old, entering, leaving, chains=product == 85)
    regions = {
        WEIGHTS_REGION: Region(Role.CONSTANT, len(call.weights)),
        SCRATCH_REGION: Region(Role.SCRATCH, call.scratch),
        **{p.becomes: Region(Role.INPUT, p.end - p.begin) for p in entering},
        **{p.becomes: Region(Role.OUTPUT, p.end - p.begin) for p in leaving},
    }
    try:
        before, after = operations(old, product), operations(stream, product)
    except StreamError as error:
        raise refuse_commands(str(error)) from error
    missing = {inputs[n - FIRST_REGION]: bits for n, bits in unread_inputs(after, regions).items()}
    wrong = chain(
        differences(before, after, places),
        faults(after, regions),
        find_missed(body, missing),
        (what for what in find_unused(after, regions) if needs_all(body)),
    )
    for what in wrong:
        raise refuse_commands(what)
    return stream


def refuse_commands(what: str) -> VelaRefusalError:
    """Return the error of commands that are not for their tensors."""
    return VelaRefusalError(
        "E170",
        f"Vela {vela_version()} made commands that do not keep to their tensors: {what}",
        remedy=WITHOUT,
    )


def _place(call: NpuCall, name: str, size: int, becomes: int) -> Place:
    """Return the bytes that Vela's commands have of a tensor."""
    found = call.locations.get(name, ())
    if len(found) != 1:
        raise refuse_commands(f"its tables have {len(found)} places of tensor '{name}'")
    return Place(found[0].region, found[0].begin, found[0].begin + size, becomes)
