# SPDX-License-Identifier: Apache-2.0
"""Run a network of 4 MiB of weights in full RTL: read where they lie, streamed, and all in SRAM.

Run as ``python -m benchmarks.streaming``. Prints a table of external memories against cycles of the
network; each run has to be bit-exact and without a finding. ``--write FILE`` writes the network.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod, sqrt
from pathlib import Path

import numpy as np
from tests.tflite_builder import Model, Operator, Tensor, write

from atoll.artifacts.samples import random_sample
from atoll.cli.output import as_command
from atoll.driver.compiled import expected_length
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.resolve import load_soc
from atoll.utils.scratch import temporary_folder
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

CHIP = Path(__file__).parents[1] / "examples" / "12_streamed_weights" / "chip.yaml"

Layer = tuple[int, ...]
"""Output channels of a dense layer; of a convolution, kernel and stride as well."""

LAYERS: tuple[Layer, ...] = (
    *((64, 3, 1), (128, 3, 2), (128, 3, 1), (256, 3, 2), (256, 3, 1), (256, 3, 1), (512, 3, 2)),
    *((640,), (10,)),
)
IMAGE = (1, 16, 16, 32)

LATENCIES = (8, 16, 20)
PORTS = (8, 16)


def network(image: tuple[int, ...], layers: Sequence[Layer], seed: int = 1) -> bytes:
    """Return a TFLite file: int8, with random weights of a scale that uses all values."""
    random = np.random.default_rng(seed)
    tensors = [Tensor(shape=image, scales=(0.05,), zero_points=(-3,), name="input")]
    operators: list[Operator] = []
    for channels, *window in layers:
        at, shape = len(tensors) - 1, tensors[-1].shape
        made: tuple[int, ...] = (1, channels)
        weights: tuple[int, ...] = (channels, prod(shape))
        options: dict[str, float] = {}
        if window:
            kernel, stride = window
            rows, columns = (-(-extent // stride) for extent in shape[1:3])
            made, weights = (1, rows, columns, channels), (channels, kernel, kernel, shape[3])
            options = {"StrideH": stride, "StrideW": stride, "Padding": 0}
        scale = 0.012 / sqrt(prod(weights[1:]))
        values = random.integers(-127, 128, weights).astype(np.int8)
        bias = random.integers(-500, 500, channels).astype(np.int32)
        tensors += (
            Tensor(shape=weights, scales=(scale,), zero_points=(0,), data=values, name="weights"),
            Tensor(shape=bias.shape, dtype="int32", data=bias, name="bias"),
            Tensor(shape=made, scales=(0.05,), zero_points=(-3,), name="result"),
        )
        code = "CONV_2D" if window else "FULLY_CONNECTED"
        operators.append(
            Operator(
                code=code,
                inputs=(at, at + 1, at + 2),
                outputs=(at + 3,),
                table="Conv2DOptions" if window else "FullyConnectedOptions",
                options=options,
            )
        )
    model = Model(
        tensors=tuple(tensors),
        operators=tuple(operators),
        inputs=(0,),
        outputs=(len(tensors) - 1,),
    )
    return write(model)


def streaming(word: str) -> BuildOptions:
    """Return build options with ``stream: word``."""
    options = BuildOptions()
    model = options.requests.model.model_copy(update={"stream": word})
    return replace(options, requests=replace(options.requests, model=model))


def rows(path: Path, latencies: Sequence[int], ports: Sequence[int]) -> Iterator[str]:
    """Yield the rows of the table."""
    near = ("memories.external.read_latency=1", "memories.external.width=8")
    yield f"| as the SRAM | - | {_measure(path, near, 'never')} |"
    for latency in latencies:
        settings = (f"memories.external.read_latency={latency}",)
        yield f"| {latency} cycles | - | {_measure(path, settings, 'never')} |"
        for port in ports:
            streamed = (*settings, f"devices.dma.params.data_bytes={port}")
            yield f"| {latency} cycles | {port} bytes | {_measure(path, streamed, 'auto')} |"
    alone = ("pools.external.reach.npu=none",)
    yield f"| 16 cycles, not for reef | 8 bytes | {_measure(path, alone, 'auto')} |"


def _measure(path: Path, settings: tuple[str, ...], stream: str) -> str:
    compiled = compile_file(load_soc(str(CHIP), settings), path, streaming(stream))
    samples = random_sample(compiled.graph)
    (run,) = run_models((compiled,), (samples,), cpu=CpuKind.RTL, accelerator=AcceleratorKind.RTL)
    report = run.report
    if not report.passed:
        raise SystemExit(f"{compiled.graph.name} is wrong: {report.mismatches} {report.violations}")
    cells = (*_stream_use(compiled), report.total_cycles, expected_length(compiled))
    return " | ".join(f"{cell:,}" for cell in cells)


def _stream_use(compiled: Compiled) -> tuple[int, int, int]:
    """Return operators and bytes that are streamed, and what is used of the shared pool."""
    streams = compiled.streaming.streams
    return len(streams), sum(each.size for each in streams), compiled.plan.use["shared"].used


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or write the network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latencies", nargs="*", type=int, default=LATENCIES)
    parser.add_argument("--ports", nargs="*", type=int, default=PORTS)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args(arguments)
    made = network(IMAGE, LAYERS)
    if asked.write:
        asked.write.write_bytes(made)
        return 0
    with temporary_folder() as folder:
        path = folder / "four_mib.tflite"
        path.write_bytes(made)
        print("| external memory | DMA port | streamed | bytes | shared used | cycles | estimate |")
        print("|---|---|---|---|---|---|---|")
        for row in rows(path, asked.latencies, asked.ports):
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(as_command(main))
