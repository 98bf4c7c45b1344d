#!/usr/bin/env bash
# TensorFlow Lite for Microcontrollers: ADD of int32 drops its fused activation; SUB and MUL keep theirs.
#
# Packages: tflite-micro 0.dev20261012203412, tflite 2.18.0, flatbuffers 25.12.19, numpy 2.2.6.
# Expected: three element-by-element kernels with one options field treat RELU alike, in every type.
# Seen: of the operands -3 and 1 (int32), ADD with RELU is -2, SUB is 0, MUL is 0, all with status 0.
# So: an importer that follows the kernels has to drop the activation of one of the three, and one
#   that follows TensorFlow Lite, which clamps, differs from the device.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  tflite-micro==0.dev20261012203412 tflite==2.18.0 flatbuffers==25.12.19 numpy==2.2.6
"$folder/venv/bin/python" - <<'PY'
import flatbuffers
import numpy as np
import tflite
from tflite_micro import runtime

RELU = tflite.ActivationFunctionType.RELU


def offsets(b, items):
    b.StartVector(4, len(items), 4)
    for item in reversed(items):
        b.PrependUOffsetTRelative(item)
    return b.EndVector()


def network(kind):
    """Return a file of one operator on two int32 inputs of one element, clamped by RELU."""
    b = flatbuffers.Builder(512)
    tflite.BufferStart(b)
    buffers = offsets(b, [tflite.BufferEnd(b)])
    tensors = []
    for name in ("a", "b", "y"):
        text, shape = b.CreateString(name), b.CreateNumpyVector(np.array([1], np.int32))
        tflite.TensorStart(b)
        tflite.TensorAddShape(b, shape)
        tflite.TensorAddType(b, tflite.TensorType.INT32)
        tflite.TensorAddName(b, text)
        tensors.append(tflite.TensorEnd(b))
    options = f"{kind.capitalize()}Options"
    getattr(tflite, f"{options}Start")(b)
    getattr(tflite, f"{options}AddFusedActivationFunction")(b, RELU)
    chosen = getattr(tflite, f"{options}End")(b)
    inputs = b.CreateNumpyVector(np.array([0, 1], np.int32))
    outputs = b.CreateNumpyVector(np.array([2], np.int32))
    tflite.OperatorStart(b)
    tflite.OperatorAddInputs(b, inputs)
    tflite.OperatorAddOutputs(b, outputs)
    tflite.OperatorAddBuiltinOptionsType(b, getattr(tflite.BuiltinOptions, options))
    tflite.OperatorAddBuiltinOptions(b, chosen)
    operators, tensors = offsets(b, [tflite.OperatorEnd(b)]), offsets(b, tensors)
    tflite.SubGraphStart(b)
    tflite.SubGraphAddTensors(b, tensors)
    tflite.SubGraphAddInputs(b, inputs)
    tflite.SubGraphAddOutputs(b, outputs)
    tflite.SubGraphAddOperators(b, operators)
    graphs = offsets(b, [tflite.SubGraphEnd(b)])
    code = getattr(tflite.BuiltinOperator, kind)
    tflite.OperatorCodeStart(b)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(b, code)
    tflite.OperatorCodeAddBuiltinCode(b, code)
    tflite.OperatorCodeAddVersion(b, 1)
    codes = offsets(b, [tflite.OperatorCodeEnd(b)])
    tflite.ModelStart(b)
    tflite.ModelAddVersion(b, 3)
    tflite.ModelAddOperatorCodes(b, codes)
    tflite.ModelAddSubgraphs(b, graphs)
    tflite.ModelAddBuffers(b, buffers)
    b.Finish(tflite.ModelEnd(b), file_identifier=b"TFL3")
    return bytes(b.Output())


seen = {}
for kind in ("ADD", "SUB", "MUL"):
    interpreter = runtime.Interpreter.from_bytes(network(kind), arena_size=1 << 16)
    interpreter.set_input(np.array([-3], np.int32), 0)
    interpreter.set_input(np.array([1], np.int32), 1)
    interpreter.invoke()
    seen[kind] = int(interpreter.get_output(0)[0])
print("RELU of -3 and 1:", seen)
assert seen == {"ADD": -2, "SUB": 0, "MUL": 0}, "CHANGED"
PY
