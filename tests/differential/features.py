# SPDX-License-Identifier: Apache-2.0
"""What a network has of what the generator shall cover."""

from collections.abc import Iterator
from math import prod

from tests.differential.text import readers_of
from tests.tflite_builder import Model, Operator

EDGE_POINTS = {-128, 127}
LEAST_COUNTED = 1e-8
LEAST_USUAL, GREATEST_USUAL = 1e-5, 10.0
VIEWS = ("EXPAND_DIMS", "RESHAPE", "SQUEEZE")
COMPUTED = {"FULLY_CONNECTED": 1, "PADV2": 2}
"""Which operand may be computed."""
LOOKUPS = ("GATHER", "GATHER_ND")
MANY, MANY_CHANNELS = 20, 200
WINDOWS = ("CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "AVERAGE_POOL_2D")


def features_of(model: Model) -> frozenset[str]:
    """Return the names of what a network has."""
    parts = (_interface, _file, _operators, _constants, _variables)
    return frozenset(name for part in parts for name in part(model))


def _interface(model: Model) -> Iterator[str]:
    read = set(readers_of(model))
    written = {number: op for op in model.operators for number in op.outputs}
    outputs = [number for number in model.outputs if number in written]
    facts = {
        "several inputs": len(model.inputs) > 1,
        "several outputs": len(set(model.outputs)) > 1,
        "output read later": any(number in read for number in outputs),
        "output declared twice": len(set(model.outputs)) < len(model.outputs),
        "output is input": not set(model.inputs).isdisjoint(model.outputs),
        "output is constant": any(model.tensors[n].data is not None for n in model.outputs),
        "output is view": any(written[number].code in VIEWS for number in outputs),
        "output is viewed": any(
            op.code in VIEWS and op.inputs[0] in outputs for op in model.operators
        ),
        "unused input": any(n not in read and n not in model.outputs for n in model.inputs),
        "dead tail": any(n not in read and n not in model.outputs for n in written),
        "no operators": not model.operators,
        "many operators": len(model.operators) >= MANY,
        "float32 input": any(model.tensors[n].dtype == "float32" for n in model.inputs),
        "float32 output": any(model.tensors[n].dtype == "float32" for n in model.outputs),
    }
    yield from (name for name, present in facts.items() if present)
    yield from (f"{model.tensors[n].dtype} input" for n in model.inputs)
    yield from (f"input of rank {len(model.tensors[n].shape)}" for n in model.inputs)
    twice = (op for op in model.operators if op.code in VIEWS and op.outputs[0] in outputs)
    if any(op.inputs[0] in written and written[op.inputs[0]].code in VIEWS for op in twice):
        yield "output is view of a view"


def _file(model: Model) -> Iterator[str]:
    names = [tensor.name for tensor in model.tensors]
    used = {n for op in model.operators for n in (*op.inputs, *op.outputs)}
    used |= {*model.inputs, *model.outputs}
    facts = {
        "no name": None in names,
        "empty name": "" in names,
        "equal names": len(set(names)) < len(names),
        "name beyond ASCII": any(name and not name.isascii() for name in names),
        "extent that may change": any(tensor.signature for tensor in model.tensors),
        "unused tensor": len(used - {-1}) < len(model.tensors),
        "unused kind": bool(model.unused),
        "metadata": bool(model.metadata),
    }
    yield from (name for name, present in facts.items() if present)


def _variables(model: Model) -> Iterator[str]:
    handles = [op.outputs[0] for op in model.operators if op.code == "VAR_HANDLE"]
    read = {op.inputs[0]: op.outputs[0] for op in model.operators if op.code == "READ_VARIABLE"}
    kinds = [(model.tensors[n].shape, model.tensors[n].scales) for n in read.values()]
    if len(set(kinds)) < len(handles):
        yield "variables of one kind"
    changed = set[int]()
    for op in model.operators:
        if op.code == "ASSIGN_VARIABLE":
            changed.add(op.inputs[0])
            yield from ("variable becomes input" for n in op.inputs if n in model.inputs)
            yield from ("variable becomes output" for n in op.inputs if n in model.outputs)
        if op.code == "READ_VARIABLE" and op.inputs[0] in changed:
            yield "variable read behind an assignment"


def _operators(model: Model) -> Iterator[str]:
    readers = readers_of(model)
    written = {number: op.code for op in model.operators for number in op.outputs}
    for op in model.operators:
        yield op.code
        yield from _types(model, op)
        if op.code in LOOKUPS and op.inputs[1] in written:
            yield f"{op.code} of computed indices"
        if op.code == "IF" and op.inputs[0] in written:
            yield "IF of a computed condition"
        if op.code == "SELECT_V2" and written.get(op.inputs[0], "").startswith("LOGICAL"):
            yield "truths to SELECT_V2"
        if op.code in COMPUTED and model.tensors[op.inputs[COMPUTED[op.code]]].data is None:
            yield f"{op.code} of a computed {'value' if op.code == 'PADV2' else 'filter'}"
        if op.code == "RESHAPE" and len(op.inputs) > 1 and op.inputs[1] in written:
            yield "RESHAPE to a computed shape"
        yield f"activation {op.options.get('FusedActivationFunction', 0)}"
        yield from _operands(model, op)
        if op.code in WINDOWS:
            yield f"{op.code} {'VALID' if op.options['Padding'] else 'SAME'}"
            yield f"stride {op.options['StrideH']}"
            yield f"dilation {op.options.get('DilationHFactor', 1)}"
            yield f"depth multiplier {op.options.get('DepthMultiplier', 1)}"
    if any(len(set(map(id, each))) > 1 for each in readers.values()):
        yield "branch"


def _types(model: Model, op: Operator) -> Iterator[str]:
    known = [model.tensors[number] for number in op.inputs if number >= 0]
    activations = {tensor.dtype for tensor in known if tensor.data is None}
    yield from (f"{op.code} of {dtype}" for dtype in activations - {"int8"})
    yield from (f"{op.code} of int4" for tensor in known if tensor.dtype == "int4")
    for number in op.outputs:
        if op.code in ("CAST", "QUANTIZE", "SOFTMAX"):
            yield f"{op.code} to {model.tensors[number].dtype}"
        if op.code == "QUANTIZE" and known[0].dtype == "float32":
            yield f"QUANTIZE of float32 to {model.tensors[number].dtype}"
        if model.tensors[number].shape[-1:] > (MANY_CHANNELS,):
            yield f"{op.code} of many channels"


def _operands(model: Model, op: Operator) -> Iterator[str]:
    shapes = [model.tensors[number].shape for number in op.inputs if number >= 0]
    if op.code in ("ADD", "MUL", "CONCATENATION") and len(set(op.inputs)) < len(op.inputs):
        yield f"{op.code} of one tensor twice"
    if op.code in ("ADD", "MUL") and len(set(shapes)) > 1:
        yield f"{op.code} broadcast"
        if prod(shapes[0]) < prod(shapes[1]):
            yield f"{op.code} broadcast first"
    computed = [n for n in op.inputs if n >= 0 and model.tensors[n].data is None]
    image = model.tensors[computed[0]].shape if computed else ()
    if len(image) == 4 and image[0] > 1:
        yield f"{op.code} of a batch"
    if op.inputs and all(model.tensors[number].data is not None for number in op.inputs):
        yield "operator on constants"


def _constants(model: Model) -> Iterator[str]:
    for number, tensor in enumerate(model.tensors):
        if tensor.shares is not None:
            yield "shared buffer"
        if len(readers_of(model).get(number, ())) > 1 and tensor.data is not None:
            yield "shared constant"
        if len(tensor.scales) > 1:
            yield "scales per channel"
        if len(tensor.scales) > 1 and min(tensor.scales) < LEAST_COUNTED:
            yield "channel that hardly counts"
        if tensor.scales and not LEAST_USUAL < min(tensor.scales) < GREATEST_USUAL:
            yield "extreme scale"
        if len(tensor.scales) == 1 and tensor.zero_points[0] in EDGE_POINTS:
            yield f"zero point {tensor.zero_points[0]}"
