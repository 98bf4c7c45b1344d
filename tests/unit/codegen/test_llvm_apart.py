# SPDX-License-Identifier: Apache-2.0
"""The compiler assumes that buffers are apart only where no step lets them overlap."""

import re
from dataclasses import replace

from tests.llvm_text import dump

from atoll.ir.builder import FunctionBuilder
from atoll.ir.tir import Direction, Entry, IRModule, KernelCall, SafeOverlap, Step, Type

ELEMENTS = 64


def module_of(*overlaps: SafeOverlap) -> IRModule:
    """Return y[i] = x[i] + w[i], called twice; the first call has `overlaps`."""
    builder = FunctionBuilder("sums")
    x = builder.buffer("x", Type.I8, ELEMENTS, Direction.READ)
    w = builder.buffer("w", Type.I8, ELEMENTS, Direction.READ)
    y = builder.buffer("y", Type.I8, ELEMENTS, Direction.WRITE)
    with builder.loop("i", 0, ELEMENTS) as i:
        y[i] = x[i]
        y[i] = w[i]
    step = Step(
        operator="one",
        number=0,
        device="cpu",
        reads=("a", "weights"),
        writes=("b",),
        action=KernelCall("sums", ("a", "weights", "b")),
        overlaps=overlaps,
    )
    action = KernelCall("sums", ("b", "weights", "c"))
    other = replace(step, number=1, reads=("b", "weights"), writes=("c",), action=action)
    steps = (step, replace(other, overlaps=()))
    return IRModule("m", (builder.kernel(),), Entry((), (), (), (), steps))


def apart(module: IRModule) -> set[str]:
    """Return the parameters that LLVM may assume to be apart from all others."""
    (head,) = re.findall(r"define .*@sums\((.*)\)", dump(module, "rv32imc", 0))
    return {
        found[1]
        for part in head.split(", ptr")
        if "noalias" in part
        if (found := re.search(r"%\"?(\w+)", part))
    }


def test_buffers_are_apart_unless_a_step_says_otherwise() -> None:
    assert apart(module_of()) == {"x", "w", "y"}


def test_one_step_is_enough_to_let_buffers_overlap() -> None:
    assert apart(module_of(SafeOverlap("b", "a", 0))) == {"w"}
