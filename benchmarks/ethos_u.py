# SPDX-License-Identifier: Apache-2.0
"""Try random networks on chips with an Ethos-U, and plant faults in what the NPU is told.

Run as ``python -m benchmarks.ethos_u --networks 300 --mutants 100``. Each network is compiled for
U55, U65 and U85, where streams, blocks and plans must agree on every byte, and runs natively, where
its results must be the reference's. Refusals are counted by code, and so are networks
that were cut since commands for a part were refused. Mutants are wrong streams,
blocks and images of these networks, each of which must be noticed. The status is 0 if all is so.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from unittest.mock import patch

from tests import tflite_builder
from tests.npu_mutants import (
    block_mutants,
    image_mutants,
    judged,
    noticed_in_image,
    stream_mutants,
)
from tests.npu_networks import npu_network

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_samples
from atoll.cli.output import as_command
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.remember import forget
from atoll.utils.scratch import temporary_folder
from atoll_sim.engines.ethos_u.emitter import EthosUEmitter
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

CHIP, DEVICE = "corstone300_u55", "devices.ethos_u55"
_TOLD = 20
"""Counts are printed after so many networks, and after so many mutants."""

NPUS = {"u55": 128, "u65": 256, "u85": 256}


def main() -> int:
    """Try networks, then mutants of some of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=300)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="number of the first network")
    options = parser.parse_args()
    counts = Counter[str]()
    accepted: list[tuple[int, str]] = []
    seed = options.seed
    while counts["networks"] < options.networks:
        good = [npu for npu in NPUS if _try_network(seed, npu, counts)]
        accepted += ((seed, npu) for npu in good)
        counts["networks"] += bool(good)
        seed += 1
        if good and counts["networks"] % _TOLD == 0:
            _print(counts)
    for kind, noticed in _plant(accepted, options.mutants, Random(options.seed)):
        counts[f"mutants: {kind}, {'noticed' if noticed else 'NOT NOTICED'}"] += 1
        counts["mutants"] += 1
        if counts["mutants"] % _TOLD == 0:
            _print(counts)
    _print(counts)
    wrong = sum(count for what, count in counts.items() if "NOT" in what)
    return 1 if wrong else 0


def _print(counts: Counter[str]) -> None:
    for what, count in sorted(counts.items()):
        print(f"{count:6} {what}", flush=True)


def _soc(npu: str) -> ResolvedSoc:
    settings = (f"{DEVICE}.accelerator=ethos_{npu}", f"{DEVICE}.params.macs={NPUS[npu]}")
    return load_soc(CHIP, settings)


def _compile(seed: int, npu: str, folder: Path) -> Compiled:
    forget()  # what another encoder made
    path = folder / f"network{seed}.tflite"
    path.write_bytes(tflite_builder.write(npu_network(tflite_builder, seed)))
    return compile_file(_soc(npu), path)


def _try_network(seed: int, npu: str, counts: Counter[str]) -> bool:
    """Compile and run a network; tell whether it was taken and the NPU has a part of it."""
    if not npu_network(tflite_builder, seed).operators:
        return False
    with temporary_folder() as folder:
        try:
            with judged() as judgements:
                found = _compile(seed, npu, folder)
        except AtollError as error:
            fault = error.faults[0]
            message = re.sub(r"\d+", "N", fault.message.partition(".tflite: ")[2] or fault.message)
            counts[f"{npu}: refused, {fault.code} {message[:90]}"] += 1
            return False
        refused = not all(each.accepted for each in judgements)
        parts = [op for op in found.graph.operators if op.kind == "ethos_u"]
        if not parts:
            counts[f"{npu}: nothing but refused commands"] += refused
            return False
        (outcome,) = run_models(
            (found,),
            (random_samples(found.graph, 1),),
            cpu=CpuKind.NATIVE,
            accelerator=AcceleratorKind.MODEL,
        )
    edges = [len(op.inputs) - 2 + len(op.outputs) - 1 for op in parts]
    counts[f"{npu}: {'right' if outcome.report.passed else 'NOT right'}"] += 1
    counts[f"{npu}: operators of the NPU"] += len(parts)
    counts[f"{npu}: operators with more than two edges"] += sum(each > 2 for each in edges)
    counts[f"{npu}: networks in several parts"] += len(parts) > 1
    counts[f"{npu}: networks with commands that were refused"] += refused
    return True


def _plant(
    accepted: list[tuple[int, str]], count: int, chance: Random
) -> Iterator[tuple[str, bool]]:
    """Yield the kind of each mutant, and whether it was noticed; kinds take turns."""
    kinds = (_in_stream, _in_block, _in_image)
    for number in range(count):
        seed, npu = chance.choice(accepted)
        plant = kinds[number % len(kinds)]
        with temporary_folder() as folder:
            noticed = plant(seed, npu, folder, chance)
        if not noticed:
            print(f"not noticed: {plant.__name__} of network {seed} on {npu}")
        yield plant.__name__.removeprefix("_in_"), noticed


def _in_stream(seed: int, npu: str, folder: Path, chance: Random) -> bool:
    """Give one operator of the NPU a wrong stream as it is made."""
    with judged() as parts:
        _compile(seed, npu, folder)
    part = chance.choice([each for each in parts if each.accepted])
    _, stream = chance.choice([*stream_mutants(part.stream, int(npu[1:]))])
    return part.refuses(stream)


def _in_block(seed: int, npu: str, folder: Path, chance: Random) -> bool:
    """Tell an operator of the NPU wrong addresses as they are encoded."""
    encode = EthosUEmitter.encode
    changes = [change for _, change in block_mutants()]
    chance.shuffle(changes)

    def encode_changed(*given: object) -> bytes:
        data = encode(*given)  # type: ignore[arg-type]
        return next(changed for change in changes if (changed := change(data)) != data)

    with patch.object(EthosUEmitter, "encode", encode_changed):
        return _is_refused(seed, npu, folder)


def _in_image(seed: int, npu: str, folder: Path, chance: Random) -> bool:
    """Change an image that is linked."""
    tree = build((_compile(seed, npu, folder),), folder / "build")
    (elf,) = tree.firmware.elves
    _, data = chance.choice([*image_mutants(elf.read_bytes())])
    return "E172" in noticed_in_image(_soc(npu), data, folder)


def _is_refused(seed: int, npu: str, folder: Path) -> bool:
    try:
        _compile(seed, npu, folder)
    except AtollError as error:
        return {fault.code for fault in error.faults} <= {"E121", "E171"}
    return False


if __name__ == "__main__":
    sys.exit(as_command(main))
