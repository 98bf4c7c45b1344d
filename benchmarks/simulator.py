# SPDX-License-Identifier: Apache-2.0
"""Measure what users wait for, as medians and as ratios against a peer in the same run.

Run as ``python -m benchmarks.simulator``; `make bench` does. Times of one run compare with each
other; those of different runs on shared machines do not.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from rich.table import Table

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.cli.output import as_command
from atoll.codegen.llvm_jit import NativeProgram
from atoll.driver.pipeline import Compiled, compile_file
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops import reference
from atoll.place.plan_devices import plan_devices
from atoll.resolve import load_soc
from atoll.utils.children import run
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.model import build_model
from atoll_sim.chip.memory_map import write_map
from atoll_sim.host.memory import HostMemory
from atoll_sim.host.native import HostCores, ModelAccelerators
from atoll_sim.shadow.table import shadow_table
from atoll_sim.simulate.firmware import write_image
from atoll_sim.simulate.rtl_run import request_for
from atoll_sim.simulate.session import simulate
from benchmarks.shown import console

ROUNDS = 5
SAMPLES = 8
MODEL = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A measurement beside its peer.

    Attributes:
        ours, peer: medians in `unit`.
        ratio: ours / peer.
    """

    what: str
    unit: str
    ours: float
    peer: float
    peer_name: str

    @property
    def ratio(self) -> float:
        """Return ours / peer."""
        return self.ours / self.peer


def main() -> int:
    """Measure everything and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--soc", default="lagoon", help="chip: a shipped name or a YAML file")
    parser.add_argument("--model", type=Path, default=MODEL, help="network (int8 TFLite)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    compiled = compile_file(load_soc(arguments.soc), arguments.model)
    rows = [
        *simulation_speed(compiled),
        inference(compiled),
        planning(compiled, arguments.model),
        device_planning(),
    ]
    if arguments.json:
        print(json.dumps({"rounds": ROUNDS, "rows": [as_json(row) for row in rows]}, indent=2))
    else:
        console().print(table(compiled, rows))
    return 0


def simulation_speed(compiled: Compiled) -> tuple[Row, Row]:
    """Compare cycles per second under cocotb, and with the shadow memory, with a bare C++ loop."""
    samples = random_sample(compiled.graph) * SAMPLES
    executable = build_model(compiled.soc)
    with temporary_folder() as folder:
        elf = build((compiled,), folder / "build").firmware.elf
        image = folder / "image.bin"
        write_image((elf,), compiled.soc, image)
        request = request_for(compiled, (elf,), samples, executable, folder / "run")
        mapped = write_map(compiled.soc, folder)
        contract = folder / "shadow.bin"
        contract.write_bytes(shadow_table(compiled.soc, [compiled.contract]).words)
        ours, watched, peer = [], [], []
        for _ in range(ROUNDS):
            ours.append(simulate(request).cycles_per_second)
            watched.append(bare_speed(executable, image, *mapped, "--shadow", contract))
            peer.append(bare_speed(executable, image, *mapped))
    return (
        Row(
            what="simulation of the whole chip",
            unit="cycles/s",
            ours=median(ours),
            peer=median(peer),
            peer_name="same model, bare C++ loop",
        ),
        Row(
            what="bare C++ loop with the shadow memory",
            unit="cycles/s",
            ours=median(watched),
            peer=median(peer),
            peer_name="same model, bare C++ loop",
        ),
    )


def bare_speed(executable: Path, image: Path, *options: str | Path) -> float:
    """Return cycles per second of the model without cocotb."""
    done = run([str(executable), "--bare", str(image), str(SAMPLES), *map(str, options)])
    done.check_returncode()
    result = json.loads(done.stdout.splitlines()[-1])
    return float(result["cycles"] / result["seconds"])


def inference(compiled: Compiled) -> Row:
    """Compare a run on the native host with one of the numpy reference."""
    (sample,) = random_sample(compiled.graph)
    memory = HostMemory(compiled.soc)
    program = NativeProgram(compiled.module)
    session = HostCores((compiled,), memory, ModelAccelerators(compiled.soc, memory))
    return Row(
        what="one inference, native CPU and accelerator model",
        unit="ms",
        ours=median(times(lambda: session.run_once(program, sample))),
        peer=median(times(lambda: reference.run(compiled.graph, sample))),
        peer_name="numpy reference",
    )


def planning(compiled: Compiled, model: Path) -> Row:
    """Compare the way from model file to checked plan with machine code for the host."""
    return Row(
        what="model file to checked plan",
        unit="ms",
        ours=median(times(lambda: compile_file(compiled.soc, model))),
        peer=median(times(lambda: NativeProgram(compiled.module))),
        peer_name="LLVM -O3 of the same program",
    )


def device_planning() -> Row:
    """Compare a chain of 10,000 operators on two cores, a copy in every second gap, with 1,000."""
    soc = load_soc("twin")
    long, short = (
        median(times(partial(plan_devices, chain(length), soc))) for length in (10_000, 1_000)
    )
    return Row(
        what="device planning of 10,000 operators with copies",
        unit="ms",
        ours=long,
        peer=short,
        peer_name="the same of 1,000 operators",
    )


def chain(length: int) -> Graph:
    """Return operators in a row on two cores by turns, every second result in private memory."""
    names = [f"t{number}" for number in range(length + 1)]
    tensors = tuple(
        Tensor(name=name, shape=(16,), dtype="int8", pools=("cpu_local",) * (number % 2))
        for number, name in enumerate(names)
    )
    operators = tuple(
        Operator(
            name=f"quantize_{number}",
            kind="quantize",
            inputs=(names[number],),
            outputs=(names[number + 1],),
            attributes={},
            device="dsp" if number % 2 else "cpu",
        )
        for number in range(length)
    )
    return Graph("chain", tensors, operators, (names[0],), (names[-1],))


def times(action: Callable[[], object]) -> Iterator[float]:
    """Yield the milliseconds of each round."""
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        action()
        yield 1e3 * (time.perf_counter() - begin)


def as_json(row: Row) -> dict[str, object]:
    """Return a row for machines."""
    return {
        "what": row.what,
        "unit": row.unit,
        "ours": round(row.ours, 3),
        "peer": round(row.peer, 3),
        "peer_name": row.peer_name,
        "ratio": round(row.ratio, 3),
    }


def table(compiled: Compiled, rows: list[Row]) -> Table:
    """Lay the rows out for a terminal."""
    title = f"{compiled.graph.name} on {compiled.soc.name}, medians of {ROUNDS} rounds"
    shown = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for heading in ("what", "ours", "peer", "ratio", "unit", "peer is"):
        shown.add_column(
            heading, justify="right" if heading in ("ours", "peer", "ratio") else "left"
        )
    for row in rows:
        shown.add_row(
            row.what,
            f"{row.ours:,.1f}",
            f"{row.peer:,.1f}",
            f"{row.ratio:.2f}",
            row.unit,
            row.peer_name,
        )
    return shown


if __name__ == "__main__":
    sys.exit(as_command(main))
