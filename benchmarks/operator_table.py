# SPDX-License-Identifier: Apache-2.0
"""Write the table of docs/operator-table.md: types that Atoll, TFLM and Vela take of operators.

Run as ``python -m benchmarks.operator_table CHECKOUT``; CHECKOUT is a folder with the sources of
tflite-micro, whose resolver names the operators. What Atoll and the wheel tflite-micro take is
tried: operators of the tests' sample networks with each type, and all cases of TFLM's own kernel
tests. What Vela takes is tried on files of one operator and type; without CHECKOUT these columns
alone are written.
"""

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from tests import element_samples, operator_samples, recurrent_samples, tflite_builder
from tests.tflite_builder import Model, Operator, Tensor, write
from tests.tflite_samples import every_operator

from atoll.cli.output import as_command
from atoll.diagnostics.errors import AtollError
from atoll.frontend.tflite.islands import FUNCTIONS
from atoll.frontend.tflite.load import load_tflite
from atoll.utils.scratch import temporary_folder
from benchmarks import vela_types
from benchmarks.tflm_tests.cases import collect
from benchmarks.tflm_tests.judging import EQUAL, INVALID, SCALED, apart, by_tflm, judge
from benchmarks.vela_types import types_by_npu

TABLE = Path(__file__).parents[1] / "docs" / "operator-table.md"
RESOLVER = "tensorflow/lite/micro/micro_mutable_op_resolver.h"
TYPES = ("int8", "int16", "int32", "int64", "bool", "float32")
SAMPLES = (
    every_operator,
    operator_samples.windows_and_reductions,
    operator_samples.moves,
    operator_samples.picks,
    operator_samples.sixteen_bits,
    element_samples.elements,
    element_samples.wide_elements,
    recurrent_samples.recurrent,
)
WIDE_RESULTS = {"LOGISTIC": 2.0**-15, "SOFTMAX": 2.0**-15, "TANH": 2.0**-15}
"""Scales of int16 results that kernels demand."""

LEFT_OUT = ("CALL_ONCE", "DEQUANTIZE", "READ_VARIABLE", "VAR_HANDLE")
"""Operators that Atoll takes and leaves out of the network, by the front end."""

ASSIGNED = ("ASSIGN_VARIABLE", "IF", "WHILE")
"""Operators that do not stand alone."""

INSIDE = "float32 inside"
"""What is said of operators that are computed as a table when a file is loaded."""

UNTRIED = {"not tried"}
"""What is said of Vela where there is no file with the operator alone."""

FIRST = "|---|---|---|---|---|\n"
"""What is above the rows."""

BY_RESULT = ("EMBEDDING_LOOKUP", "FILL", "SELECT_V2", "SPLIT", "TRANSPOSE_CONV")
"""Operators whose first input is a shape, an axis or a condition."""


