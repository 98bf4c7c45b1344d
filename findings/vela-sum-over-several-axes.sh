#!/usr/bin/env bash
# Vela: a SUM over several axes sums over the first one alone, and writes past its tensor.
#
# Packages: ethos-u-vela 5.2.0, tflite 2.18.0, flatbuffers 25.12.19, numpy 2.4.6.
# Expected: SUM of 1x6x6x8 values over axes 1 and 2 makes 8 values, or the operator is left to the
#   CPU. Among the constraints of SUM in Vela's own report (--supported-ops-report), none is about
#   axes.
# Seen: Vela puts SUM on the NPU without a warning, and its command writes the result of the first
#   axis: 48 values into a tensor of 8. Axes 1 and 3, given so or as -3 and -1, and 2 and 3 are
#   alike; 3 and 1 make 36 values of 6. One axis is right. Ethos-U55, U65 and U85 are alike.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
  ethos-u-vela==5.2.0 tflite==2.18.0 flatbuffers==25.12.19 numpy==2.4.6
venv/bin/python - <<'PY'
import math
import re
import subprocess
import sys

import flatbuffers
import numpy as np
import tflite


SHAPE = (1, 6, 6, 8)


def write(name, axes, result):
    b = flatbuffers.Builder(512)

    def offsets(items):
        b.StartVector(4, len(items), 4)
        for item in reversed(items):
            b.PrependUOffsetTRelative(item)
        return b.EndVector()

    def numbers(*each):
        return b.CreateNumpyVector(np.array(each, np.int32))

    data = b.CreateNumpyVector(np.array(axes, np.int32).view(np.uint8))
    tflite.BufferStart(b)
    empty = tflite.BufferEnd(b)
    tflite.BufferStart(b)
    tflite.BufferAddData(b, data)
    buffers = offsets([empty, tflite.BufferEnd(b)])
    tensors = []
    for label, shape in (("x", SHAPE), ("axes", (len(axes),)), ("y", result)):
        text, dims = b.CreateString(label), numbers(*shape)
        scale = b.CreateNumpyVector(np.array([0.05], np.float32))
        zero = b.CreateNumpyVector(np.array([0]))
        tflite.QuantizationParametersStart(b)
        tflite.QuantizationParametersAddScale(b, scale)
        tflite.QuantizationParametersAddZeroPoint(b, zero)
        grid = tflite.QuantizationParametersEnd(b)
        constant = label == "axes"
        tflite.TensorStart(b)
        tflite.TensorAddShape(b, dims)
        tflite.TensorAddType(b, tflite.TensorType.INT32 if constant else tflite.TensorType.INT8)
        tflite.TensorAddBuffer(b, int(constant))
        tflite.TensorAddName(b, text)
        if not constant:
            tflite.TensorAddQuantization(b, grid)
        tensors.append(tflite.TensorEnd(b))
    tflite.ReducerOptionsStart(b)
    tflite.ReducerOptionsAddKeepDims(b, False)
    table = tflite.ReducerOptionsEnd(b)
    inputs, outputs = numbers(0, 1), numbers(2)
    tflite.OperatorStart(b)
    tflite.OperatorAddInputs(b, inputs)
    tflite.OperatorAddOutputs(b, outputs)
    tflite.OperatorAddBuiltinOptionsType(b, tflite.BuiltinOptions.ReducerOptions)
    tflite.OperatorAddBuiltinOptions(b, table)
    operators, tensors = offsets([tflite.OperatorEnd(b)]), offsets(tensors)
    inputs, outputs = numbers(0), numbers(2)
    tflite.SubGraphStart(b)
    tflite.SubGraphAddTensors(b, tensors)
    tflite.SubGraphAddInputs(b, inputs)
    tflite.SubGraphAddOutputs(b, outputs)
    tflite.SubGraphAddOperators(b, operators)
    graphs = offsets([tflite.SubGraphEnd(b)])
    tflite.OperatorCodeStart(b)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(b, tflite.BuiltinOperator.SUM)
    tflite.OperatorCodeAddBuiltinCode(b, tflite.BuiltinOperator.SUM)
    tflite.OperatorCodeAddVersion(b, 1)
    codes, text = offsets([tflite.OperatorCodeEnd(b)]), b.CreateString(name)
    tflite.ModelStart(b)
    tflite.ModelAddVersion(b, 3)
    tflite.ModelAddOperatorCodes(b, codes)
    tflite.ModelAddSubgraphs(b, graphs)
    tflite.ModelAddDescription(b, text)
    tflite.ModelAddBuffers(b, buffers)
    b.Finish(tflite.ModelEnd(b), file_identifier=b"TFL3")
    open(f"{name}.tflite", "wb").write(b.Output())


SUMS = {(1,): 48, (2,): 48, (3,): 36, (1, 2): 48, (1, 3): 48, (-3, -1): 48, (2, 3): 48, (3, 1): 36}
for npu in ("ethos-u55-128", "ethos-u65-256", "ethos-u85-256"):
    for axes, seen in SUMS.items():
        kept = [size for at, size in enumerate(SHAPE) if at not in {axis % 4 for axis in axes}]
        write("sum", axes, kept)
        command = ("venv/bin/vela", "sum.tflite", "--accelerator-config", npu)
        said = subprocess.run(
            (*command, "--verbose-high-level-command-stream"),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        if "Warning: " in said.replace("Warning: No ", "") or "CPU operators = 0 " not in said:
            sys.exit(f"CHANGED: {npu} leaves SUM over {axes} to the CPU, or warns")
        *_, written = re.findall(r"OFM: y, \[([0-9, ]+)\]", said)
        values = math.prod(map(int, written.split(",")))
        print(f"{npu}, axes {axes}: {values} values written, the tensor has {math.prod(kept)}")
        if values != seen:
            sys.exit("CHANGED")
PY
