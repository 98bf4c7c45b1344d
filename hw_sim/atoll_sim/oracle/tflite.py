# SPDX-License-Identifier: Apache-2.0
"""TFLite files against TensorFlow Lite for Microcontrollers: every output, byte by byte."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from tflite_micro import runtime

from atoll.diagnostics.errors import UsageError
from atoll.frontend.registry import load_network
from atoll.frontend.tflite.reader import FileModel, read_file
from atoll.ops import reference
from atoll.report.oracle import OracleVerdict
from atoll_sim.oracle.steps import Array, Comparison, as_integers, from_integers

_ARENA = 2**26
"""Bytes; more than any network for a microcontroller needs."""


def against_tflm(model: Path, samples: Sequence[Sequence[Array]]) -> OracleVerdict:
    """Run samples in turn, from the first state on.

    Raises:
        UsageError: E181, TFLM does not run the file, or has other inputs.
    """
    graph = load_network(model)
    if cause := _different(read_file(model), len(graph.inputs)):
        raise _refusal(model, cause)
    try:
        interpreter = runtime.Interpreter.from_bytes(model.read_bytes(), arena_size=_ARENA)
        details = [interpreter.get_input_details(at) for at in range(len(graph.inputs))]
        results = [interpreter.get_output_details(at) for at in range(len(graph.outputs))]
    except (RuntimeError, IndexError, ValueError) as fault:
        cause = next(iter(str(fault).strip().splitlines()), type(fault).__name__)
        raise _refusal(model, cause) from fault
    comparison = Comparison(0)
    given = [dict(zip(graph.inputs, sample, strict=True)) for sample in samples]
    for sample, made in zip(given, reference.run_in_turn(graph, given), strict=True):
        for at, (name, detail) in enumerate(zip(graph.inputs, details, strict=True)):
            edge = from_integers(np.asarray(sample[name]), graph.tensor(name), detail["dtype"])
            interpreter.set_input(edge, at)
        interpreter.invoke()
        for at, name in enumerate(graph.outputs[: len(results)]):
            theirs = as_integers(np.array(interpreter.get_output(at)), graph.tensor(name))
            comparison.compare(name, np.asarray(made[name]), theirs)
    return comparison.verdict(f"tflite-micro {version('tflite-micro')}")


def _different(file: FileModel, inputs: int) -> str:
    """Return why TFLM does not run the network that Atoll runs, "" if it does."""
    if len(file.inputs) != inputs:
        return f"it has {len(file.inputs)} of the {inputs} inputs that Atoll has, one for each grid"
    for op in file.operators:
        if op.code == "DEPTHWISE_CONV_2D" and op.options and not op.options.DepthMultiplier():
            return f"operator {op.label} has a DepthMultiplier of 0, for which it computes nothing"
    return ""


def _refusal(model: Path, cause: str) -> UsageError:
    message = f"--oracle: tflite-micro does not run {model}: {cause}"
    return UsageError("E181", message, remedy="leave --oracle out; nothing else can answer for it")
