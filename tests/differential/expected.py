"""Which refusals the documents announce for what a network holds."""

from tests.tflite_builder import Model

LEAST_SCALE, GREATEST_SCALE = 1e-5, 10.0


def refusals(model: Model) -> frozenset[str]:
    """Return the codes of all faults that Atoll may report of a network."""
    codes = set()
    numbers = [*model.inputs, *model.outputs]
    for op in model.operators:
        numbers += [*op.inputs, *op.outputs]
    used = [model.tensors[number] for number in sorted(set(numbers)) if number >= 0]
    scales = [scale for tensor in used for scale in tensor.scales]
    if scales and not LEAST_SCALE < min(scales) <= max(scales) < GREATEST_SCALE:
        codes.add("E054")
    if not model.operators:
        codes.add("E055")
    if _odd_outputs(model):
        codes.add("E052")
    return frozenset(codes)


def _odd_outputs(model: Model) -> bool:
    written = {number for op in model.operators for number in op.outputs}
    repeated = len(set(model.outputs)) < len(model.outputs)
    return repeated or not written.issuperset(model.outputs)
