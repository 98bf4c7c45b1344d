#!/usr/bin/env bash
# Vela: on Ethos-U55 one comparison ends the compile of a whole network.
#
# Packages: ethos-u-vela 5.2.0, tflite 2.18.0, flatbuffers 25.12.19, numpy 2.2.6.
# Expected: an operator that the NPU does not have is left to the CPU, and the rest is compiled. Vela
#   itself warns "operator: LESS ... Reason: Unsupported opType", which is how such operators begin.
# Seen: RELU, then LESS of its result and the input. For Ethos-U85 Vela writes the network. For
#   Ethos-U55 it ends in "Non-passthrough operation (And) could not run on NPU", an operation that the
#   network does not have, and writes nothing: RELU loses the NPU too. EQUAL, NOT_EQUAL, GREATER,
#   GREATER_EQUAL and LESS_EQUAL end likewise.
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

COMPARISONS = {
    "EQUAL": "Equal",
    "NOT_EQUAL": "NotEqual",
    "GREATER": "Greater",
    "GREATER_EQUAL": "GreaterEqual",
    "LESS": "Less",
    "LESS_EQUAL": "LessEqual",
}


def write(comparison, options):
    b = flatbuffers.Builder(512)

    def offsets(items):
        b.StartVector(4, len(items), 4)
        for item in reversed(items):
            b.PrependUOffsetTRelative(item)
        return b.EndVector()

    def numbers(*each):
        return b.CreateNumpyVector(np.array(each, np.int32))

    tflite.BufferStart(b)
    buffers = offsets([tflite.BufferEnd(b)])
    tensors = []
    for name, kind in (("x", "INT8"), ("relu", "INT8"), ("y", "BOOL")):
        text, shape = b.CreateString(name), numbers(1, 4, 4, 16)
        scale = b.CreateNumpyVector(np.array([0.05], np.float32))
        zero = b.CreateNumpyVector(np.array([0]))
        tflite.QuantizationParametersStart(b)
        tflite.QuantizationParametersAddScale(b, scale)
        tflite.QuantizationParametersAddZeroPoint(b, zero)
        grid = tflite.QuantizationParametersEnd(b)
        tflite.TensorStart(b)
        tflite.TensorAddShape(b, shape)
        tflite.TensorAddType(b, getattr(tflite.TensorType, kind))
        tflite.TensorAddName(b, text)
        if kind == "INT8":
            tflite.TensorAddQuantization(b, grid)
        tensors.append(tflite.TensorEnd(b))
    getattr(tflite, f"{options}OptionsStart")(b)
    table = getattr(tflite, f"{options}OptionsEnd")(b)
    operators = []
    for code, (reads, writes) in enumerate((((0,), (1,)), ((1, 0), (2,)))):
        inputs, outputs = numbers(*reads), numbers(*writes)
        tflite.OperatorStart(b)
        tflite.OperatorAddOpcodeIndex(b, code)
        tflite.OperatorAddInputs(b, inputs)
        tflite.OperatorAddOutputs(b, outputs)
        if code:
            kind = getattr(tflite.BuiltinOptions, f"{options}Options")
            tflite.OperatorAddBuiltinOptionsType(b, kind)
            tflite.OperatorAddBuiltinOptions(b, table)
        operators.append(tflite.OperatorEnd(b))
    operators, tensors = offsets(operators), offsets(tensors)
    inputs, outputs = numbers(0), numbers(2)
    tflite.SubGraphStart(b)
    tflite.SubGraphAddTensors(b, tensors)
    tflite.SubGraphAddInputs(b, inputs)
    tflite.SubGraphAddOutputs(b, outputs)
    tflite.SubGraphAddOperators(b, operators)
    graphs = offsets([tflite.SubGraphEnd(b)])
    codes = []
    for version, name in ((1, "RELU"), (2, comparison)):
        number = getattr(tflite.BuiltinOperator, name)
        tflite.OperatorCodeStart(b)
        tflite.OperatorCodeAddDeprecatedBuiltinCode(b, number)
        tflite.OperatorCodeAddBuiltinCode(b, number)
        tflite.OperatorCodeAddVersion(b, version)
        codes.append(tflite.OperatorCodeEnd(b))
    codes, text = offsets(codes), b.CreateString(comparison)
    tflite.ModelStart(b)
    tflite.ModelAddVersion(b, 3)
    tflite.ModelAddOperatorCodes(b, codes)
    tflite.ModelAddSubgraphs(b, graphs)
    tflite.ModelAddDescription(b, text)
    tflite.ModelAddBuffers(b, buffers)
    b.Finish(tflite.ModelEnd(b), file_identifier=b"TFL3")
    open(f"{comparison}.tflite", "wb").write(b.Output())


for each in COMPARISONS.items():
    write(*each)
PY
for network in *.tflite; do
  name=${network%.tflite}
  venv/bin/vela "$network" --accelerator-config ethos-u85-256 --output-dir u85 >u85_said 2>&1 &&
    test -e "u85/${name}_vela.tflite" || { echo "CHANGED: $name is not compiled for U85"; exit 1; }
  status=0
  venv/bin/vela "$network" --accelerator-config ethos-u55-128 --output-dir u55 >said 2>&1 || status=$?
  echo "$name: U85 written, U55 ended with status $status: $(tail -1 said)"
  test "$status" != 0 || { echo "CHANGED: $name is compiled for U55"; exit 1; }
  grep -q "Reason: Unsupported opType" said || { echo "CHANGED: no warning"; exit 1; }
  grep -q "(And) could not run on NPU" said || { echo "CHANGED: another reason"; exit 1; }
  test ! -e "u55/${name}_vela.tflite" || { echo "CHANGED: a network is written"; exit 1; }
done
