# SPDX-License-Identifier: Apache-2.0
"""A network as text that a person can read."""

from tests.tflite_builder import Model, Operator, Tensor


def text_of(model: Model) -> str:
    """List inputs, constants, operators and outputs; tensors are %0, %1, ... as in the file."""
    written = {number for op in model.operators for number in op.outputs}
    read = {number for op in model.operators for number in op.inputs} | set(model.outputs)
    lines = [f"input {_tensor(model, number)}" for number in model.inputs]
    constants = sorted(read - written - set(model.inputs) - {-1})
    lines += [f"constant {_tensor(model, n)}{_values(model.tensors[n])}" for n in constants]
    lines += [_operator(model, op) for op in model.operators]
    lines.append(f"outputs {', '.join(f'%{number}' for number in model.outputs)}")
    for number, each in enumerate(model.others, 1):
        lines += [f"subgraph {number}", *(f"  {line}" for line in text_of(each).splitlines())]
    return "\n".join(lines)


def readers_of(model: Model) -> dict[int, list[Operator]]:
    """Map tensors to the operators that read them, twice where an operator reads one twice."""
    readers: dict[int, list[Operator]] = {}
    for op in model.operators:
        for number in op.inputs:
            readers.setdefault(number, []).append(op)
    return readers


def _operator(model: Model, op: Operator) -> str:
    results = ", ".join(_tensor(model, number) for number in op.outputs)
    operands = ", ".join("none" if number < 0 else f"%{number}" for number in op.inputs)
    options = ", ".join(f"{key}={value}" for key, value in op.options.items())
    return f"{results} = {op.code}({operands}) {{{options}}}"


def _tensor(model: Model, number: int) -> str:
    tensor = model.tensors[number]
    text = f"%{number}: {tensor.dtype}[{'x'.join(map(str, tensor.shape)) or 'scalar'}]"
    if len(tensor.scales) == 1:
        text += f" scale {tensor.scales[0]:.9g} zero {tensor.zero_points[0]}"
    elif tensor.scales:
        text += f" {len(tensor.scales)} scales along {tensor.axis}"
    return text


def _values(tensor: Tensor) -> str:
    if tensor.shares is not None:
        return f" in the buffer of %{tensor.shares}"
    few = tensor.data is not None and tensor.data.size <= 8
    return f" = {tensor.data.tolist()}" if few and tensor.data is not None else ""
