# SPDX-License-Identifier: Apache-2.0
"""Whatever an emitter lacks or does wrong is one coded error at the line that names it."""

from typing import Any

import pytest
from tests.effort import in_gate

EMITTER = r"^emitter: (.)"

# What is written as emitter: code and message; all of it is refused by `check` as well.
UNUSABLE = {
    "no_estimate": (
        "class Mine:\n    def prepare(self, op, graph, npu, splits): ...\n"
        "    def encode(self, op, graph, npu, address, splits): ...\n"
        "    def identity(self, npu): return {'ID': 1}\n",
        "[E110]: emitter 'mine:Mine' of accelerator 'mine' lacks "
        "'estimate_cycles(op, graph, npu, commands)'",
    ),
    "nothing": (
        "class Mine: ...\n",
        "[E110]: emitter 'mine:Mine' of accelerator 'mine' lacks 'prepare(op, graph, npu, splits)'",
    ),
    "attribute": (
        "class Mine(ReefEmitter):\n    encode = b''\n",
        "lacks 'encode(op, graph, npu, address, splits)'",
    ),
    "function": ("def Mine(): return ReefEmitter()\n", "is no class, but of type"),
    "instance": ("Mine = ReefEmitter()\n", "is no class, but of type"),
    "argument": (
        "class Mine(ReefEmitter):\n    def __init__(self, npu): ...\n",
        "[E110]: emitter 'mine:Mine' of accelerator 'mine' cannot be made: TypeError",
    ),
    "constructor": (
        "class Mine(ReefEmitter):\n    def __init__(self):\n        1 / 0\n",
        "cannot be made: ZeroDivisionError: division by zero (mine.py, line 10)",
    ),
    "abstract": (
        "import abc\nclass Mine(ReefEmitter, abc.ABC):\n"
        "    @abc.abstractmethod\n    def more(self): ...\n",
        "cannot be made: TypeError: Can't instantiate abstract class",
    ),
    "signature": (
        "class Mine(ReefEmitter):\n    def prepare(self, op, graph): ...\n",
        "[E110]: emitter 'mine:Mine' of accelerator 'mine' cannot be called as "
        "'prepare(op, graph, npu, splits)'",
    ),
    "import": ("import absent_package\n", "[E041]: cannot load 'mine:Mine': ModuleNotFoundError"),
    "syntax": ("class Mine(:\n", "[E041]: cannot load 'mine:Mine': SyntaxError"),
    "module_raises": (
        "raise RuntimeError('no licence')\n",
        "RuntimeError: no licence (mine.py, line 8)",
    ),
    "module_exits": ("import sys\nsys.exit(3)\n", "[E041]: cannot load 'mine:Mine': SystemExit: 3"),
    "no_attribute": ("class Other: ...\n", "[E041]: cannot load 'mine:Mine': AttributeError"),
    "identity_raises": (
        "class Mine(ReefEmitter):\n    def identity(self, npu):\n        return npu.absent\n",
        "[E111]: emitter 'mine:Mine' of accelerator 'mine' failed in 'identity' for 'npu': "
        "AttributeError: 'Npu' object has no attribute 'absent' (mine.py, line 10)",
    ),
    "identity_empty": (
        "class Mine(ReefEmitter):\n    def identity(self, npu): return {}\n",
        "[E112]: emitter 'mine:Mine' of accelerator 'mine': 'identity' returned {}, no mapping",
    ),
    "identity_list": (
        "class Mine(ReefEmitter):\n    def identity(self, npu): return [1]\n",
        "'identity' returned [1], no mapping",
    ),
    "identity_unknown": (
        "class Mine(ReefEmitter):\n    def identity(self, npu): return {'WHO': 1}\n",
        "'identity' returned 'WHO', which is no register of 'registers.map'",
    ),
    "identity_large": (
        "class Mine(ReefEmitter):\n    def identity(self, npu): return {'ID': 2**32}\n",
        "'identity' returned 4294967296 for 'ID', no value of 32 bits",
    ),
    "identity_text": (
        "class Mine(ReefEmitter):\n    def identity(self, npu): return {'ID': 'REEF'}\n",
        "'identity' returned 'REEF' for 'ID', no value of 32 bits",
    ),
}

