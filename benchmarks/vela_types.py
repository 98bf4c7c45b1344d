# SPDX-License-Identifier: Apache-2.0
"""Which operators and types Vela places on an Ethos-U, tried on a file for each.

A file counts where Vela leaves nothing of it to a core. Vela may end the process or never end, so
each file has a process of its own, which is given up after a while.
"""

import multiprocessing
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from tests import tflite_builder
from tests.operator_samples import Tree
from tests.tflite_builder import Model, write
from tflite.Model import Model as File

from atoll.utils.scratch import temporary_folder

NPUS = {"ethos-u55-128": "u55", "ethos-u65-256": "u65", "ethos-u85-256": "u85"}
TYPES = ("int8", "int16", "int32", "int64", "bool")
_PATIENCE = 20.0
"""Seconds that a file may take."""

_MODEL, _CUSTOM = "network", b"ethos-u"


def types_by_npu(trials: Iterable[tuple[str, str, Model]]) -> Mapping[str, Mapping[str, set[str]]]:
    """Return the types that each NPU gets, by operator, then by NPU."""
    found: dict[str, dict[str, set[str]]] = defaultdict(
        lambda: {npu: set() for npu in NPUS.values()}
    )
    for code, dtype, model in trials:
        for configuration, npu in NPUS.items():
            if dtype not in found[code][npu] and is_placed(model, configuration):
                found[code][npu].add(dtype)
    return found


def is_placed(model: Model, configuration: str) -> bool:
    """Tell whether Vela leaves nothing of a network to a core."""
    with temporary_folder() as folder:
        (folder / f"{_MODEL}.tflite").write_bytes(write(model))
        process = multiprocessing.get_context("fork").Process(
            target=_run, args=(folder, configuration)
        )
        process.start()
        process.join(_PATIENCE)
        process.kill()
        process.join()
        made = folder / f"{_MODEL}_vela.tflite"
        return made.is_file() and _is_whole(made.read_bytes())


def _run(folder: Path, configuration: str) -> None:
    vela = import_module("ethosu.vela.vela")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    with suppress(Exception):
        options = ["--accelerator-config", configuration, "--output-dir", str(folder)]
        vela.main([*options, str(folder / f"{_MODEL}.tflite")])
    os._exit(0)


def _is_whole(data: bytes) -> bool:
    file: Any = File.GetRootAs(data)
    graph = file.Subgraphs(0)
    operators = (graph.Operators(number) for number in range(graph.OperatorsLength()))
    codes = [file.OperatorCodes(op.OpcodeIndex()).CustomCode() for op in operators]
    return bool(codes) and all(code == _CUSTOM for code in codes)


def trials() -> Iterator[tuple[str, str, Model]]:
    """Yield operators with options that Vela's limits allow, which samples for TFLM have not."""
    for dtype in TYPES:
        for quantised in (True, False):
            for code, model in _Trials(dtype, quantised=quantised).every():
                yield code, dtype, model


