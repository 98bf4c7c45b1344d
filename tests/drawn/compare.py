# SPDX-License-Identifier: Apache-2.0
"""Draw a network from a seed, and hold Atoll's machine code against TFLM's kernels."""

import contextlib
import faulthandler
import multiprocessing
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.drawn import elements, moves, sums
from tests.drawn.drawing import RANGES, Drawing, UnsuitableError

from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

OPERATORS: tuple[Callable[[Drawing], None], ...] = (
    *(sums.convolution, sums.depthwise, sums.dense, sums.transposed, sums.products) * 2,
    *(sums.pool, sums.reduced, sums.largest, sums.normalised, sums.running),
    *(elements.arithmetic,) * 3,
    *(elements.extremes, elements.comparison, elements.logic, elements.choice, elements.curve),
    *(elements.rectifier, elements.slopes, elements.requantised, elements.cast, elements.zeros),
    *(elements.several, elements.inverse_root, moves.reshape, moves.squeeze, moves.transpose),
    *(moves.cut, moves.strided, moves.split, moves.joined, moves.padded, moves.gathered),
    *(moves.gathered_nd, moves.reversed_, moves.broadcast, moves.blocks, moves.resized),
    moves.updated,
)
_ARENA = 4 << 20
_PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a network: "same", "different", "refused", or what became of TFLM."""

    word: str
    says: str = ""


def drawn(seed: int) -> tuple[Drawing, bytes]:
    """Return the network of a seed, of 1 to 12 operators."""
    d = Drawing(np.random.default_rng(seed))
    wanted = d.number(1, 12)
    for _ in range(40 * wanted):
        if len(d.nodes) >= wanted:
            break
        before = d.sizes()
        try:
            d.one_of(OPERATORS)(d)
        except UnsuitableError:
            d.back_to(before)
    return d, d.file()


def samples(d: Drawing) -> list[NDArray[Any]]:
    """Return numbers for each input."""
    found = []
    for index in d.inputs:
        least, most = RANGES[d.values[index].dtype]
        shape, dtype = d.values[index].shape, d.values[index].dtype
        found.append(np.asarray(d.rng.integers(least, most + 1, shape), dtype))
    return found


def on_tflm(network: bytes, inputs: Sequence[NDArray[Any]], outputs: int) -> list[bytes] | str:
    """Return the bytes of TFLM's outputs, or why there are none; it may end its process."""
    from tflite_micro import runtime  # once, not in each of the processes

    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def run() -> None:
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            interpreter = runtime.Interpreter.from_bytes(network, arena_size=_ARENA)
            for index, numbers in enumerate(inputs):
                interpreter.set_input(numbers, index)
            interpreter.invoke()
            send.send([interpreter.get_output(index).tobytes() for index in range(outputs)])
        except Exception as error:  # noqa: BLE001
            send.send(f"TFLM refuses: {error}")

    process = context.Process(target=run)
    process.start()
    send.close()
    answer: list[bytes] | str = "TFLM broke off"
    with contextlib.suppress(EOFError):
        answer = receive.recv() if receive.poll(_PATIENCE) else "TFLM takes too long"
    process.kill()
    process.join()
    return answer


def judged(seed: int, folder: Path, soc: ResolvedSoc | None = None) -> Verdict:
    """Draw the network of a seed, run it both ways, and compare every byte of every output."""
    d, network = drawn(seed)
    path = folder / "drawn.tflite"
    path.write_bytes(network)
    inputs = samples(d)
    try:
        compiled = compile_file(soc or load_soc("lagoon"), path)
    except AtollError as error:
        refusal: str | None = _kinds(error)
    else:
        refusal = None
    oracle = on_tflm(network, inputs, _outputs(network))
    if refusal is not None:
        word = "refused" if isinstance(oracle, list) else "both refuse"
        return Verdict(word, refusal)
    if isinstance(oracle, str):
        return Verdict(oracle.partition(":")[0], oracle)
    names = compiled.graph.inputs
    sample = {
        name: numbers.reshape(compiled.graph.tensor(name).shape)
        for name, numbers in zip(names, inputs, strict=True)
    }
    (outcome,) = run_models(
        (compiled,), ([sample],), cpu=CpuKind.NATIVE, accelerator=AcceleratorKind.MODEL
    )
    made: Mapping[str, NDArray[Any]] = outcome.outputs[0]
    for number, name in enumerate(compiled.graph.outputs):
        if made[name].tobytes() != oracle[number]:
            kinds = sorted({node.code for node in d.nodes})
            return Verdict("different", f"output {number} ({name}) of {', '.join(kinds)}")
    if not outcome.report.passed:
        return Verdict("different", "the run did not pass")
    return Verdict("same")


def _outputs(network: bytes) -> int:
    from tflite.Model import Model

    return int(Model.GetRootAs(network).Subgraphs(0).OutputsLength())


def _kinds(error: AtollError) -> str:
    """Return what is refused, without names and numbers."""
    fault = error.faults[0]
    text = re.sub(r"'[^']*'", "'…'", fault.message)
    return f"{fault.code} {re.sub(r'-?[0-9][0-9.,e+-]*', 'N', text)}"
