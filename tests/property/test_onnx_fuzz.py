# SPDX-License-Identifier: Apache-2.0
"""A mutated ONNX file ends in a plan or in a message of Atoll, from front end to planner."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic

import numpy as np
import onnx
import pytest
from tests.effort import cases, in_gate
from tests.limits import within_limits
from tests.onnx_builder import Builder
from tests.onnx_cases import CASES
from tests.property.test_model_fuzz import DAMAGES, pick, planned
from tests.unit.frontend.test_onnx_qoperators import CASES as QOPERATORS

from atoll.diagnostics.errors import ModelError
from atoll.frontend.onnx.worker import settler

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_qdq.onnx"
ROUNDS = cases(10)
PER_ROUND = 100

NUMBERS = (0, 1, 2, 3, 5, -1, -2, 7, 1000, 65536, 2**31 - 1, -(2**31), 2**40, -(2**63), 2**63 - 1)
REALS = (0.0, -0.0, 1.0, -1.0, 1e-38, 1e30, float("inf"), float("nan"))
OPERATORS = (
    "Relu",
    "Add",
    "Conv",
    "Reshape",
    "Softmax",
    "Concat",
    "Loop",
    "Identity",
    "Gemm",
    "Shape",
)

Chance = np.random.Generator


def other_attribute(model: onnx.ModelProto, rng: Chance) -> None:
    found = [each for node in model.graph.node for each in node.attribute]
    if not found:
        return
    each = pick(found, rng)
    if each.ints:
        each.ints[int(rng.integers(len(each.ints)))] = pick(NUMBERS, rng)
        if rng.integers(4) == 0:
            each.ints.append(pick(NUMBERS, rng))
    elif each.type == onnx.AttributeProto.FLOAT:
        each.f = pick(REALS, rng)
    elif each.type == onnx.AttributeProto.STRING:
        each.s = pick((b"", b"SAME_UPPER", b"linear", b"cubic", b"\xff\x00"), rng)
    else:
        each.i = pick(NUMBERS, rng)


def other_type_of_attribute(model: onnx.ModelProto, rng: Chance) -> None:
    node = pick(model.graph.node, rng)
    name = pick(("axis", "perm", "group", "kernel_shape", "pads", "alpha", "to", "axes"), rng)
    value = pick((1, -7, 1.5, "text", [1, 2], [0.5], [2**40] * 9), rng)
    for at in reversed([at for at, each in enumerate(node.attribute) if each.name == name]):
        del node.attribute[at]
    node.attribute.append(onnx.helper.make_attribute(name, value))


def other_constant(model: onnx.ModelProto, rng: Chance) -> None:
    tensor = pick(model.graph.initializer, rng)
    try:
        array = np.array(onnx.numpy_helper.to_array(tensor))
    except (ValueError, TypeError, KeyError):
        return  # changed before
    values = REALS if array.dtype.kind == "f" else NUMBERS
    with np.errstate(all="ignore"):
        array.reshape(-1)[: 1 + int(rng.integers(3))] = np.array(pick(values, rng)).astype(
            array.dtype
        )
    tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))


def other_extent(model: onnx.ModelProto, rng: Chance) -> None:
    if rng.integers(2):
        tensor = pick(model.graph.initializer, rng)
        tensor.dims.append(pick(NUMBERS, rng))
        return
    dimensions = pick(model.graph.input, rng).type.tensor_type.shape.dim
    pick(dimensions, rng).dim_value = pick(NUMBERS, rng)


def other_type(model: onnx.ModelProto, rng: Chance) -> None:
    if rng.integers(2):
        pick(model.graph.input, rng).type.tensor_type.elem_type = int(rng.integers(0, 27))
    else:
        pick(model.graph.initializer, rng).data_type = int(rng.integers(0, 27))


def other_operand(model: onnx.ModelProto, rng: Chance) -> None:
    node = pick(model.graph.node, rng)
    names = ["", *(name for each in model.graph.node for name in (*each.input, *each.output))]
    if node.input and rng.integers(4):
        node.input[int(rng.integers(len(node.input)))] = pick(names, rng)
    elif rng.integers(2):
        node.input.append(pick(names, rng))
    else:
        node.output[0] = pick(names, rng)


def other_operator(model: onnx.ModelProto, rng: Chance) -> None:
    node = pick(model.graph.node, rng)
    node.op_type = pick((*OPERATORS, *CASES, "Nothing"), rng).split()[0]


def other_nodes(model: onnx.ModelProto, rng: Chance) -> None:
    nodes = list(model.graph.node)
    at = int(rng.integers(len(nodes)))
    other = [*nodes[:at], *nodes[at + 1 :]] if rng.integers(2) else [*nodes, nodes[at]]
    if rng.integers(4) == 0:
        rng.shuffle(other)
    kept = [onnx.NodeProto.FromString(each.SerializeToString()) for each in other]
    del model.graph.node[:]
    model.graph.node.extend(kept)


def other_version(model: onnx.ModelProto, rng: Chance) -> None:
    pick(model.opset_import, rng).version = int(rng.integers(10, 28))


CHANGES: tuple[Callable[[onnx.ModelProto, Chance], None], ...] = (
    other_attribute,
    other_type_of_attribute,
    other_constant,
    other_extent,
    other_type,
    other_operand,
    other_operator,
    other_nodes,
    other_version,
)


def original(rng: Chance) -> bytes:
    """Return the digits network, or one of an operator."""
    if rng.integers(4) == 0:
        return DIGITS.read_bytes()
    b = Builder(int(rng.integers(1000)))
    if rng.integers(4) == 0:
        return b.model([QOPERATORS[pick([*QOPERATORS], rng)](b, "int8")])
    real = CASES[pick([*CASES], rng)](b)
    return b.model([b.quantized(real, b.grid())])


class Guarded:
    """Settles files in one process after the other, a new one where a file has ended the last."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._settled: Callable[[bytes], bytes] | None = None

    @contextmanager
    def settler(self) -> Iterator[Callable[[bytes], bytes]]:
        if self._settled is None:
            self._settled = self._stack.enter_context(settler())
        try:
            yield self._settled
        except ModelError as error:
            if "'onnx'" in str(error):
                self.close()
            raise

    def close(self) -> None:
        self._stack.close()
        self._settled = None


@pytest.fixture(autouse=True)
def guarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Start one process for all files of a test, which takes longer than they do."""
    many = Guarded()
    monkeypatch.setattr("atoll.frontend.onnx.front_end.settler", many.settler)
    yield
    many.close()


def mutated(model: bytes, rng: Chance) -> bytes:
    made = onnx.load_from_string(model)
    for _ in range(int(rng.integers(1, 3))):
        pick(CHANGES, rng)(made, rng)
    return bytes(made.SerializeToString())


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_damaged_files(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    path, accepted = tmp_path / "mutated.onnx", 0
    for number in range(PER_ROUND):
        data = bytearray(original(rng))
        DAMAGES[number % len(DAMAGES)](data, rng)
        path.write_bytes(data)
        with within_limits(monotonic):
            accepted += planned(path)
    assert 0 < accepted < PER_ROUND


@pytest.mark.parametrize("seed", in_gate(range(ROUNDS), 0))
def test_whole_files_of_changed_models(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    path, accepted = tmp_path / "mutated.onnx", 0
    for _ in range(PER_ROUND):
        path.write_bytes(mutated(original(rng), rng))
        with within_limits(monotonic):
            accepted += planned(path)
    assert 0 < accepted < PER_ROUND
