# SPDX-License-Identifier: Apache-2.0
"""Hold Atoll against TFLM and onnxruntime on the files that `benchmarks.trained` has written.

Run as ``python -m benchmarks.trained.check OUT [FILE ...]``. Every file is compiled and planned for
lagoon with larger memories, runs on all its samples by this computer's own code, and is compared:
TFLite byte for byte with TFLM, or with TFLite's own kernels where it has none, ONNX in steps of the
output with onnxruntime, whole and operator by operator. The smallest and the largest file (or those
of ``--rtl``) also run in RTL. The status is 0 only if all is as it has to be.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.table import Table

from atoll.cli.output import as_command
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import Compiled, compile_file
from atoll.ir.graph import Tensor
from atoll.resolve import load_soc
from atoll_sim.dataset.host_network import HostNetwork
from atoll_sim.dataset.labelled import quantise
from benchmarks.compile_time import POOLS, SIZES
from benchmarks.shown import console
from benchmarks.trained.oracles import operator_steps, run_onnx, run_tflm
from benchmarks.trained.samples import Array

CHIP, OVERRIDES = "lagoon", (*SIZES, *POOLS)
ALONE = 4
"""Samples on which operators are compared one by one."""

FAR, OTHERS = 0.02, 0.005
"""Shares of an ONNX file's outputs that may be more than a step off, and of other classes.

float32 takes some sums of onnxruntime to the other side of a half, several steps behind SOFTMAX.
"""


@dataclass(slots=True)
class Row:
    """What was found out about a file."""

    cells: list[str]
    fine: bool


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder with the files")
    parser.add_argument("files", nargs="*", metavar="FILE", help="of these only; default: all")
    parser.add_argument("--rtl", nargs="*", metavar="FILE", help="default: smallest and largest")
    arguments = parser.parse_args()
    found = sorted({*arguments.out.glob("*.tflite"), *arguments.out.glob("*.onnx")})
    paths = [arguments.out / name for name in arguments.files] or found
    sizes = sorted(paths, key=lambda path: path.stat().st_size)
    ends = {sizes[0].name, sizes[-1].name} if arguments.rtl is None else {*arguments.rtl}
    table = Table("file", "compiled", "operators", "plan", "outputs", "alone", "class", "RTL")
    fine = True
    for path in paths:
        row = check_file(path, in_rtl=path.name in ends)
        table.add_row(*row.cells)
        print(*row.cells, sep=" | ", flush=True)
        fine &= row.fine
    console().print(table)
    return 0 if fine else 1


def check_file(path: Path, *, in_rtl: bool) -> Row:
    """Return what a file's row says."""
    begin = time.perf_counter()
    try:
        compiled = compile_file(load_soc(CHIP, OVERRIDES), path)
    except AtollError as error:
        return Row([path.name, "refused", str(error)], fine=False)
    row = Row([path.name, f"{time.perf_counter() - begin:.1f} s"], fine=True)
    row.cells.append(str(len(compiled.network.operators)))
    gap = sum(pool.gap for pool in compiled.plan.use.values())
    used = sum(pool.used for name, pool in compiled.plan.use.items() if name != "weights")
    row.cells.append(f"{used:,} B, optimal" if gap == 0 else f"{used:,} B, {gap} B more than bound")
    row.fine &= gap == 0
    _compare(row, path, compiled)
    if in_rtl:
        _simulate(row, path)
    return row


def _compare(row: Row, path: Path, compiled: Compiled) -> None:
    data = np.load(path.with_suffix(".npz"))
    samples, labels = data["x"], data["labels"]
    (tensor,) = map(compiled.network.tensor, compiled.network.inputs)
    given = data["given"][:, None] if "given" in data else quantise_samples(samples, tensor)
    network = HostNetwork(compiled.graph, compiled.soc)
    workspace, (name,) = network.workspace(), compiled.network.outputs
    ours = np.stack([network.run({tensor.name: each}, workspace)[name] for each in given])
    if path.suffix == ".tflite":
        made = run_tflm(path, given)
        theirs = data["expected"] if made is None else np.stack(made)
        equal = int((ours == theirs).reshape(len(ours), -1).all(axis=1).sum())
        row.cells.append(f"{equal} of {len(ours)} as {'TFLite' if made is None else 'TFLM'}")
        row.cells.append("-")
        row.fine &= equal == len(ours)
    else:
        theirs = np.stack([*run_onnx(path, samples)])
        quantization = compiled.network.tensor(name).quantization
        assert quantization is not None
        (scale,), (zero,) = quantization.scales, quantization.zero_points
        steps = np.abs((ours.astype(np.float64) - zero) - theirs / scale)
        far = np.mean(steps > 1.01)
        row.cells.append(f"at most {steps.max():.0f} steps, mean {steps.mean():.2f}, {far:.2%} > 1")
        row.fine &= bool(far <= FAR)
        alone = operator_steps(path, samples[:ALONE])
        row.cells.append(f"{alone.operators}: at most {alone.most}, {alone.share:.2%} differ")
        if alone.most > 1:
            row.cells[-1] += f" ({alone.worst})"
            row.fine = False
    same, right = _classes(ours, theirs, labels)
    row.cells.append(f"{same:.1%} same, {right:.1%} right")
    row.fine &= same >= 1 - OTHERS


def quantise_samples(samples: Array, tensor: Tensor) -> Array:
    """Return samples of real numbers as an input takes them, [N, 1, ...]."""
    return np.stack([quantise(each[None], tensor) for each in samples])


def _classes(ours: Array, theirs: Array, labels: Array) -> tuple[float, float]:
    """Return which shares of classes are the same, and right; the last axis has the classes."""
    named, oracle = (each.argmax(axis=-1).reshape(labels.shape) for each in (ours, theirs))
    return float(np.mean(named == oracle)), float(np.mean(named == labels))


def _simulate(row: Row, path: Path) -> None:
    options = [word for each in OVERRIDES for word in ("--set", each)]
    atoll = Path(sys.executable).with_name("atoll")
    begin = time.perf_counter()
    command = (str(atoll), "run", CHIP, str(path), *options, "--json")
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    row.fine &= run.returncode == 0
    if not run.stdout.strip():
        row.cells.append(run.stderr.strip())
        return
    told = json.loads(run.stdout)
    row.cells.append(
        f"{told['layers_equal']} of {told['layers_compared']} layers, "
        f"{len(told['placement']['violations'])} violations, {told['cycles']['total']:,} cycles, "
        f"{time.perf_counter() - begin:.0f} s"
    )


if __name__ == "__main__":
    sys.exit(as_command(main))
