# SPDX-License-Identifier: Apache-2.0
"""A chip for the networks of MLPerf Tiny that beats lagoon in all that counts, run in RTL.

Run as ``python -m benchmarks.beat_lagoon MODELS OUTPUT [--rtl]``. A sweep over lagoon with the same
number of MACs asks for cycles, bytes of plans in RAM, bytes of all SRAM and area of logic. Flash,
host core and clocks stay lagoon's: the array of a flash is in no area, so a wider one would win at
nearly no cost. Of the points below lagoon in all four, the one with the fewest cycles is written as
YAML. With ``--rtl``, all networks run on lagoon and on it. Cycles and bytes are compared with what
the sweep promised, and the cycles of both chips with each other.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

import atoll
from atoll.cli.output import as_command
from benchmarks.shown import console

NETWORKS = {
    "kws": "kws_ref_model.tflite",
    "vww": "vww_96_int8.tflite",
    "resnet": "pretrainedResnet_quant.tflite",
    "ad01": "ad01_int8.tflite",
}
OBJECTIVES = ("cycles", "ram_bytes", "sram_bytes", "logic_um2")
NPU = "devices.npu.params"
WIDE = {f"{NPU}.data_bytes": 16, "memories.sram.width": 16}
SMALL = {"memories.sram.size": "64 KiB", "memories.dtcm.size": "16 KiB"}
AXES = {
    "lanes": {
        "settings": {
            "8x8": {f"{NPU}.input_lanes": 8, f"{NPU}.output_lanes": 8},
            "8x8, 16 bytes": {f"{NPU}.input_lanes": 8, f"{NPU}.output_lanes": 8, **WIDE},
            "4x16, 16 bytes": {f"{NPU}.input_lanes": 4, f"{NPU}.output_lanes": 16, **WIDE},
        }
    },
    f"{NPU}.requantisers": [4, 8],
    f"{NPU}.weight_rows": [256, 512],
    f"{NPU}.vector": [1, 2],
    "memories.sram.banks": [1, 4],
    "pools": {
        "settings": {
            f"{size} KiB": {
                **SMALL,
                "pools.shared.size": f"{size} KiB",
                "pools.private.size": "1 KiB",
            }
            for size in (40, 48, 64)
        }
        | {
            f"{size} KiB, no dtcm": {
                "memories.sram.size": f"{size} KiB",
                "pools.shared.size": f"{room} KiB",
                "devices.cpu.stack.memory": "sram",
                "pools.private": "null",
                "memories.dtcm": "null",
            }
            for size, room in ((64, 48), (96, 64))
        }
    },
}
LAGOON = {"memories.flash.width": [4]}
TOLERATED = 0.05
"""How far cycles in RTL may be from the promise, as a share of it."""


def swept(models: Path, axes: Mapping[str, Any], output: Path | None = None) -> atoll.SweepResults:
    """Ask chips with the axes about the networks."""
    asked = {
        "sweep": "beat_lagoon",
        "version": 1,
        "soc": "lagoon",
        "networks": {name: str(models / file) for name, file in NETWORKS.items()},
        "axes": axes,
        "objectives": list(OBJECTIVES),
    }
    return atoll.sweep(asked, output, workers=0)


def better(row: Mapping[str, Any], base: Mapping[str, Any]) -> bool:
    """Tell whether a point is below another one in all objectives."""
    return all(row[name] is not None and row[name] < base[name] for name in OBJECTIVES)


def run(chip: atoll.Soc, models: Path, row: Mapping[str, Any]) -> tuple[int, bool]:
    """Run all networks in RTL, and print what came of it.

    Returns:
        The sum of cycles, and whether the promises of `row` were kept.
    """
    shown = Table(chip.name, "cycles promised", "in RTL", "off", "RAM, ROM promised", "planned")
    kept, total = True, 0
    for name, file in NETWORKS.items():
        made = atoll.compile(chip, atoll.load_network(models / file, name=name))
        found = atoll.run(made, cpu="rtl").network
        layers = found.to_json()["cycles"]["by_layer"]
        cycles = max(each["end"] for each in layers) - min(each["begin"] for each in layers)
        total += cycles
        said, off = row[f"{name}.cycles"], cycles / row[f"{name}.cycles"] - 1
        kinds = made.soc._resolved
        used = {"ram": 0, "rom": 0}
        for pool, size in made.used_bytes.items():
            used[kinds.memory(kinds.pool(pool).region.memory).kind] += size
        bytes_said = row[f"{name}.ram_bytes"], row[f"{name}.rom_bytes"]
        kept &= found.passed and abs(off) <= TOLERATED and bytes_said == (used["ram"], used["rom"])
        cells = f"{said:,}", f"{cycles:,}", f"{100 * off:+.1f} %"
        shown.add_row(name, *cells, str(bytes_said), f"{used['ram']}, {used['rom']}")
    shown.add_row(
        "all", f"{row['cycles']:,}", f"{total:,}", f"{100 * (total / row['cycles'] - 1):+.1f} %"
    )
    console().print(shown)
    return total, kept


def main(arguments: Sequence[str]) -> int:
    """Print lagoon and the chip that beats it; the status is 1 if it does not do so in RTL."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--rtl", action="store_true")
    asked = parser.parse_args(arguments)
    (base,) = swept(asked.models, LAGOON).rows()
    found = swept(asked.models, AXES, asked.output / "sweep")
    winners = [row for row in found.rows() if row["status"] == "ok" and better(row, base)]
    print(found.text())
    if not winners:
        print("no chip beats lagoon")
        return 1
    best = min(winners, key=lambda row: (row["cycles"], row["logic_um2"]))
    shown = Table("figure", "lagoon", f"point {best['point']}", "share")
    for name in (*OBJECTIVES, "logic_um2_low", "logic_um2_high", "rom_bytes", "time_us"):
        share = f"{100 * best[name] / base[name]:.1f} %"
        shown.add_row(name, f"{base[name]:,}", f"{best[name]:,}", share)
    console().print(
        f"{len(winners)} of {found.computed} points beat lagoon in {', '.join(OBJECTIVES)}"
    )
    console().print(shown)
    print(found.explain(best["point"]))
    chip = asked.output / "chip.yaml"
    found.write_chip(best["point"], chip)
    print(chip.read_text())
    if not asked.rtl:
        return 0
    before, known = run(atoll.load_soc("lagoon"), asked.models, base)
    after, kept = run(atoll.load_soc(chip), asked.models, best)
    print(f"in RTL, {100 * after / before:.1f} % of lagoon's cycles")
    return 0 if known and kept and after < before else 1


if __name__ == "__main__":
    sys.exit(as_command(lambda: main(sys.argv[1:])))
