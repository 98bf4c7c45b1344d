#!/usr/bin/env bash
# Vela: --separate-io-regions separates inputs from outputs, not the inputs from each other.
#
# Packages: ethos-u-vela 5.2.0, tflite 2.18.0, flatbuffers 25.12.19, numpy 2.2.6.
# Expected: each input and output of the NPU's operator has a region of its own, whose base address
#   the driver takes from the tensor. The help says "Use separate regions for input and output tensors".
# Seen: both inputs of an ADD are in region 3, the second at byte 64; the result is in region 4. The
#   offsets are chosen by Vela. A driver that gives each tensor a base address of its own, in their
#   order, has the NPU read other bytes, and nothing reports it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
  ethos-u-vela==5.2.0 tflite==2.18.0 flatbuffers==25.12.19 numpy==2.2.6
venv/bin/python - <<'PY'
import flatbuffers
import numpy as np
import tflite


def offsets(b, items):
    b.StartVector(4, len(items), 4)
    for item in reversed(items):
        b.PrependUOffsetTRelative(item)
    return b.EndVector()


b = flatbuffers.Builder(512)
tflite.BufferStart(b)
buffers = offsets(b, [tflite.BufferEnd(b)])
tensors = []
for name in ("a", "b", "y"):
    text, shape = b.CreateString(name), b.CreateNumpyVector(np.array([1, 2, 2, 16], np.int32))
    scale, zero = b.CreateNumpyVector(np.array([0.5], np.float32)), b.CreateNumpyVector(np.array([0]))
    tflite.QuantizationParametersStart(b)
    tflite.QuantizationParametersAddScale(b, scale)
    tflite.QuantizationParametersAddZeroPoint(b, zero)
    grid = tflite.QuantizationParametersEnd(b)
    tflite.TensorStart(b)
    tflite.TensorAddShape(b, shape)
    tflite.TensorAddType(b, tflite.TensorType.INT8)
    tflite.TensorAddName(b, text)
    tflite.TensorAddQuantization(b, grid)
    tensors.append(tflite.TensorEnd(b))
tflite.AddOptionsStart(b)
options = tflite.AddOptionsEnd(b)
inputs, outputs = (b.CreateNumpyVector(np.array(each, np.int32)) for each in ([0, 1], [2]))
tflite.OperatorStart(b)
tflite.OperatorAddInputs(b, inputs)
tflite.OperatorAddOutputs(b, outputs)
tflite.OperatorAddBuiltinOptionsType(b, tflite.BuiltinOptions.AddOptions)
tflite.OperatorAddBuiltinOptions(b, options)
operators, tensors = offsets(b, [tflite.OperatorEnd(b)]), offsets(b, tensors)
tflite.SubGraphStart(b)
tflite.SubGraphAddTensors(b, tensors)
tflite.SubGraphAddInputs(b, inputs)
tflite.SubGraphAddOutputs(b, outputs)
tflite.SubGraphAddOperators(b, operators)
graphs = offsets(b, [tflite.SubGraphEnd(b)])
tflite.OperatorCodeStart(b)
tflite.OperatorCodeAddVersion(b, 1)
codes = offsets(b, [tflite.OperatorCodeEnd(b)])
text = b.CreateString("two inputs")
tflite.ModelStart(b)
tflite.ModelAddVersion(b, 3)
tflite.ModelAddOperatorCodes(b, codes)
tflite.ModelAddSubgraphs(b, graphs)
tflite.ModelAddDescription(b, text)
tflite.ModelAddBuffers(b, buffers)
b.Finish(tflite.ModelEnd(b), file_identifier=b"TFL3")
open("add.tflite", "wb").write(b.Output())
PY
venv/bin/vela add.tflite --accelerator-config ethos-u55-128 --separate-io-regions --cop-format COP2 \
  --verbose-register-command-stream --output-dir out >said 2>&1
seen=$(grep -oE 'NPU_SET_(IFM2?|OFM)_(REGION|BASE0) .*' said | sed 's/  */ /')
echo "$seen"
for expected in 'IFM_REGION .*region = 3' 'IFM_BASE0 .*addr = 0x0' 'IFM2_REGION .*region = 3' \
  'IFM2_BASE0 .*addr = 0x40' 'OFM_REGION .*region = 4'; do
  grep -qE "NPU_SET_$expected" said || { echo "CHANGED: no $expected"; exit 1; }
done
