"""Which refusals the documents announce for what a network holds."""

from tests.tflite_builder import Model

LEAST_SCALE, GREATEST_SCALE = 1e-5, 10.0
PORT_TYPES = ("int8", "int16", "int32", "int64")


def refusals(model: Model) -> frozenset[str]:
    """Return the codes of all faults that Atoll may report of a network."""
    reasons = {"E054": _absurd_scales(model), "E055": _odd_interface(model)}
    return frozenset(code for code, given in reasons.items() if given)


def _absurd_scales(model: Model) -> bool:
    """Tell of scales with which a factor may leave what 31 bits and a shift can hold."""
    numbers = {number for op in model.operators for number in (*op.inputs, *op.outputs)}
    scales = [scale for n in numbers if n >= 0 for scale in model.tensors[n].scales]
    return bool(scales) and not LEAST_SCALE < min(scales) <= max(scales) < GREATEST_SCALE


def _odd_interface(model: Model) -> bool:
    """Tell of networks that compute nothing, constant outputs, and ports of types without use."""
    floats = {n for n, tensor in enumerate(model.tensors) if tensor.dtype == "float32"}
    computing = [op for op in model.operators if not floats & {*op.inputs, *op.outputs}]
    read = {number for op in model.operators for number in op.inputs}
    unused = {model.tensors[number].dtype for number in set(model.inputs) - read}
    ports = {*model.outputs, *(op.inputs[0] for op in model.operators if op.code == "DEQUANTIZE")}
    written = {number for op in model.operators for number in op.outputs}
    constant = not ports.issubset(written.union(model.inputs))
    return not computing or constant or not unused.issubset(PORT_TYPES)
