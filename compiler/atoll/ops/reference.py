# SPDX-License-Identifier: Apache-2.0
"""Run a graph on its exact references: what every device must compute, bit for bit."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from atoll.diagnostics.errors import AtollError
from atoll.ir.graph import ITEM_BYTES, Graph, Operator, Tensor
from atoll.ops.kind import Array
from atoll.ops.registry import kind_of
from atoll.plugins.loading import foreign_code, load
from atoll.resolve.soc import Engine, ResolvedSoc

Inputs = Sequence[Array | None]


def run(
    graph: Graph, inputs: Mapping[str, Array], soc: ResolvedSoc | None = None
) -> dict[str, Array]:
    """Compute every tensor of one sample.

    Args:
        graph: a graph whose operators passed their checks, placed or not.
        inputs: each graph input by name, in its tensor's type and shape; likewise states that a
            run before has changed.
        soc: the chip of a placed graph; accelerators on it that round in their own way compute as
            they say, and Atoll's references are taken for all operators without it.

    Returns:
        Inputs, constants, intermediate tensors and outputs by name; states as they are afterwards.
    """
    values = {tensor.name: tensor.array for tensor in graph.tensors if tensor.data is not None}
    for name in graph.inputs:
        tensor, value = graph.tensor(name), inputs[name]
        assert value.shape == tensor.shape, f"{tensor}: {value.shape}"
        assert value.dtype == np.dtype(tensor.dtype), f"{tensor}: {value.dtype}"
        values[name] = value
    for name in graph.states:
        values[name] = np.array(inputs[name] if name in inputs else first_value(graph.tensor(name)))
    views = {tensor.name: tensor for tensor in graph.tensors if tensor.view}
    for name in graph.written_in_parts:
        values[name] = np.zeros(graph.tensor(name).shape, graph.tensor(name).dtype)

    def elements_of(view: Tensor) -> Array:
        first = view.offset // ITEM_BYTES[view.dtype]
        whole = values[view.view].reshape(-1).view(view.dtype)
        return whole[first : first + view.stored]

    def value_of(name: str) -> Array:
        if name not in views:
            return values[name]
        view, elements = views[name], elements_of(views[name])
        return view.values_in(elements.tobytes()) if view.layout else elements.reshape(view.shape)

    for op in graph.operators:
        arguments = [value_of(name) if name else None for name in op.inputs]
        for name, value in zip(op.outputs, compute(op, graph, arguments, soc), strict=True):
            if name in views:
                elements_of(views[name])[...] = value.reshape(-1)
            else:
                values[name] = value.copy() if graph.states else value
    return values | {name: value_of(name) for name in views}


def run_in_turn(
    graph: Graph, samples: Iterable[Mapping[str, Array]], soc: ResolvedSoc | None = None
) -> Iterator[dict[str, Array]]:
    """Compute samples one after the other, each with the states that the one before left."""
    states: dict[str, Array] = {}
    for sample in samples:
        values = run(graph, {**sample, **states}, soc)
        states = {name: values[name] for name in graph.states}
        yield values


def first_value(state: Tensor) -> Array:
    """Return what a state is before the first run."""
    assert state.initial is not None, f"{state.name} is no state"
    return np.frombuffer(state.initial, state.dtype).reshape(state.shape)


def compute(
    op: Operator, graph: Graph, inputs: Inputs, soc: ResolvedSoc | None
) -> tuple[Array, ...]:
    """Return what an operator computes on its device.

    Raises:
        AtollError: E041, E111, E112; the reference of an accelerator fails.
    """
    device = soc.device(op.device) if soc and op.device else None
    if isinstance(device, Engine) and (entry := device.spec.support(op.kind).reference):
        return call_entry(entry, op, graph, inputs, device)
    return kind_of(op).reference(op, graph, inputs)


def call_entry(
    entry: str, op: Operator, graph: Graph, inputs: Inputs, engine: Engine
) -> tuple[Array, ...]:
    """Return what a function of an accelerator's description computes.

    Raises:
        AtollError: E041, E111, E112; it is not there, fails, or returns no such results.
    """
    spec, name = engine.spec, op.kind.upper()
    at = spec.places.get(f"operators.{name}")
    who = f"'{entry}' of accelerator '{spec.name}'"
    function = load(entry, at=at)
    with foreign_code(f"{who} failed for operator '{op.name}' ({name})", at=at):
        made = function(op, graph, inputs)
    results = made if isinstance(made, tuple) else (made,)
    wanted = [(each.dtype, each.shape) for each in graph.results(op)]
    found = [(str(getattr(a, "dtype", "")), getattr(a, "shape", None)) for a in results]
    if found != wanted:
        what = f"{who} returned {found}, not {wanted}, for operator '{op.name}' ({name})"
        raise AtollError("E112", what, at=at, remedy="return an array for each result")
    return results
