# SPDX-License-Identifier: Apache-2.0
"""Judge a case as a file of one operator: does it give the bytes of the wheel tflite-micro."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from tests.kernels import hold
from tests.tflite_builder import Model, Operator, Tensor, write
from tests.tflm_process import TFLM

from atoll.diagnostics.errors import AtollError
from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference
from atoll.ops.registry import kind_of
from atoll.utils.scratch import temporary_folder
from benchmarks.tflm_tests.cases import TABLES, Case

ARENA_BYTES = 2**20
TYPES = {"int4", "int8", "int16", "int32", "int64", "bool"}
LATER = tuple(range(1, 20))
CONSTANT = {
    **dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "SVDF"), (1, 2, 3)),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ALL"), (1,)),
    **dict.fromkeys(("ARG_MAX", "ARG_MIN"), (1,)),
    **dict.fromkeys(("RESHAPE", "EXPAND_DIMS", "BROADCAST_TO", "TRANSPOSE", "CUMSUM"), (1,)),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "REVERSE_V2"), (1,)),
    **dict.fromkeys(("PAD", "PADV2", "MIRROR_PAD", "SPLIT_V", "SLICE", "STRIDED_SLICE"), LATER),
    **dict.fromkeys(("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND"), LATER),
    **dict.fromkeys(("FILL", "SPLIT"), (0,)),
    "TRANSPOSE_CONV": (0, 1, 3),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": LATER,
}
"""Inputs that are constants in a network, which the tests leave open."""


Item = TypeVar("Item")
Result = TypeVar("Result")

EQUAL, SCALED, DIFFERENT, REFUSED = "equal", "equal scaled", "differs", "refused"
INVALID, FLOAT = "TFLM refuses", "float"


def apart(
    function: Callable[[Item], Result], items: list[Item]
) -> Iterator[tuple[Item, Result | None]]:
    """Call a function in a process of its own, which TFLM may end: None is its result then."""
    pool = ProcessPoolExecutor(1)
    for item in items:
        try:
            yield item, pool.submit(function, item).result()
        except BrokenProcessPool:
            yield item, None
            pool = ProcessPoolExecutor(1)


def judge(case: Case) -> tuple[str, str]:
    """Return what becomes of a case, and why."""
    if not {each["type"] for each in operator_tensors(case)} <= TYPES:
        return FLOAT, ""
    model, given = model_of(case)
    runs = [[values_of(run[at]) for at in given] for run in case.runs]
    try:
        expected = by_tflm(model, runs)
    except (RuntimeError, ValueError) as error:
        return INVALID, str(error).splitlines()[0]
    try:
        return compare_with_tflm(model, runs, expected)
    except AtollError as error:
        reason = first_line(error)
    plain = replace(model, tensors=tuple(map(unscale, model.tensors)))
    try:
        if np.array_equal(by_tflm(plain, runs), expected):
            outcome, reason = compare_with_tflm(plain, runs, expected)
            return SCALED if outcome == EQUAL else outcome, reason
    except AtollError as error:
        reason = first_line(error)
    except RuntimeError:
        pass
    return REFUSED, reason


def first_line(error: AtollError) -> str:
    """Return what is wrong, without the path of the file."""
    return str(error).splitlines()[0].split(": ", 2)[-1]


def unscale(tensor: Tensor) -> Tensor:
    """Give an activation scale 1 and zero point 0, for kernels that read neither."""
    if tensor.dtype not in ("int8", "int16"):
        return tensor
    return replace(tensor, scales=(1.0,), zero_points=(0,))


def compare_with_tflm(
    model: Model, runs: list[list[NDArray[Any]]], expected: list[list[NDArray[Any]]]
) -> tuple[str, str]:
    """Hold reference and machine code against the bytes of TFLM.

    Machine code of an operator with states runs in the tests only, since it changes its inputs.
    """
    with temporary_folder() as folder:
        path = folder / "model.tflite"
        path.write_bytes(write(model))
        graph = load_tflite(path)
    samples = [dict(zip(graph.inputs, run, strict=True)) for run in runs]
    for values, outputs in zip(reference.run_in_turn(graph, samples), expected, strict=True):
        for name, output in zip(graph.outputs, outputs, strict=True):
            if values[name].tobytes() != output.tobytes():
                return DIFFERENT, f"reference {values[name].ravel()}, TFLM {output.ravel()}"
    for op in graph.operators if not graph.states else ():
        try:
            hold(kind_of(op).lower(op, graph), values, values[op.outputs[0]], interpreted=False)
        except AssertionError as error:
            return DIFFERENT, f"machine code: {error}"
    return EQUAL, ""


def operator_tensors(case: Case) -> list[dict[str, Any]]:
    """Return the tensors of the operator."""
    numbers = [*case.told["inputs"], *case.told["outputs"]]
    return [case.runs[0][at] for at in numbers if at >= 0]


def shape_of(case: Case, told: dict[str, Any]) -> tuple[int, ...]:
    """Return the shape of a tensor; some tests leave that of the result to the kernel."""
    if case.code not in SHAPES or 0 not in told["shape"] or told["bytes"]:
        return tuple(told["shape"])
    first, *others = (case.runs[0][at]["shape"] for at in case.told["inputs"])
    return tuple(SHAPES[case.code](case.told["options"], first, *others))


def gather_shape(options: dict[str, Any], taken: list[int], indices: list[int]) -> list[int]:
    """Return the shape of the result of a GATHER."""
    axis, batches = options["Axis"] % len(taken), options["BatchDims"]
    return [*taken[:axis], *indices[batches:], *taken[axis + 1 :]]


SHAPES: dict[str, Callable[..., list[int]]] = {
    "GATHER": gather_shape,
    "GATHER_ND": lambda _, taken, indices: [*indices[:-1], *taken[indices[-1] :]],
    "DEPTH_TO_SPACE": lambda told, shape: blocks(shape, told["BlockSize"], 1),
    "SPACE_TO_DEPTH": lambda told, shape: blocks(shape, 1, told["BlockSize"]),
}


def blocks(shape: list[int], more: int, less: int) -> list[int]:
    """Return the shape of an image whose blocks and channels are exchanged."""
    batches, height, width, channels = shape
    area = (height * more // less, width * more // less)
    return [batches, *area, channels * less**2 // more**2]


def values_of(told: dict[str, Any]) -> NDArray[Any]:
    """Return the values of a tensor of a test."""
    dtype = "uint8" if told["type"] == "int4" else told["type"]
    values = np.frombuffer(bytes.fromhex(told["bytes"]), dtype)
    return values if told["type"] == "int4" else values.reshape(told["shape"])


def model_of(case: Case) -> tuple[Model, list[int]]:
    """Return a model of the operator, and which tensors of the test its inputs are."""
    inputs, outputs = case.told["inputs"], case.told["outputs"]
    numbers = sorted({at for at in (*inputs, *outputs) if at >= 0})
    numbers += [at for at in case.told["intermediates"] if at not in numbers]
    fixed = {inputs[at] for at in CONSTANT.get(case.code, ()) if at < len(inputs)}
    tensors = []
    for at in numbers:
        told = case.runs[0][at]
        constant = at not in outputs and (told["constant"] or at in fixed)
        constant = constant and not told["variable"]
        if case.code == "TRANSPOSE_CONV" and at == inputs[0] and told["shape"] == [0]:
            told = {**told, **whole(case.runs[0][outputs[0]]["shape"])}
        tensors.append(
            Tensor(
                shape=shape_of(case, told),
                dtype=told["type"],
                scales=tuple(told.get("scales", ())),
                zero_points=tuple(told.get("zeros", ())),
                axis=told.get("axis", 0),
                data=values_of(told) if constant else None,
                name=f"t{at}",
                variable=bool(told["variable"]),
            )
        )
    place = {at: index for index, at in enumerate(numbers)} | {-1: -1}
    given = [
        at
        for at in dict.fromkeys(inputs)
        if at >= 0 and tensors[place[at]].data is None and not tensors[place[at]].variable
    ]
    options = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in case.told["options"].items()
    }
    operator = Operator(
        code=case.code,
        inputs=tuple(place[at] for at in inputs),
        outputs=tuple(place[at] for at in outputs),
        table=TABLES[case.code][0] if case.code in TABLES else "",
        options=options,
        intermediates=tuple(place[at] for at in case.told["intermediates"]),
    )
    return (
        Model(
            tensors=tuple(tensors),
            operators=(operator,),
            inputs=tuple(place[at] for at in given),
            outputs=operator.outputs,
        ),
        given,
    )


def whole(shape: list[int]) -> dict[str, Any]:
    """Return the tensor that states a shape, which the tests leave empty."""
    return {"shape": [len(shape)], "bytes": np.array(shape, np.int32).tobytes().hex()}


def by_tflm(model: Model, samples: list[list[NDArray[Any]]]) -> list[list[NDArray[Any]]]:
    """Return the outputs of each run of the wheel."""
    return TFLM.run(write(model), samples, range(len(model.outputs)), ARENA_BYTES)
