# SPDX-License-Identifier: Apache-2.0
"""TFLite files against TensorFlow Lite for Microcontrollers: every output, byte by byte."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from atoll.diagnostics.errors import UsageError
from atoll.frontend.registry import load_network
from atoll.frontend.tflite.reader import FileModel, read_file
from atoll.ops import reference
from atoll.report.oracle import OracleVerdict
from atoll_sim.oracle.apart import NoAnswerError, ask
from atoll_sim.oracle.steps import Array, Comparison, as_integers


def against_tflm(model: Path, samples: Sequence[Sequence[Array]]) -> OracleVerdict:
    """Run samples in turn, from the first state on.

    Raises:
        UsageError: E181, TFLM does not run the file, or has other inputs.
    """
    graph = load_network(model)
    if cause := _different(read_file(model), len(graph.inputs)):
        raise _refusal(model, cause)
    given = [dict(zip(graph.inputs, sample, strict=True)) for sample in samples]
    inputs = tuple(map(graph.tensor, graph.inputs))
    integers = [[np.asarray(values) for values in sample] for sample in samples]
    question = model.read_bytes(), inputs, integers, len(graph.outputs)
    try:
        answers = ask("atoll_sim.oracle.tflm_runs:outputs", *question)
    except NoAnswerError as fault:
        raise _refusal(model, str(fault)) from fault
    comparison = Comparison(0)
    runs = zip(reference.run_in_turn(graph, given), answers, strict=True)
    for made, answer in runs:
        for name, theirs in zip(graph.outputs, answer, strict=True):
            comparison.compare(
                name, np.asarray(made[name]), as_integers(theirs, graph.tensor(name))
            )
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
