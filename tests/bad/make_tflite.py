"""Write the broken TFLite files of this folder: one small model, one fault each.

Run from the checkout as ``python -m tests.bad.make_tflite [FOLDER]``.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests import tflite_builder
from tests.flow_samples import branched, looped
from tests.tflite_builder import Model, Operator, Tensor, write

X, FILTER, BIAS, CONV, RESHAPED, SHARES = range(6)
WIDE = 2**31 - 1


def good() -> Model:
    """Make a network that loads: convolution, reshape, softmax."""
    rng = np.random.default_rng(1)
    activation: dict[str, Any] = {"scales": (0.05,), "zero_points": (-3,)}
    return Model(
        tensors=(
            Tensor(shape=(1, 4, 4, 2), name="serving_default_image:0", **activation),
            Tensor(
                shape=(3, 2, 2, 2),
                name="network/conv/weights",
                scales=(0.01, 0.02, 0.03),
                zero_points=(0, 0, 0),
                data=rng.integers(-127, 128, (3, 2, 2, 2)).astype(np.int8),
            ),
            Tensor(
                shape=(3,),
                name="network/conv/bias",
                dtype="int32",
                scales=(0.0005, 0.001, 0.0015),
                zero_points=(0, 0, 0),
                axis=3,
                data=np.array([100, -200, 300], np.int32),
            ),
            Tensor(shape=(1, 4, 4, 3), name="network/conv/Relu;network/conv/BiasAdd", **activation),
            Tensor(shape=(1, 48), name="network/flatten", **activation),
            Tensor(shape=(1, 48), name="Identity", scales=(1 / 256,), zero_points=(-128,)),
        ),
        operators=(
            Operator(
                code="CONV_2D",
                inputs=(X, FILTER, BIAS),
                outputs=(CONV,),
                table="Conv2DOptions",
                options={"Padding": 0, "StrideH": 1, "StrideW": 1, "FusedActivationFunction": 1},
            ),
            Operator(code="RESHAPE", inputs=(CONV,), outputs=(RESHAPED,)),
            Operator(
                code="SOFTMAX",
                inputs=(RESHAPED,),
                outputs=(SHARES,),
                table="SoftmaxOptions",
                options={"Beta": 1.0},
            ),
        ),
        inputs=(X,),
        outputs=(SHARES,),
    )


def with_tensor(index: int, **changes: Any) -> bytes:
    """Change one tensor of the good model."""
    tensors = list(good().tensors)
    tensors[index] = replace(tensors[index], **changes)
    return write(replace(good(), tensors=tuple(tensors)))


def with_operator(index: int, **changes: Any) -> bytes:
    """Change one operator of the good model."""
    operators = list(good().operators)
    operators[index] = replace(operators[index], **changes)
    return write(replace(good(), operators=tuple(operators)))


def with_types(dtype: str) -> bytes:
    """Give every int8 tensor of the good model another type."""
    tensors = [
        replace(tensor, dtype=dtype) if tensor.dtype == "int8" else tensor
        for tensor in good().tensors
    ]
    tensors[FILTER] = replace(tensors[FILTER], data=np.zeros((3, 2, 2, 2), dtype))
    return write(replace(good(), tensors=tuple(tensors)))


def unused_float_input() -> bytes:
    """Add an input that no operator reads, of a type that no buffer has."""
    model = good()
    unused = Tensor(shape=(2,), name="serving_default_unused:0", dtype="float32")
    tensors = (*model.tensors, unused)
    return write(replace(model, tensors=tensors, inputs=(*model.inputs, len(model.tensors))))


def unsupported_operators() -> bytes:
    """Replace two operators by ones that Atoll does not have."""
    conv, reshape, softmax = good().operators
    skip_gram = replace(reshape, code="SKIP_GRAM")
    custom = replace(softmax, code="CUSTOM", custom="Mystery", table="")
    return write(replace(good(), operators=(conv, skip_gram, custom)))


def computed_turns() -> bytes:
    """Let the caller say where a loop begins to count."""
    model = looped(tflite_builder)
    tensors = list(model.tensors)
    counter = model.operators[0].inputs[1]
    tensors[counter] = replace(tensors[counter], data=None, name="begin")
    return write(replace(model, tensors=tuple(tensors), inputs=(*model.inputs, counter)))


def loop_of(subgraph: int) -> bytes:
    """Let a loop turn another subgraph."""
    model = looped(tflite_builder)
    (loop,) = model.operators
    loop = replace(loop, options={**loop.options, "BodySubgraphIndex": subgraph})
    return write(replace(model, operators=(loop,)))


def loop_in_itself() -> bytes:
    """Let the body of a loop run the loop."""
    model = looped(tflite_builder)
    test, body = model.others
    (loop,) = model.operators
    first = len(body.tensors)
    results = tuple(replace(body.tensors[n], name=f"again{n}") for n in range(3))
    loop = replace(loop, inputs=(0, 1, 2), outputs=(first, first + 1, first + 2))
    body = replace(body, tensors=(*body.tensors, *results), operators=(loop, *body.operators))
    return write(replace(model, others=(test, body)))


def assigned_in_a_branch() -> bytes:
    """Keep a value in one branch only."""
    model = branched(tflite_builder)
    then, other = model.others
    handle = len(then.tensors)
    names = {"Container": "", "SharedName": "kept"}
    kept = (
        Operator(
            code="VAR_HANDLE",
            inputs=(),
            outputs=(handle,),
            table="VarHandleOptions",
            options=names,
        ),
        Operator(code="ASSIGN_VARIABLE", inputs=(handle, 0), outputs=()),
    )
    tensors = (*then.tensors, Tensor(shape=(), dtype="resource", name="handle"))
    then = replace(then, tensors=tensors, operators=(*then.operators, *kept))
    return write(replace(model, others=(then, other)))


FILES: dict[str, bytes] = {
    "activation": with_operator(
        0, options={**good().operators[0].options, "FusedActivationFunction": 4}
    ),
    "axis_scales": with_tensor(FILTER, scales=(0.01, 0.02), zero_points=(0, 0)),
    "bias_scale": with_tensor(BIAS, scales=(0.05, 0.1, 0.15)),
    "constant_output": write(replace(good(), outputs=(SHARES, FILTER))),
    "cycle": with_operator(0, inputs=(RESHAPED, FILTER, BIAS)),
    "dynamic_shape": with_tensor(X, shape=(1, -1, 4, 2)),
    "empty": b"",
    "empty_dimension": with_tensor(X, shape=(1, 0, 4, 2)),
    "external_buffer": write(replace(good(), buffer_offset=4096)),
    "float": with_types("float32"),
    "huge_shape": with_tensor(X, shape=(WIDE, WIDE, 4, 2)),
    "identifier": b"\x1c\x00\x00\x00TFL2" + write(good())[8:],
    "if_state": assigned_in_a_branch(),
    "nan_scale": with_tensor(CONV, scales=(float("nan"),)),
    "negative_scale": with_tensor(X, scales=(-0.05,)),
    "no_options": with_operator(2, table=""),
    "output_shape": with_tensor(CONV, shape=(1, 5, 4, 3)),
    "short_buffer": with_tensor(BIAS, data=np.array([100, -200], np.int32)),
    "tensor_number": with_operator(1, inputs=(99,)),
    "truncated": write(good())[:-100],
    "two_signatures": write(
        replace(good(), subgraphs=2, signatures=(("encode", 0), ("decode", 1)))
    ),
    "uint8": with_types("uint8"),
    "unsupported": unsupported_operators(),
    "unused_float_input": unused_float_input(),
    "variable": with_tensor(CONV, variable=True),
    "version": write(replace(good(), version=2)),
    "weights_zero_point": with_tensor(FILTER, zero_points=(0, 1, 0)),
    "while_itself": loop_in_itself(),
    "while_long": write(looped(tflite_builder, turns=2000)),
    "while_of_nothing": loop_of(3),
    "while_unknown": computed_turns(),
    "written_twice": with_operator(2, outputs=(CONV,)),
    "zero_stride": with_operator(0, options={**good().operators[0].options, "StrideW": 0}),
}


def main(folder: Path) -> None:
    """Write every file into `folder`."""
    for name, data in FILES.items():
        (folder / f"model_{name}.tflite").write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
