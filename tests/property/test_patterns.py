# SPDX-License-Identifier: Apache-2.0
"""Random networks compute the same once patterns of an accelerator are one operator each."""

import random
from pathlib import Path

import numpy as np
import pytest
from tests.differential.generator import COMMON, random_model
from tests.effort import cases, in_gate
from tests.tflite_builder import write

from atoll.artifacts.samples import random_sample
from atoll.description.build import BuildRequests
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_graph
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph
from atoll.ops import reference
from atoll.ops.fused import is_fused
from atoll.ops.registry import RELAYOUT
from atoll.place.patterns import with_patterns
from atoll.resolve import load_soc
from atoll_sim.accelerator_test.accelerator_kit import NOWHERE
from atoll_sim.backends.session import CpuKind
from atoll_sim.runs.checked_run import run_models

KINDS = (
    *("ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D"),
    *("FULLY_CONNECTED", "MAX_POOL_2D", "MEAN", "MUL", "PAD", "QUANTIZE", "RESHAPE", "SOFTMAX"),
)
MOST_LAID = 6000
ENOUGH = 6
"""Patterns that are run."""

BRANCHES = (
    "  MEET: {pattern: {one: CONV_2D, two: CONV_2D, sum: 'ADD(one, two)'}, cost: 1}\n"
    "  TWICE: {pattern: {one: MUL, two: 'ADD(one, one)'}, cost: 1}\n"
    "  JOIN: {pattern: {one: CONV_2D, two: 'CONCATENATION(_, one)'}, cost: 1}\n"
    "  THREE: {pattern: {one: PAD, two: CONV_2D, three: ADD}, cost: 1}\n"
)
CHIP = """\
soc: chip
version: 1
devices:
  cpu: {kind: cpu, isa: rv32imc, stack: {memory: sram, size: 8 KiB}}
  npu: {kind: npu, accelerator: ./mine.yaml, registers: 0x4000_0000, irq: 3}
memories:
  flash: {origin: 0x0000_0000, size: 4 MiB, kind: rom}
  sram: {origin: 0x2000_0000, size: 4 MiB, kind: ram, width: 8}
pools:
  weights: {memory: flash, role: constants, reach: {cpu: ro, npu: ro}}
  shared: {memory: sram, role: workspace, reach: {cpu: rw, npu: rw}}
host: cpu
"""


def chip_of(folder: Path, seed: int) -> Path:
    """Write a chip whose accelerator takes many pairs of operators, others for each seed."""
    pairs = [(one, other) for one in KINDS for other in KINDS]
    drawn = random.Random(seed).sample(pairs, 56)
    lines = (
        f"  P{number}: {{pattern: {{one: {one}, two: {other}}}, cost: 1}}\n"
        for number, (one, other) in enumerate(drawn)
    )
    text = f"accelerator: mine\nversion: 1\noperators:\n{''.join(lines)}{BRANCHES}"
    (folder / "mine.yaml").write_text(text)
    (folder / "chip.yaml").write_text(CHIP)
    return folder / "chip.yaml"


LAID = """\
  CONV_ADD:
    pattern: {conv: CONV_2D, sum: ADD}
    cost: 1
    layouts:
      conv_input: {order: CNHWc, block: 4, patches: true}
      sum_input2: {order: NCHWc, block: conv_out_channels}
      output: {order: NCHW, row: 4}
  CONV_POOL:
    pattern: {conv: DEPTHWISE_CONV_2D, pool: AVERAGE_POOL_2D}
    cost: 1
    layouts: {conv_input: {order: NCHW}, output: {order: WCHNc, block: pool_out_channels}}
  MUL_CONV:
    pattern: {scaled: MUL, conv: CONV_2D}
    cost: 1
    values: {rows: conv_in_height * scaled_output.zero_point}
    limits: {rows: {min: -100000}}
    layouts: {scaled_input1: {order: CNHW}, scaled_input2: {row: 16}, output: {order: CNHW}}
  ADD_QUANTIZE:
    pattern: {sum: ADD, scaled: QUANTIZE}
    cost: 1
    layouts: {sum_input1: {order: NCHWc, block: 2}, output: {order: NCHWc, block: 2}}
"""


def test_operands_of_patterns_lie_as_the_accelerator_wants(tmp_path: Path) -> None:
    soc = load_soc(chip_of(tmp_path, 0))
    (tmp_path / "mine.yaml").write_text(f"accelerator: mine\nversion: 1\noperators:\n{LAID}")
    soc = load_soc(tmp_path / "chip.yaml")
    kinds = set[str]()
    for seed in range(2000, 2000 + MOST_LAID):
        graph = loaded(tmp_path, seed)
        if graph is None or with_patterns(graph, soc, BuildRequests()) is graph:
            continue
        compiled = compile_graph(soc, graph, NOWHERE, BuildOptions())
        fused = {op.kind for op in compiled.graph.operators if is_fused(op)}
        if fused <= kinds:
            continue
        if any(op.kind == RELAYOUT for op in compiled.graph.operators):
            kinds |= fused  # others are so small that all layouts are alike
        (outcome,) = run_models([compiled], [random_sample(compiled.graph)], cpu=CpuKind.NATIVE)
        assert outcome.report.passed, (seed, outcome.report)
        if len(kinds) == len(LAID.split("pattern:")) - 1:
            return
    raise AssertionError(f"only {kinds}")


def loaded(folder: Path, seed: int) -> Graph | None:
    path = folder / f"net{seed}.tflite"
    path.write_bytes(write(random_model(seed, COMMON)))
    try:
        return load_tflite(path)
    except AtollError:
        return None


@pytest.mark.parametrize(
    "group", in_gate([0, 1, *(pytest.param(group, marks=pytest.mark.slow) for group in (2, 3))], 0)
)
def test_values_stay(group: int, tmp_path: Path) -> None:
    soc = load_soc(chip_of(tmp_path, group))
    several = 0
    for seed in range(1000 * group, 1000 * group + cases(900, 300)):
        graph = loaded(tmp_path, seed)
        if graph is None:
            continue
        after = with_patterns(graph, soc, BuildRequests())
        several += sum(map(is_fused, after.operators))
        (inputs,) = random_sample(graph)
        before, now = reference.run(graph, inputs), reference.run(after, inputs)
        for tensor in after.tensors:
            np.testing.assert_array_equal(before[tensor.name], now[tensor.name])
    assert several >= cases(15, 5)


def test_an_accelerator_runs_them(tmp_path: Path) -> None:
    """Networks of all patterns, placed, planned and run; the accelerator's stand-in computes."""
    soc = load_soc(chip_of(tmp_path, 9))
    kinds = set[str]()
    for seed in range(1000, 1120):
        graph = loaded(tmp_path, seed)
        if graph is None or with_patterns(graph, soc, BuildRequests()) is graph:
            continue
        compiled = compile_graph(soc, graph, NOWHERE, BuildOptions())
        fused = {op.kind for op in compiled.graph.operators if is_fused(op)}
        if fused <= kinds:
            continue
        kinds |= fused
        sample = random_sample(compiled.graph)
        (outcome,) = run_models([compiled], [sample], cpu=CpuKind.NATIVE)
        assert outcome.report.passed, (seed, outcome.report)
        if len(kinds) >= ENOUGH:
            return
    raise AssertionError(f"only {kinds}")