class _Trials:
    """Networks of one operator, on [1, 6, 8, 16] of one type."""

    def __init__(self, dtype: str, *, quantised: bool) -> None:
        self._dtype = dtype
        self._scale: dict[str, Any] = {"scales": (0.05,), "zero_points": (0,)} if quantised else {}

    def every(self) -> Iterator[tuple[str, Model]]:
        """Yield each operator with a network."""
        for code in ("ABS", "NEG", "EXP", "LOG", "RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1"):
            yield code, self._one(code)
        for code in ("LOGISTIC", "TANH", "HARD_SWISH", "ELU", "GELU", "RSQRT", "QUANTIZE"):
            yield code, self._one(code)
        for code in ("SQRT", "SQUARE", "FLOOR", "CEIL", "ROUND", "SIN", "COS", "LOGICAL_NOT"):
            yield code, self._one(code)
        for code in ("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "MINIMUM", "MAXIMUM"):
            yield code, self._two(code)
        for code in ("FLOOR_DIV", "FLOOR_MOD", "LOGICAL_AND", "LOGICAL_OR", "ADD_N"):
            yield code, self._two(code)
        for code in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
            yield code, self._two(code, dtype="bool")
        yield "SELECT", self._select("SELECT")
        yield "SELECT_V2", self._select("SELECT_V2")
        for code in ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY", "REDUCE_ALL"):
            yield code, self._reduce(code)
        for code in ("ARG_MAX", "ARG_MIN"):
            yield code, self._place(code)
        yield from self._moves()
        for code in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
            yield code, self._resize(code)

    def _tree(self, *shape: int) -> Tree:
        tree = Tree(tflite_builder)
        self._new(tree, *(shape or (1, 6, 8, 16)))
        return tree

    def _new(self, tree: Tree, *shape: int) -> int:
        return tree.add(shape, dtype=self._dtype, **self._scale)

    def _one(self, code: str) -> Any:
        tree = self._tree()
        tree.apply(code, (0,), self._new(tree, 1, 6, 8, 16))
        return tree.model()

    def _two(self, code: str, dtype: str = "") -> Any:
        tree = self._tree()
        other = self._new(tree, 1, 6, 8, 16)
        result = tree.add((1, 6, 8, 16), dtype=dtype) if dtype else self._new(tree, 1, 6, 8, 16)
        table = {"MINIMUM": "MaximumMinimumOptions", "MAXIMUM": "MaximumMinimumOptions"}
        plain = f"{code.title()}Options" if code in ("ADD", "SUB", "MUL", "DIV") else ""
        tree.apply(code, (0, other), result, table.get(code, plain))
        return replace(tree.model(), inputs=(0, other))

    def _select(self, code: str) -> Any:
        tree = self._tree()
        other, which = self._new(tree, 1, 6, 8, 16), tree.add((1, 6, 8, 16), dtype="bool")
        tree.apply(code, (which, 0, other), self._new(tree, 1, 6, 8, 16))
        return replace(tree.model(), inputs=(0, other, which))

    def _reduce(self, code: str) -> Any:
        tree = self._tree()
        axes, result = tree.numbers(1, 2), self._new(tree, 1, 1, 1, 16)
        tree.apply(code, (0, axes), result, "ReducerOptions", KeepDims=True)
        return tree.model()

    def _place(self, code: str) -> Any:
        tree = self._tree()
        axis, result = tree.numbers(3, shape=()), tree.add((1, 6, 8), dtype="int32")
        table = "ArgMaxOptions" if code == "ARG_MAX" else "ArgMinOptions"
        tree.apply(code, (0, axis), result, table, OutputType=2)
        return tree.model()

    def _moves(self) -> Iterator[tuple[str, Model]]:
        tree = self._tree()
        tree.apply("TRANSPOSE", (0, tree.numbers(0, 2, 1, 3)), self._new(tree, 1, 8, 6, 16))
        yield "TRANSPOSE", tree.model()
        tree = self._tree()
        parts = (tree.numbers(0, 1, 2, 0), tree.numbers(1, 5, 6, 16), tree.numbers(1, 1, 1, 1))
        tree.apply(
            "STRIDED_SLICE", (0, *parts), self._new(tree, 1, 4, 4, 16), "StridedSliceOptions"
        )
        yield "STRIDED_SLICE", tree.model()
        tree = self._tree()
        tree.apply("REVERSE_V2", (0, tree.numbers(2)), self._new(tree, 1, 6, 8, 16))
        yield "REVERSE_V2", tree.model()
        tree = self._tree()
        pads = tree.numbers(0, 0, 1, 1, 1, 1, 0, 0, shape=(4, 2))
        tree.apply("MIRROR_PAD", (0, pads), self._new(tree, 1, 8, 10, 16), "MirrorPadOptions")
        yield "MIRROR_PAD", tree.model()
        tree = self._tree(1, 6, 16)
        picks = tree.numbers(3, 1, 0, shape=(1, 3))
        options = {"Axis": 1, "BatchDims": 1}
        tree.apply("GATHER", (0, picks), self._new(tree, 1, 3, 16), "GatherOptions", **options)
        yield "GATHER", tree.model()
        tree = self._tree(3, 16)
        picks, shape = tree.numbers(3, 1, 0, shape=(3, 1)), tree.numbers(6, 16)
        tree.apply("SCATTER_ND", (picks, 0, shape), self._new(tree, 6, 16))
        yield "SCATTER_ND", tree.model()

    def _resize(self, code: str) -> Any:
        tree = self._tree()
        size, result = tree.numbers(12, 16), self._new(tree, 1, 12, 16, 16)
        tree.apply(code, (0, size), result, f"{code.title().replace('_', '')}Options")
        return tree.model()
