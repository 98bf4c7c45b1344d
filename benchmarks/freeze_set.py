# SPDX-License-Identifier: Apache-2.0
"""The chips, networks and options that `benchmarks.freeze` compiles.

They are chosen for what the compiler does of its own: stripes, streams, operators spread over
cores, patterns of accelerators, overlaps that cost time, rows in far memory, unlike cores.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from tests import tflite_builder
from tests.cached_chips import CORTEX_M7
from tests.npu_networks import npu_network
from tests.property.test_random_networks import random_network as drawn_network
from tests.requests import load_requests

from atoll.driver.pipeline import BuildOptions
from atoll.frontend.registry import Source, load_network, read_source
from atoll.ir.graph import Graph
from atoll.reach.candidates import WORKSPACE_ROLES
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.core_calibration.random_layers import random_network
from benchmarks import streaming

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data"
EXAMPLES = ROOT / "examples"
NOWHERE = Source("", b"", Path())

FUSING = """\
accelerator: fusing
version: 1
operators:
  CONV_2D: {cost: 2}
  ADD: {cost: 2}
  CONV_ADD: {pattern: {one: CONV_2D, two: ADD}, cost: 1}
  CONV_POOL: {pattern: {one: CONV_2D, two: AVERAGE_POOL_2D}, cost: 1}
  DEPTHWISE_CONV: {pattern: {one: DEPTHWISE_CONV_2D, two: CONV_2D}, cost: 1}
"""
FUSING_CHIP = """\
soc: fusing
version: 1
devices:
  cpu: {kind: cpu, isa: rv32imc, stack: {memory: sram, size: 8 KiB}}
  npu: {kind: npu, accelerator: ./fusing.yaml, registers: 0x4000_0000, irq: 3}
memories:
  flash: {origin: 0x0000_0000, size: 4 MiB, kind: rom}
  sram: {origin: 0x2000_0000, size: 4 MiB, kind: ram, width: 8}
pools:
  weights: {memory: flash, role: constants, reach: {cpu: ro, npu: ro}}
  shared: {memory: sram, role: workspace, size: 1 MiB, reach: {cpu: rw, npu: rw}}
host: cpu
"""


def _size(pool: str, kib: float) -> str:
    return f"pools.{pool}.size={int(kib * 1024)}"


CHIPS: Mapping[str, tuple[str | Path, tuple[str, ...]]] = {
    "lagoon": ("lagoon", ()),
    "lagoon 12": ("lagoon", (_size("shared", 12),)),
    "lagoon 5": ("lagoon", (_size("shared", 5),)),
    "lagoon 2": ("lagoon", (_size("shared", 2), _size("private", 4))),
    "lagoon slow": ("lagoon", ("memories.flash.read_latency=6",)),
    "lagoon m7": ("lagoon", (*CORTEX_M7, _size("shared", 16))),
    "lagoon flash": ("lagoon", (_size("weights", 24),)),
    "atoll2": ("atoll2", ()),
    "atoll2 6": ("atoll2", (_size("shared", 6), _size("conv_private", 3), _size("dw_private", 3))),
    "twin": ("twin", ()),
    "twin 6": ("twin", (_size("shared", 6),)),
    "quad": ("quad", ()),
    "quad 8": ("quad", (_size("shared", 8),)),
    "pulp": ("pulp", ()),
    "pulp 8": ("pulp", (_size("tightly_coupled", 8), _size("shared", 24))),
    "imxrt1176": ("imxrt1176", ()),
    "stm32h747": ("stm32h747", ()),
    "corstone300": ("corstone300", (_size("shared", 8),)),
    "corstone300_u55": ("corstone300_u55", ()),
    "corstone300_u55 8": ("corstone300_u55", (_size("shared", 8), _size("fpga", 8))),
    "x_heep": ("x_heep", ()),
    "esp32c6": ("esp32c6", ()),
    "zynqmp": ("zynqmp", ()),
    "islands": (DATA / "islands.yaml", ()),
    "islands_dma": (DATA / "islands_dma.yaml", ()),
    "shoal 1": (DATA / "shoal.yaml", (_size("shared", 1),)),
    "shoal 4 near": (DATA / "shoal.yaml", (_size("shared", 4), "pools.slow.reach.npu=none")),
    "shore": (DATA / "shore.yaml", ()),
    "duo": (DATA / "duo.yaml", (_size("shared", 10),)),
    "unlike": (DATA / "unlike.yaml", ()),
    "unlike 6": (DATA / "unlike.yaml", (_size("shared", 6),)),
    "unlike ibex": (DATA / "unlike.yaml", ("devices.cpu.core=ibex", "devices.cpu.clock=4 MHz")),
    "rfc_pools": (DATA / "rfc_pools.yaml", ()),
    "trident": (DATA / "chips" / "trident.yaml", ()),
    "ensemble_e7": (DATA / "chips" / "ensemble_e7.yaml", ()),
    "max78000": (DATA / "chips" / "max78000.yaml", ()),
    "vector": (EXAMPLES / "10_vector_engine" / "chip.yaml", ()),
    "systolic": (EXAMPLES / "11_systolic_array" / "chip.yaml", ()),
    "streamed": (EXAMPLES / "12_streamed_weights" / "chip.yaml", (_size("weights", 8),)),
    "streamed 10": (
        EXAMPLES / "12_streamed_weights" / "chip.yaml",
        (_size("shared", 10), "pools.weights.preference=2"),
    ),
    "streamed only": (
        EXAMPLES / "12_streamed_weights" / "chip.yaml",
        (_size("shared", 24), _size("weights", 2), "pools.external.reach.npu=none"),
    ),
    "fusing": (Path("chip.yaml"), ()),
    "fusing 8": (Path("chip.yaml"), (_size("shared", 8),)),
}
"""The file and overrides by name; a relative path is one that `cases` writes."""

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "usual": {},
    "least memory": {"overlap": "all"},
    "apart": {"overlap": "none", "stream": "always"},
    "cores": {"accelerators": False},
    "as it is": {"tile": "never", "spread": False, "rewrite": False},
    "pinned": {"pins": True},
}
"""What is asked, by name; ``pins`` puts the first input into the last workspace pool.