def main() -> int:
    """Try all and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "checkout", type=Path, nargs="?", help="folder with the sources of tflite-micro"
    )
    checkout = parser.parse_args().checkout
    if checkout is None:
        return vela_alone()
    checkout = checkout.resolve()
    ours, theirs = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for (code, dtype, _), both in apart(try_model, [*trials()]):
        for types, taken_by in zip((ours, theirs), both or (False, False), strict=True):
            types[code] |= {dtype} if taken_by else set()
    found, _ = collect(checkout)
    for case, outcome in apart(judge, found):
        side = case.told["outputs" if case.code in BY_RESULT else "inputs"]
        dtype = case.runs[0][side[0]]["type"]
        kind = (outcome or (INVALID,))[0]
        theirs[case.code] |= {dtype} if kind != INVALID and dtype in TYPES else set()
        ours[case.code] |= {dtype} if kind in (EQUAL, SCALED) else set()
    registered = {*re.findall(r"BuiltinOperator_(\w+)", (checkout / RESOLVER).read_text())}
    ours |= {code: {"left out"} for code in LEFT_OUT} | {code: {"yes"} for code in ASSIGNED}
    for code in FUNCTIONS:
        ours[code] |= {INSIDE}
    vela = by_vela()
    codes = sorted(
        {*registered, *(code for code in ours if ours[code]), *filter(vela.get, vela)} - {"CUSTOM"}
    )
    lines = []
    for code in codes:
        wheel = theirs[code] or ({"yes"} if code in registered else set())
        columns = (ours[code], wheel, *vela.get(code, (UNTRIED, UNTRIED)))
        lines.append(row(code, *map(list_types, columns)))
    TABLE.write_text("".join((*TABLE.read_text().partition(FIRST)[:2], *lines)))
    return 0


def list_types(types: set[str]) -> str:
    """Return types in their usual order."""
    if types == {*TYPES[:5]}:
        return "all"
    return ", ".join(sorted(types, key=lambda each: [*TYPES, each].index(each)))


Trial = tuple[str, str, Model]


def trials() -> Iterator[Trial]:
    """Yield each operator of the sample networks alone, with each type in turn."""
    for sample in SAMPLES:
        model = sample(tflite_builder)
        for op in model.operators:
            main = main_type(model, op)
            if {model.tensors[at].dtype for at in (*op.inputs, *op.outputs)} - {*TYPES}:
                continue
            for dtype in TYPES if main in TYPES[:3] else (main,):
                for constants in (False, True):
                    yield op.code, dtype, alone(model, op, main, dtype, constants=constants)


def main_type(model: Model, op: Operator) -> str:
    """Return the type of the first input that is no constant and no condition, or of a result."""
    if op.code in BY_RESULT:
        return model.tensors[op.outputs[0]].dtype
    types = [model.tensors[at].dtype for at in op.inputs if at >= 0 and is_input(model, at)]
    return next((each for each in types if each != "bool"), (types or [""])[0])


def is_input(model: Model, at: int) -> bool:
    """Tell whether a tensor is given to an operator that stands alone."""
    return model.tensors[at].data is None and not model.tensors[at].variable


def alone(model: Model, op: Operator, main: str, dtype: str, *, constants: bool) -> Model:
    """Return an operator whose tensors of the main type, or constants too, have another one."""
    numbers = [at for at in dict.fromkeys((*op.inputs, *op.outputs, *op.intermediates)) if at >= 0]
    place = {at: index for index, at in enumerate(numbers)} | {-1: -1}
    tensors = []
    for at in numbers:
        tensor = model.tensors[at]
        changes = tensor.dtype == main and (tensor.data is None or constants)
        made = retype(tensor, dtype) if changes and dtype != main else tensor
        if dtype == "int16" and op.code in WIDE_RESULTS and at in op.outputs:
            made = replace(made, scales=(WIDE_RESULTS[op.code],))
        tensors.append(replace(made, name=f"t{at}", shares=None))
    inputs, outputs, others = (
        tuple(place[at] for at in each) for each in (op.inputs, op.outputs, op.intermediates)
    )
    given = [at for at in dict.fromkeys(op.inputs) if at >= 0 and is_input(model, at)]
    return Model(
        tensors=tuple(tensors),
        operators=(replace(op, inputs=inputs, outputs=outputs, intermediates=others),),
        inputs=tuple(place[at] for at in given),
        outputs=outputs,
    )


def retype(tensor: Tensor, dtype: str) -> Tensor:
    """Return a tensor in another type, with a zero point of 0 if it is quantised."""
    data = None if tensor.data is None else tensor.data.astype(dtype)
    scales = tensor.scales or (0.05,)
    quantised = dtype in ("int8", "int16")
    zeros = (0,) * len(scales)
    return replace(
        tensor,
        dtype=dtype,
        data=data,
        scales=scales if quantised else (),
        zero_points=zeros if quantised else (),
    )


def try_model(trial: Trial) -> tuple[bool, bool]:
    """Tell whether Atoll and the wheel take a model; of the wheel, whether it runs on ones."""
    _, _, model = trial
    theirs = True
    given = [model.tensors[at] for at in model.inputs]
    try:
        by_tflm(model, [[np.ones(each.shape, each.dtype) for each in given]])
    except (RuntimeError, ValueError):
        theirs = False
    return takes(model), theirs


def takes(model: Model) -> bool:
    """Tell whether Atoll takes a model."""
    with temporary_folder() as folder:
        path = folder / "model.tflite"
        path.write_bytes(write(model))
        try:
            load_tflite(path)
        except AtollError:
            return False
        return True


def by_vela() -> Mapping[str, tuple[set[str], set[str]]]:
    """Return the types of each operator that Vela places, on U55 and U65, and on U85."""
    found = types_by_npu((*trials(), *vela_types.trials()))
    apart = [code for code, types in found.items() if types["u55"] != types["u65"]]
    assert not apart, f"U55 and U65 get other types of {apart}"
    return {code: (types["u55"], types["u85"]) for code, types in found.items()}


def vela_alone() -> int:
    """Write what Vela places, and leave the other columns."""
    vela = by_vela()
    before, _, rows = TABLE.read_text().partition(FIRST)
    told = {}
    for line in rows.splitlines():
        code, ours, theirs = (cell.strip() for cell in line.split("|")[1:4])
        told[code] = (ours, theirs)
    codes = sorted({*told, *(code for code, types in vela.items() if any(types))})
    lines = (
        row(code, *told.get(code, ("", "")), *map(list_types, vela.get(code, (UNTRIED, UNTRIED))))
        for code in codes
    )
    TABLE.write_text("".join((before, FIRST, *lines)))
    return 0


def row(*cells: str) -> str:
    """Return a row of the table."""
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    sys.exit(as_command(main))
