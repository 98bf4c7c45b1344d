"""Operators with states equal TFLM run after run, by reference, machine code and in full RTL."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import drawn

from atoll.frontend.tflite import load_tflite
from atoll.ops import reference
from atoll.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.run import AcceleratorKind, CpuKind, run_models

RUNS = 5
ARENA_BYTES = 2**20

Values = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def lagoon() -> ResolvedSoc:
    return load_soc("lagoon")


def float32(value: float) -> float:
    return float(np.float32(value))


def svdf(builder: ModuleType, rng: np.random.Generator) -> Any:
    """Make a network of one SVDF of drawn extents, types and scales."""
    tensor = builder.Tensor
    batches, inputs, rank = (int(rng.integers(1, most)) for most in (3, 20, 3))
    units, steps = int(rng.integers(1, 6)), int(rng.integers(1, 9))
    wide = bool(rng.integers(2))
    dtype, zero = ("int16", 0) if wide else ("int8", int(rng.integers(-128, 128)))
    scales = [float32(10 ** rng.uniform(-2.5, -0.5)) for _ in range(3)]
    state_scale = float32(10 ** rng.uniform(-4, -2) if wide else 10 ** rng.uniform(-2, 0))
    time_scale = float32(10 ** rng.uniform(-5, -3) if wide else 10 ** rng.uniform(-3, -1))
    limit = np.iinfo(dtype).max

    def constant(shape: tuple[int, ...], kind: str, scale: float, reach: int) -> Any:
        data = rng.integers(-reach, reach + 1, shape).astype(kind)
        return tensor(shape=shape, dtype=kind, scales=(scale,), zero_points=(0,), data=data)

    def activation(shape: tuple[int, ...], scale: float, **fields: Any) -> Any:
        point = int(rng.integers(-128, 128))
        return tensor(shape=shape, **{"scales": (scale,), "zero_points": (point,)} | fields)

    bias_scale = float32(np.float32(state_scale) * np.float32(time_scale))
    tensors = (
        activation((batches, inputs), scales[0]),
        constant((units * rank, inputs), "int8", scales[1], 127),
        constant((units * rank, steps), dtype, time_scale, limit),
        constant((units,), "int32", bias_scale, 2**16),
        activation(
            (batches, units * rank * steps),
            state_scale,
            dtype=dtype,
            zero_points=(zero,),
            variable=True,
        ),
        activation((batches, units), scales[2]),
    )
    op = builder.Operator(
        code="SVDF",
        inputs=(0, 1, 2, 3, 4),
        outputs=(5,),
        table="SVDFOptions",
        options={"Rank": rank, "FusedActivationFunction": int(rng.integers(2))},
    )
    return builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(5,))


def samples_of(path: Path, rng: np.random.Generator) -> list[dict[str, Values]]:
    """Draw what a network reads in its first runs."""
    graph = load_tflite(path)
    inputs = [graph.tensor(name) for name in graph.inputs]
    return [
        {each.name: rng.integers(-128, 128, each.shape).astype(each.dtype) for each in inputs}
        for _ in range(RUNS)
    ]


def tflm_in_turn(data: bytes, samples: Sequence[dict[str, Values]], outputs: int) -> list[Any]:
    """Return all outputs of each run of one interpreter."""
    runtime = pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro").runtime
    interpreter = runtime.Interpreter.from_bytes(data, arena_size=ARENA_BYTES)
    results = []
    for sample in samples:
        for number, values in enumerate(sample.values()):
            interpreter.set_input(values, number)
        interpreter.invoke()
        results.append([np.array(interpreter.get_output(at)) for at in range(outputs)])
    return results


def check(
    data: bytes, path: Path, soc: ResolvedSoc, rng: np.random.Generator, *, rtl: bool = False
) -> None:
    """Compare some runs in turn, of which each finds what the one before left."""
    path.write_bytes(data)
    compiled = compile_file(soc, path, BuildOptions())
    graph = compiled.network
    samples = samples_of(path, rng)
    expected = tflm_in_turn(data, samples, len(graph.outputs))
    for values, wanted in zip(reference.run_in_turn(graph, samples), expected, strict=True):
        for name, right in zip(graph.outputs, wanted, strict=True):
            np.testing.assert_array_equal(values[name], right)
    kinds: dict[str, Any] = {} if rtl else {"cpu": CpuKind.NATIVE}
    kinds |= {} if rtl else {"accelerator": AcceleratorKind.MODEL}
    (outcome,) = run_models((compiled,), (samples,), **kinds)
    assert outcome.report.passed, outcome.report
    for found, wanted in zip(outcome.outputs, expected, strict=True):
        for name, right in zip(graph.outputs, wanted, strict=True):
            np.testing.assert_array_equal(found[name], right)


@pytest.mark.parametrize("seed", drawn(1000, 40))
def test_svdf(seed: int, tflite_builder: ModuleType, tmp_path: Path, lagoon: ResolvedSoc) -> None:
    rng = np.random.default_rng(seed)
    data = tflite_builder.write(svdf(tflite_builder, rng))
    check(data, tmp_path / "network.tflite", lagoon, rng)


@pytest.mark.rtl
@pytest.mark.parametrize("chip", ["lagoon", "twin"])
@pytest.mark.parametrize("make", [svdf])
def test_in_full_rtl(
    make: Callable[..., Any], chip: str, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    rng = np.random.default_rng(5)
    data = tflite_builder.write(make(tflite_builder, rng))
    check(data, tmp_path / "network.tflite", load_soc(chip), rng, rtl=True)
