# SPDX-License-Identifier: Apache-2.0
"""Count what a core runs for each multiply-accumulate, beside a plain C loop nest at -O3.

Run as ``python -m benchmarks.instructions NETWORK.tflite...``; `make bench` does for the example.
``--core cortex_m33 --isa armv8-m.main+dsp`` counts for another core, which ``atoll[iss]`` runs;
``--chip examples/08_qemu_machines/mps3_an547.yaml --cpu qemu`` for that of a machine of QEMU.
Counts are exact and the same on every machine.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import kind_of
from atoll.resolve import load_soc
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.iss import iss_run as iss
from atoll_sim.iss.engines import make_models
from atoll_sim.qemu import qemu_run as qemu
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models
from benchmarks.shown import console
from benchmarks.small_program import link
from benchmarks.small_program import request as request_of

PLAIN = Path(__file__).with_name("plain_convolution.c")
CHIP = "lagoon"
LAYOUT = """SECTIONS {{
  . = {code};
  .vectors : {{ KEEP(*(.vectors)) }}
  . = {reset};
  .text : {{ *(.text.start) *(.text*) *(.rodata*) }}
  /DISCARD/ : {{ *(.eh_frame* .ARM.ex*) }}
}}
"""
EXTENTS = (
    *("in_height", "in_width", "in_channels", "out_height", "out_width", "out_channels"),
    *("kernel_h", "kernel_w", "stride_h", "stride_w", "pad_top", "pad_left"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Instructions of one layer.

    Attributes:
        ours: of Atoll's kernel, from its begin event to its end event.
        plain: of the C loop nest.
    """

    kind: str
    macs: int
    ours: int
    plain: int


def counts_of(
    network: Path, soc: ResolvedSoc | None = None, cpu: CpuKind = CpuKind.ISS
) -> Iterator[Count]:
    """Yield the counts of all layers of a network that multiply and accumulate.

    Args:
        network: a quantised network.
        soc: the chip, whose host runs all; lagoon if none is given.
        cpu: what simulates it and counts, `CpuKind.ISS` or `CpuKind.QEMU`.
    """
    soc = soc or load_soc(CHIP)
    compiled = compile_file(soc, network, BuildOptions(accelerators=False))
    (outcome,) = run_models(
        (compiled,),
        (random_sample(compiled.graph),),
        cpu=cpu,
        accelerator=AcceleratorKind.NONE,
    )
    assert outcome.report.passed, f"{network} does not run as it should"
    ours = {layer.operator: layer.instructions or 0 for layer in outcome.report.by_layer}
    for op in compiled.graph.operators:
        features = kind_of(op).features(op, compiled.graph)
        if features["macs"] and op.name in ours:
            yield Count(
                kind=_kind(op, features),
                macs=features["macs"],
                ours=ours[op.name],
                plain=plain_count(op, compiled.graph, soc, cpu),
            )


def plain_count(op: Operator, graph: Graph, soc: ResolvedSoc, cpu: CpuKind) -> int:
    """Return the instructions of the C loop nest for an operator."""
    features = kind_of(op).features(op, graph)
    extents: dict[str, int | str] = {name.upper(): features[name] for name in EXTENTS}
    extents |= {
        "STACK_TOP": soc.host_cpu.stack.end,
        "CONSOLE": f"{soc.console.origin}u",
        "WORKSPACE": f"{_largest(soc, 'workspace')}u",
        "CONSTANTS": f"{_largest(soc, 'constants')}u",
        "ZERO": -128,
        "DEPTHWISE": int(op.kind == "depthwise_conv_2d"),
    }
    with temporary_folder() as folder:
        macros = [f"-D{name}={value}" for name, value in extents.items()]
        instructions = soc.host_cpu.instructions
        elf = link(PLAIN, _layout(soc.host_cpu), folder, instructions, "-O3", *macros)
        request = request_of(soc, elf)
        if cpu is CpuKind.QEMU:
            result = qemu.simulate(request)
        else:
            result = iss.simulate(request, lambda memory: make_models(soc, memory))
    assert result.exit_status == 0, f"the plain loop nest of '{op.name}' broke off"
    return sum(phase.instructions or 0 for phase in result.phases)


def _layout(core: Cpu) -> str:
    return LAYOUT.format(code=core.code.origin, reset=core.reset_address)


def _largest(soc: ResolvedSoc, role: str) -> int:
    """Return the address of the largest pool of a role."""
    pools = [pool.region for pool in soc.pools if pool.role == role]
    return max(pools, key=lambda region: region.size).origin


def _kind(op: Operator, features: Mapping[str, int]) -> str:
    one = op.kind == "conv_2d" and (features["kernel_h"], features["kernel_w"]) == (1, 1)
    return f"{op.kind} 1x1" if one else op.kind


def _chip(arguments: argparse.Namespace) -> ResolvedSoc:
    host = load_soc(arguments.chip).host
    given = {"core": arguments.core, "isa": arguments.isa}
    settings = (f"devices.{host}.{key}={value}" for key, value in given.items() if value)
    return load_soc(arguments.chip, tuple(settings))


def main() -> int:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="+", type=Path, metavar="NETWORK.tflite")
    parser.add_argument("--chip", default=CHIP, help="its host runs all (default: %(default)s)")
    parser.add_argument("--core", help="of the host, instead of the chip's")
    parser.add_argument("--isa", help="instruction set of the host, instead of the chip's")
    parser.add_argument("--cpu", choices=("iss", "qemu"), default="iss", help="what counts")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    soc, cpu = _chip(arguments), CpuKind[arguments.cpu.upper()]
    by_kind: dict[str, list[Count]] = defaultdict(list)
    for network in arguments.networks:
        for count in counts_of(network, soc, cpu):
            by_kind[count.kind].append(count)
    rows = {
        kind: {
            "macs": sum(count.macs for count in counts),
            "ours": sum(count.ours for count in counts),
            "plain": sum(count.plain for count in counts),
        }
        for kind, counts in by_kind.items()
    }
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return 0
    table = Table("operators", "MACs", "instructions a MAC", "plain C -O3", "ratio")
    for kind, row in rows.items():
        ours, plain = (row[name] / row["macs"] for name in ("ours", "plain"))
        table.add_row(
            kind, f"{row['macs']:,}", f"{ours:.2f}", f"{plain:.2f}", f"{ours / plain:.2f}"
        )
    console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