The compiler obeys ``stream: always`` even where a plan without streams takes fewer cycles.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One network on one chip with some options.

    Attributes:
        key: the names of all three.
        arguments: of `atoll.driver.pipeline.compile_graph`.
    """

    key: Mapping[str, str]
    arguments: tuple[ResolvedSoc, Graph, Source, BuildOptions]


def cases(folder: Path, more: Sequence[Path] = ()) -> Iterator[Case]:
    """Yield all cases; files that they need are written to a folder.

    Each network meets every chip, with every other of the options: the odd or the even ones.
    """
    (folder / "fusing.yaml").write_text(FUSING)
    (folder / "chip.yaml").write_text(FUSING_CHIP)
    networks = dict(_networks(folder, more))
    for row, (chip, (file, overrides)) in enumerate(CHIPS.items()):
        soc = load_soc(file if isinstance(file, str) else folder / file, overrides)
        for column, (network, (graph, source)) in enumerate(networks.items(), row):
            for name, asked in list(OPTIONS.items())[column % 2 :: 2]:
                yield Case(
                    key={"chip": chip, "network": network, "options": name},
                    arguments=(soc, graph, source, _options(soc, graph, **asked)),
                )


def _options(
    soc: ResolvedSoc, graph: Graph, *, accelerators: bool = True, pins: bool = False, **model: Any
) -> BuildOptions:
    pools = [pool.name for pool in soc.pools if pool.role in WORKSPACE_ROLES]
    requests = load_requests(None, pin=[f"{graph.inputs[0]}={pools[-1]}"] if pins else [])
    asked = requests.model.model_copy(update=model)
    return BuildOptions(accelerators=accelerators, requests=replace(requests, model=asked))


def _networks(folder: Path, more: Sequence[Path]) -> Iterator[tuple[str, tuple[Graph, Source]]]:
    for seed in (1, 3, 5, 8):
        yield f"layers {seed}", (random_network(seed), NOWHERE)
    written: Mapping[str, Callable[[], bytes]] = {
        "drawn_2": lambda: drawn_network(tflite_builder, Random("drawn 2")),
        "drawn_7": lambda: drawn_network(tflite_builder, Random("drawn 7")),
        "npu_4": lambda: tflite_builder.write(npu_network(tflite_builder, 4)),
        "npu_9": lambda: tflite_builder.write(npu_network(tflite_builder, 9)),
        "heavy": lambda: streaming.network(
            (1, 16, 16, 16), ((32, 3, 1), (64, 3, 2), (64, 1, 1), (96, 3, 2), (10,))
        ),
    }
    files = [EXAMPLES / "01_digits" / "digits_int8.tflite"]
    files.append(EXAMPLES / "03_two_networks" / "sampler.tflite")
    for name, make in written.items():
        files.append(folder / f"{name}.tflite")
        files[-1].write_bytes(make())
    for path in (*files, *more):
        yield path.stem, (load_network(path), read_source(path))
