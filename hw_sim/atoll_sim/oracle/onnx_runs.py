# SPDX-License-Identifier: Apache-2.0
"""What onnxruntime makes of samples; it runs in a process of its own, see `apart`."""

from collections.abc import Mapping, Sequence

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as refusals

from atoll_sim.oracle.apart import NoAnswerError
from atoll_sim.oracle.steps import Array

_REFUSALS = (
    *(refusals.Fail, refusals.InvalidArgument, refusals.InvalidGraph, refusals.InvalidProtobuf),
    *(refusals.NotImplemented, refusals.RuntimeException),
)


def outputs(model: bytes, feeds: Sequence[Mapping[str, Array]]) -> tuple[str, list[list[Array]]]:
    """Return the version of onnxruntime, and the outputs of a model for each of the feeds.

    Raises:
        NoAnswerError: onnxruntime does not accept the model, or gives a run up.
    """
    try:
        session = literal_session(model)
        made = [session.run(None, dict(each)) for each in feeds]
    except _REFUSALS as fault:
        cause = next(iter(str(fault).strip().splitlines()), type(fault).__name__)
        raise NoAnswerError(cause) from fault
    return onnxruntime.__version__, made


def literal_session(model: bytes) -> onnxruntime.InferenceSession:
    """Return a session that fuses and leaves out nothing."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
