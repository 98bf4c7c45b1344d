# SPDX-License-Identifier: Apache-2.0
"""Which oracle a model file has, and what it says: `atoll run --oracle`."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from atoll.diagnostics.errors import UsageError
from atoll.frontend.registry import IN_MEMORY, Source, format_of
from atoll.report.oracle import OracleVerdict
from atoll_sim.oracle.steps import Array

Oracle = Callable[[Path, Sequence[Sequence[Array]]], OracleVerdict]


def oracle_of(model: Path) -> Oracle:
    """Return what answers for a model file.

    Raises:
        UsageError: E180, it is not installed; E182, the format has none.
    """
    name = format_of(model)
    if name == "onnx":
        _require("onnxruntime", "onnxruntime")
        from atoll_sim.oracle.onnx import against_onnxruntime

        return against_onnxruntime
    if name == "tflite":
        _require("tflite_micro", "tflite-micro")
        from atoll_sim.oracle.tflite import against_tflm

        return against_tflm
    message = f"--oracle: {model} is read by front end '{name}', whose format has no oracle"
    raise UsageError("E182", message, remedy="leave --oracle out")


def oracle_for(source: Source) -> Oracle:
    """Return what answers for a network that was loaded.

    Raises:
        UsageError: E182, it was made in memory; as `oracle_of`.
    """
    if source.suffix == IN_MEMORY:
        message = f"--oracle: network '{source.path.stem}' was made in memory, and has no oracle"
        raise UsageError("E182", message, remedy="leave the oracle out, or load it from a file")
    return oracle_of(source.path)


def _require(module: str, package: str) -> None:
    if find_spec(module) is None:
        message = f"--oracle needs the package '{package}', which is not installed"
        remedy = f"install it with: pip install {package}, or leave --oracle out"
        raise UsageError("E180", message, remedy=remedy)
