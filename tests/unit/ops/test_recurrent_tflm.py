# SPDX-License-Identifier: Apache-2.0
"""Operators with states equal TFLM run after run, by reference, machine code and in full RTL."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests import recurrent_samples as operators
from tests.effort import in_gate, seeded
from tests.operator_samples import SCALE, Tree
from tests.tflm_process import TFLM

from atoll.diagnostics.errors import ModelError
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

RUNS = 5
ARENA_BYTES = 2**20

Values = np.ndarray[Any, Any]
Counted = Callable[..., bool]


@pytest.fixture(scope="module")
def lagoon() -> ResolvedSoc:
    return load_soc("lagoon")


def float32(value: Any) -> float:
    return float(np.float32(value))


def drawn_units(rng: np.random.Generator, end: int) -> int:
    """Draw less than `end` units, or more than registers hold."""
    few, many = int(rng.integers(1, end)), int(rng.choice([33, 65, 130]))
    return many if rng.random() < 0.1 else few


def svdf(builder: ModuleType, rng: np.random.Generator) -> Any:
    """Make a network of one SVDF of drawn extents, types and scales."""
    tensor = builder.Tensor
    batches, inputs, rank = (int(rng.integers(1, most)) for most in (3, 20, 3))
    units, steps = drawn_units(rng, 6), int(rng.integers(1, 9))
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

    bias_scale = float(np.float32(state_scale) * np.float32(time_scale))
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


def lstm(builder: ModuleType, rng: np.random.Generator, *, wide: bool = False) -> Any:
    """Make a network of one LSTM of drawn extents, options and scales, of int16 if `wide`."""
    batches, steps, inputs = (int(rng.integers(1, most)) for most in (4, 5, 12))
    units = drawn_units(rng, 9)
    time_major, cell_scale = bool(rng.integers(2)), 2.0 ** int(rng.integers(-17, -6))
    first = (steps, batches) if time_major else (batches, steps)
    tensors: list[Any] = []

    def add(shape: tuple[int, ...], **fields: Any) -> int:
        tensors.append(builder.Tensor(shape=shape, name=f"t{len(tensors)}", **fields))
        return len(tensors) - 1

    def drawn_scale(low: float, high: float) -> tuple[float, ...]:
        return (float32(10 ** rng.uniform(low, high)),)

    def weights(count: int) -> int:
        data = rng.integers(-127, 128, (units, count)).astype(np.int8)
        scales = drawn_scale(-3.5, -1)
        return add(data.shape, scales=scales, zero_points=(0,), data=data)

    def bias() -> int:
        dtype, reach = ("int64", 2**20) if wide else ("int32", 2**14)
        data = rng.integers(-reach, reach, units).astype(dtype)
        return add(data.shape, dtype=dtype, data=data)

    points = [(int(rng.integers(-128, 128)),) for _ in range(2)]
    hidden: Any = {"scales": drawn_scale(-2.5, -1.5), "zero_points": points[1]}
    source: Any = {"scales": drawn_scale(-2.5, -0.5), "zero_points": points[0]}
    if wide:
        hidden, source = (
            {"dtype": "int16", "scales": drawn_scale(-5, -4), "zero_points": (0,)} for _ in range(2)
        )
    x = add((*first, inputs), **source)
    from_input, from_hidden = ([weights(n) for _ in range(4)] for n in (inputs, units))
    biases = [bias() for _ in range(4)]
    state = add((batches, units), variable=True, **hidden)
    cell = add(
        (batches, units),
        dtype="int16",
        scales=(cell_scale,),
        zero_points=(0,),
        variable=True,
    )
    y = add((*first, units), **hidden)
    given = {"scales": drawn_scale(-4, -1), "zero_points": (0,)}
    unused = tuple(add((0,), dtype="int16", **given) for _ in range(5 * int(rng.integers(2))))
    none = (-1,)
    op = builder.Operator(
        code="UNIDIRECTIONAL_SEQUENCE_LSTM",
        inputs=(x, *from_input, *from_hidden, *none * 3, *biases, *none * 2, state, cell)
        + none * 4,
        outputs=(y,),
        table="UnidirectionalSequenceLSTMOptions",
        options={
            "FusedActivationFunction": 4,
            "TimeMajor": time_major,
            "CellClip": float(rng.choice((0, 0, -1, 0.5, 3, 10, 1e6))),
            "ProjClip": float(rng.choice((0, 0.1))),
        },
        intermediates=unused,
    )
    return builder.Model(tensors=tuple(tensors), operators=(op,), inputs=(x,), outputs=(y,))


def drawn_values(tensor: Any, rng: np.random.Generator) -> Values:
    """Draw from the whole range of a type."""
    limits = np.iinfo(tensor.dtype)
    values: Values = rng.integers(limits.min, limits.max + 1, tensor.shape).astype(tensor.dtype)
    return values


def samples_of(path: Path, rng: np.random.Generator) -> list[dict[str, Values]]:
    """Draw what a network reads in its first runs."""
    graph = load_tflite(path)
    inputs = [graph.tensor(name) for name in graph.inputs]
    return [{each.name: drawn_values(each, rng) for each in inputs} for _ in range(RUNS)]


def tflm_in_turn(data: bytes, samples: Sequence[dict[str, Values]], outputs: int) -> list[Any]:
    """Return all outputs of each run of one interpreter."""
    pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro")
    given = [[*sample.values()] for sample in samples]
    return TFLM.run(data, given, range(outputs), ARENA_BYTES)


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


@seeded(1000)
def test_svdf(
    seed: int, tflite_builder: ModuleType, tmp_path: Path, lagoon: ResolvedSoc, counted: Counted
) -> None:
    if counted("SVDF"):
        return
    rng = np.random.default_rng(seed)
    data = tflite_builder.write(svdf(tflite_builder, rng))
    check(data, tmp_path / "network.tflite", lagoon, rng)


def handle(builder: ModuleType, operators: list[Any], tensors: list[Any], name: str) -> int:
    """Add a handle of a variable, and what makes it."""
    tensors.append(builder.Tensor(shape=(), dtype="resource"))
    made = builder.Operator(
        code="VAR_HANDLE",
        inputs=(),
        outputs=(len(tensors) - 1,),
        table="VarHandleOptions",
        options={"Container": "", "SharedName": name},
    )
    operators.append(made)
    return len(tensors) - 1


def first_values(
    builder: ModuleType, rng: np.random.Generator, shape: tuple[int, ...], kept: dict[str, Any]
) -> Any:
    """Make the subgraph that runs once."""
    operators: list[Any] = []
    tensors: list[Any] = []
    for name in ("delay", "sum"):
        variable = handle(builder, operators, tensors, name)
        data = rng.integers(-128, 128, shape).astype(np.int8)
        tensors.append(builder.Tensor(shape=shape, data=data, **kept))
        given = (variable, len(tensors) - 1)
        operators.append(builder.Operator(code="ASSIGN_VARIABLE", inputs=given, outputs=()))
    return builder.Model(tensors=tuple(tensors), operators=tuple(operators), inputs=(), outputs=())


def variables(builder: ModuleType, rng: np.random.Generator) -> Any:
    """Make a network of two variables: one delays its input by a run, one sums what it reads.

    What is read before an assignment is the old value, behind it the new one. Some networks swap
    the variables, some give them first values, some hand one out.
    """
    shape = (1, int(rng.integers(1, 5)), int(rng.integers(1, 20)))
    kept: dict[str, Any] = {"scales": (0.05,), "zero_points": (int(rng.integers(-128, 128)),)}
    tree = Tree(builder)
    tree.add(shape, **kept)

    def apply(code: str, *inputs: int, table: str = "") -> int:
        return tree.apply(code, inputs, tree.add(shape, **kept), table)

    def assign(variable: int, value: int) -> None:
        tree.apply_to_several("ASSIGN_VARIABLE", (variable, value), ())

    others: tuple[Any, ...] = ()
    if rng.integers(2):
        tree.apply_to_several("CALL_ONCE", (), (), "CallOnceOptions", InitSubgraphIndex=1)
        others = (first_values(builder, rng, shape, kept),)
    delay, total = (
        handle(builder, tree.operators, tree.tensors, name) for name in ("delay", "sum")
    )
    before = apply("READ_VARIABLE", delay)
    old = apply("READ_VARIABLE", total)
    new = apply("ADD", old, before, table="AddOptions")
    assign(total, new)
    outputs = [apply("ADD", apply("READ_VARIABLE", total), 0, table="AddOptions")]
    way = int(rng.integers(4))
    if way == 0:
        assign(delay, 0)
    elif way == 1:  # swap
        assign(delay, old)
        assign(total, before)
    elif way == 2:
        assign(delay, apply("RESHAPE", new))
        outputs.append(old)
    else:
        assign(delay, outputs[0])
        assign(delay, apply("RELU", before))
        outputs.append(apply("READ_VARIABLE", delay))
    return replace(tree.model(), outputs=tuple(outputs), others=others)


@pytest.mark.parametrize("make", [svdf, variables])
def test_a_state_that_no_image_holds_is_refused(
    make: Callable[..., Any], tflite_builder: ModuleType, tmp_path: Path
) -> None:
    """Before anything of its size is made."""
    model = make(tflite_builder, np.random.default_rng(5))
    kept = [at for at, each in enumerate(model.tensors) if each.variable]
    read = [op.outputs[0] for op in model.operators if op.code == "READ_VARIABLE"]
    tensors = list(model.tensors)
    for at in kept or range(len(tensors)):
        if kept or at in read or tensors[at].dtype == "int8":
            tensors[at] = replace(tensors[at], shape=(2**15, 2**15, 2**15))
    path = tmp_path / "network.tflite"
    path.write_bytes(tflite_builder.write(replace(model, tensors=tuple(tensors))))
    with pytest.raises(ModelError, match=r"is a variable of \d{14} bytes"):
        load_tflite(path)


@seeded(1000)
def test_variables(
    seed: int, tflite_builder: ModuleType, tmp_path: Path, lagoon: ResolvedSoc, counted: Counted
) -> None:
    if counted("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"):
        return
    rng = np.random.default_rng(seed)
    data = tflite_builder.write(variables(tflite_builder, rng))
    check(data, tmp_path / "network.tflite", lagoon, rng)


@pytest.mark.parametrize("wide", [False, True], ids=["int8", "int16"])
@seeded(500)
def test_lstm(
    seed: int,
    wide: bool,
    tflite_builder: ModuleType,
    tmp_path: Path,
    lagoon: ResolvedSoc,
    counted: Counted,
) -> None:
    if counted("UNIDIRECTIONAL_SEQUENCE_LSTM"):
        return
    rng = np.random.default_rng(seed)
    data = tflite_builder.write(lstm(tflite_builder, rng, wide=wide))
    check(data, tmp_path / "network.tflite", lagoon, rng)


def test_an_lstm_of_a_batch_beside_idle_cores(tflite_builder: ModuleType, tmp_path: Path) -> None:
    """It is not shared out among cores, of which each would read what others write."""
    tree = Tree(tflite_builder)
    operators.lstm(tree, tree.add((4, 3, 16), **SCALE), units=16)
    data = tflite_builder.write(tree.model())
    check(data, tmp_path / "network.tflite", load_soc("quad"), np.random.default_rng(1))


@pytest.mark.rtl
@pytest.mark.parametrize("chip", ["lagoon", pytest.param("twin", marks=pytest.mark.slow)])
@pytest.mark.parametrize("make", in_gate([svdf, lstm, partial(lstm, wide=True), variables]))
def test_in_full_rtl(
    make: Callable[..., Any], chip: str, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    rng = np.random.default_rng(5)
    data = tflite_builder.write(make(tflite_builder, rng))
    check(data, tmp_path / "network.tflite", load_soc(chip), rng, rtl=True)


def test_a_variable_whose_rows_are_multiplied_by_a_computed_filter(
    tflite_builder: ModuleType, tmp_path: Path, lagoon: ResolvedSoc
) -> None:
    """The rows are no state of their own, which a pass that changes the network would see."""
    tree = Tree(tflite_builder)
    x = tree.add((1, 3, 4), **SCALE)
    same = tree.apply("QUANTIZE", (x,), tree.add((1, 3, 4), **SCALE))
    filters = tree.apply("RESHAPE", (same,), tree.add((3, 4), **SCALE), "ReshapeOptions")
    operands = (operators.before(tree, x), filters)
    dense = tree.add((1, 3, 3), **SCALE)
    tree.apply("FULLY_CONNECTED", operands, dense, "FullyConnectedOptions", KeepNumDims=True)
    data = tflite_builder.write(tree.model())
    check(data, tmp_path / "network.tflite", lagoon, np.random.default_rng(4))


@pytest.mark.parametrize("chip", ["lagoon", "twin"])
def test_a_variable_that_an_accelerator_reads(
    chip: str, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    """What is copied to its memory is no state; the state changes behind that."""
    tree = Tree(tflite_builder)
    x = tree.add((2, 4, 2, 9), **SCALE)
    old = operators.before(tree, x)
    options: dict[str, float] = {"StrideH": 2, "StrideW": 3}
    operands = (old, tree.weights((3, 3, 3, 9)))
    tree.apply("CONV_2D", operands, tree.add((2, 2, 1, 3), **SCALE), "Conv2DOptions", **options)
    data = tflite_builder.write(tree.model())
    check(data, tmp_path / "network.tflite", load_soc(chip), np.random.default_rng(3))