# What only a network shows.
METHOD = "class Mine(ReefEmitter):\n    def {}:\n        {}\n"
PREPARE = "prepare(self, op, graph, npu, splits=1)"
ESTIMATE = "estimate_cycles(self, op, graph, npu, commands=0)"
ENCODE = "encode(self, op, graph, npu, address, splits=1)"
GOOD = "super().prepare(op, graph, npu, splits)"
JOB = f"return replace({GOOD}, {{}})"
WRONG = {
    "estimate_raises": (
        ESTIMATE,
        "return {}['cycles']",
        "[E111]: emitter 'mine:Mine' of accelerator 'mine' failed in 'estimate_cycles' for "
        "operator 'conv_2d_0' (CONV_2D): KeyError: 'cycles' (mine.py, line 10)",
    ),
    "estimate_exits": (ESTIMATE, "raise SystemExit", "failed in 'estimate_cycles'"),
    "estimate_recursion": (
        ESTIMATE,
        "return self.estimate_cycles(op, graph, npu)",
        "RecursionError",
    ),
    "estimate_none": (ESTIMATE, "pass", "'estimate_cycles' for operator 'conv_2d_0' (CONV_2D)"),
    "estimate_negative": (ESTIMATE, "return -1", "returned -1, no number of cycles"),
    "estimate_fraction": (ESTIMATE, "return 1.5", "returned 1.5, no number of cycles"),
    "estimate_truth": (ESTIMATE, "return True", "returned True, no number of cycles"),
    "estimate_text": (ESTIMATE, "return '12'", "returned '12', no number of cycles"),
    "prepare_raises": (PREPARE, "assert op.kind == 'add', op.kind", "AssertionError: conv_2d"),
    "prepare_none": (PREPARE, "pass", "returned None, no Job"),
    "prepare_dict": (PREPARE, "return {'operator': op.name}", "no Job"),
    "job_operator": (PREPARE, JOB.format("operator='x'"), "operator and device are 'x' and 'npu'"),
    "job_device": (PREPARE, JOB.format("device='cpu'"), "operator and device are"),
    "job_reads": (PREPARE, JOB.format("reads=('x',)"), "'reads' is ('x',), no tuple of inputs"),
    "job_reads_list": (PREPARE, JOB.format("reads=['image']"), "no tuple of inputs"),
    "job_reads_nothing": (PREPARE, JOB.format("reads=()"), "'reads' lacks the input 'image'"),
    "job_writes": (PREPARE, JOB.format("writes=()"), "'writes' is (), not the operator's outputs"),
    "job_constants": (PREPARE, JOB.format("constants=(b'',)"), "no Tensor with data"),
    "job_constant_name": (
        PREPARE,
        f"job = {GOOD}; return replace(job, constants=(replace(job.constants[0], name='image'),))",
        "constant 'image' has the name of a tensor of the network",
    ),
    "job_constant_size": (
        PREPARE,
        f"job = {GOOD}; return replace(job, constants=(replace(job.constants[0], data=b'1'),))",
        "has 1 bytes, its shape and type",
    ),
    "job_constant_type": (
        PREPARE,
        f"job = {GOOD}; return replace(job, constants=(replace(job.constants[0], dtype='int4'),))",
        "has the type 'int4'",
    ),
    "job_same_names": (
        PREPARE,
        JOB.format("commands='commands'"),
        "which another operator's job has",
    ),
    "job_no_commands": (PREPARE, JOB.format("commands=None"), "'commands' is None, no name"),
    "job_size": (PREPARE, JOB.format("commands_size=0"), "'commands_size' is 0, no number from 1"),
    "job_size_text": (PREPARE, JOB.format("commands_size='64'"), "'commands_size' is '64'"),
    "job_count": (PREPARE, JOB.format("commands_count=3"), "is not a multiple of 3 commands"),
    "job_alignment": (PREPARE, JOB.format("alignment=3"), "'alignment' is 3, no power of two"),
    "job_list_alignment": (PREPARE, JOB.format("commands_alignment=16"), "less than 64"),
    "job_overlaps": (PREPARE, JOB.format("overlaps=(1,)"), "'overlaps' holds 1, no SafeOverlap"),
    "encode_raises": (ENCODE, "return address('nowhere')", "asked for the address of 'nowhere'"),
    "encode_none": (ENCODE, "pass", "returned None, no bytes"),
    "encode_text": (ENCODE, "return 'x' * 64", "no bytes"),
    "encode_nothing": (ENCODE, "return b''", "0 bytes, where 'prepare' announced 1 to 64"),
    "encode_long": (ENCODE, "return bytes(128)", "128 bytes, where 'prepare' announced 1 to 64"),
    "encode_elsewhere": (
        ENCODE,
        "return super().encode(op, graph, npu, lambda name: address(name) ^ 1 << 28, splits)",
        "[E121]: command 0 of operator 'conv_2d_0' has 0x30",
    ),
    "encode_bus": (
        ENCODE,
        "return super().encode(op, graph, npu, lambda name: address(name) & 0xFFFF, splits)",
        "where 'npu' sees nothing that the operator touches",
    ),
    "encode_part": (ENCODE, "return bytes(7)", "7 bytes, not a multiple of 64 a command"),
}


CASES = [
    (name, command)
    for name in UNUSABLE
    for command in ("check", "plan", "build", "run")
    if command in ("check", "build") or not name.startswith("identity")
]


@pytest.mark.parametrize(("name", "command"), CASES)
def test_an_unusable_emitter(name: str, command: str, bench: Any, commands: Any) -> None:
    code, message = UNUSABLE[name]
    bench.emitter(code)
    said = bench.refusal(*commands[command])
    assert message in said
    assert said.startswith(f"{bench.place(EMITTER)}: error")


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("command", in_gate(["plan", "build"], 1))
def test_an_emitter_that_does_wrong(name: str, command: str, bench: Any, commands: Any) -> None:
    method, body, message = WRONG[name]
    bench.emitter(METHOD.format(method, body))
    said = bench.refusal(*commands[command])
    assert message in said
    assert said.startswith(f"{bench.place(EMITTER)}: error")
    assert not (bench.folder / "out").exists()


def test_reefs_emitter_given_a_reef_without_a_parameter(bench: Any, commands: Any) -> None:
    bench.accelerator(("  weight_rows: {", "  rows: {"))
    said = bench.refusal(*commands["plan"])
    assert "E111" in said
    assert "failed in 'busy' for operator 'conv_2d_0' (CONV_2D): KeyError: " in said
    assert said.startswith(f"{bench.place(EMITTER)}: error")


def test_numbers_of_other_libraries_are_numbers(bench: Any, commands: Any) -> None:
    body = "import numpy; return numpy.int64(super().estimate_cycles(op, graph, npu))"
    bench.emitter(METHOD.format(ESTIMATE, body))
    bench.accepted(*commands["plan"])
    bench.accepted(*commands["check"])
