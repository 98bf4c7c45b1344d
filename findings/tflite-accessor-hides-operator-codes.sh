#!/usr/bin/env bash
# The accessor BuiltinCode() of the PyPI package tflite answers with another field of the file.
#
# Packages: tflite 2.18.0, flatbuffers 25.12.19.
# Expected: as with every accessor that flatc makes, OperatorCode.BuiltinCode() returns field
#   builtin_code. The schema keeps deprecated_builtin_code beside it for old readers, and a writer
#   that states builtin_code alone is valid: C++ readers take the larger of both.
# Seen: where builtin_code is below 127 the accessor returns deprecated_builtin_code, which is then 0:
#   LOGISTIC (14) reads as ADD (0). From 127 on it returns builtin_code. max() over the two
#   accessors, as C++ has it, does not help: both return the same field.
# So: read slot 3 of the table.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tflite==2.18.0 flatbuffers==25.12.19
"$folder/venv/bin/python" - <<'PY'
import flatbuffers
import tflite
from flatbuffers.number_types import Int32Flags


def read(code):
    builder = flatbuffers.Builder(64)
    tflite.OperatorCodeStart(builder)
    tflite.OperatorCodeAddBuiltinCode(builder, code)
    builder.Finish(tflite.OperatorCodeEnd(builder))
    table = tflite.OperatorCode.GetRootAs(builder.Output())
    raw = table._tab.Get(Int32Flags, table._tab.Pos + table._tab.Offset(4 + 2 * 3))
    return raw, table.BuiltinCode(), table.DeprecatedBuiltinCode()


logistic, gelu = tflite.BuiltinOperator.LOGISTIC, tflite.BuiltinOperator.GELU
for code in (logistic, gelu):
    print(f"written {code}: in the table {read(code)[0]}, BuiltinCode() {read(code)[1]}")
assert read(logistic) == (14, 0, 0), "CHANGED"
assert read(gelu)[:2] == (gelu, gelu), "CHANGED"
PY
