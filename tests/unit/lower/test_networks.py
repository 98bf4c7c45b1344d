# SPDX-License-Identifier: Apache-2.0
"""The loop programs of the MLPerf Tiny networks compute every layer as TFLM does, on the host."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.effort import in_gate

from atoll.codegen.llvm_jit import NativeProgram
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph
from atoll.ir.narrowing import verify_narrowing
from atoll.ir.read_module import parse_module
from atoll.ir.tir import IRModule, KernelCall
from atoll.ir.verify import verify
from atoll.lower.specialize_storage import SpecializeStorage
from atoll.lower.to_tir import lower_graph
from atoll.resolve import load_soc

MODELS = ("ad01_int8", "kws_ref_model", "pretrainedResnet_quant", "vww_96_int8")
Memory = Mapping[str, NDArray[np.uint8]]


def lowered(graph: Graph, limit: int) -> IRModule:
    """Lower for the host of lagoon."""
    soc = load_soc("lagoon")
    placed = graph.with_operators(replace(op, device="cpu") for op in graph.operators)
    module = lower_graph(placed, soc, {})
    verify(module)
    specialized = SpecializeStorage(max_alloca=limit, max_stack=4096, pools=("shared",)).run(module)
    verify(specialized)
    verify_narrowing(module, specialized)
    return specialized


def memory_of(module: IRModule) -> Memory:
    memory = {item.buffer: np.zeros(item.size, np.uint8) for item in module.entry.allocations}
    for constant in module.entry.constants:
        assert constant.data is not None
        memory[constant.name] = np.frombuffer(constant.data, np.uint8).copy()
    return memory


def run(module: IRModule, program: NativeProgram, memory: Memory) -> None:
    """Check after each step that exactly what it says it writes has changed."""
    for step in module.entry.steps:
        assert isinstance(step.action, KernelCall)
        before = {name: array.copy() for name, array in memory.items() if name not in step.writes}
        pointers = [memory[name].ctypes.data for name in step.action.arguments]
        program.call(step.action.function, pointers)
        assert all((memory[name] == array).all() for name, array in before.items()), step


@pytest.mark.parametrize("limit", [0, 1024])
@pytest.mark.parametrize("model", in_gate(MODELS, 0, 1))
def test_every_layer(model: str, limit: int, shared_models: Path) -> None:
    """C6: with scratch in workspace or on the stack, 4 samples, all activations."""
    graph = load_tflite(shared_models / f"{model}.tflite")
    layers: Mapping[str, Any] = np.load(shared_models / "golden" / f"{model}.layers_tflm.npz")
    module = lowered(graph, limit)
    program, memory = NativeProgram(module), memory_of(module)
    produced = [name for op in graph.operators for name in op.outputs]
    assert len(produced) == len(graph.operators)
    for sample in range(4):
        for name in graph.inputs:
            golden = layers[f"t{graph.tensor(name).index}"][sample]
            memory[name][:] = golden.ravel().view(np.uint8)
        run(module, program, memory)
        for name in produced:
            golden = layers[f"t{graph.tensor(name).index}"][sample]
            result = memory[name].view(np.int8).reshape(golden.shape)
            np.testing.assert_array_equal(result, golden, err_msg=name)


@pytest.mark.parametrize("model", MODELS)
def test_text_reads_back(model: str, shared_models: Path) -> None:
    module = lowered(load_tflite(shared_models / f"{model}.tflite"), 1024)
    assert parse_module(str(module)) == module


def test_equal_kernels_are_kept_once(shared_models: Path) -> None:
    module = lowered(load_tflite(shared_models / "kws_ref_model.tflite"), 1024)
    called = [
        step.action.function for step in module.entry.steps if isinstance(step.action, KernelCall)
    ]
    assert len(called) > len(set(called))
    bodies = [replace(function, name="") for function in module.functions]
    assert len(bodies) == len(set(bodies))
