# SPDX-License-Identifier: Apache-2.0
"""Hold estimates of cores beside published times of the same networks on chips with these cores.

Run as ``python -m benchmarks.published FOLDER``, where FOLDER has the networks of MLPerf Tiny. It
prints the table of docs/estimate.md. Others' times are of others' kernels, and of the memories of
their chips: the table shows both and claims nothing more.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from atoll.cli.output import as_command
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.report.estimates import estimates_of
from atoll.resolve import load_soc

CHIP, HOST, CODE = "lagoon", "cpu", "flash"
NETWORKS = {
    "kws": "kws_ref_model",
    "vww": "vww_96_int8",
    "ic": "pretrainedResnet_quant",
    "ad": "ad01_int8",
}
CORES = {
    "Cortex-M0+": ("cortex_m0plus", "armv6-m"),
    "Cortex-M4": ("cortex_m4", "armv7e-m+fp"),
    "Cortex-M7": ("cortex_m7", "armv7e-m+fp.dp"),
    "Cortex-M33": ("cortex_m33", "armv8-m.main+dsp+fp"),
    "Cortex-M85": ("cortex_m85", "armv8.1-m.main+mve+fp"),
}
HEAD = (
    "| chip, clock | core | kernels | kws | vww | ic | ad | source |",
    "|---|---|---|---|---|---|---|---|",
)


@dataclass(frozen=True, slots=True)
class Submission:
    """A system that MLPerf Tiny measured, in its closed division.

    Attributes:
        rates: median inferences a second of each of `NETWORKS`, in its order.
        source: round of MLPerf Tiny and folder of the results there.
    """

    chip: str
    megahertz: int
    core: str
    kernels: str
    rates: tuple[float, float, float, float]
    source: str


SUBMISSIONS = (
    Submission(
        "STM32G0B1RE",
        64,
        "Cortex-M0+",
        "Bosch HALE 1.0",
        (1.472, 0.535, 0.599, 21.484),
        "v1.1, bosch/NUCLEO_G0B1RE",
    ),
    Submission(
        "STM32L4R5ZI",
        120,
        "Cortex-M4",
        "Bosch HALE 1.0",
        (15.954, 5.533, 5.586, 176.699),
        "v1.1, bosch/NUCLEO_L4R5ZI",
    ),
    Submission(
        "STM32L4R5ZI",
        120,
        "Cortex-M4",
        "X-CUBE-AI 8.1.0",
        (15.905, 8.425, 4.673, 145.829),
        "v1.1, STMicroelectronics/NUCLEO_L4R5ZI",
    ),
    Submission(
        "STM32L4R5ZI",
        120,
        "Cortex-M4",
        "Plumerai 2023.05",
        (20.929, 10.126, 5.961, 246.814),
        "v1.1, plumerai/NUCLEO-L4R5ZI",
    ),
    Submission(
        "STM32L4R5ZI",
        120,
        "Cortex-M4",
        "microTVM, CMSIS-NN",
        (10.019, 3.320, 2.567, 116.212),
        "v1.0, OctoML/microtvm_cmsis_nn/NUCLEO_L4R5ZI",
    ),
    Submission(
        "STM32F746NG",
        216,
        "Cortex-M7",
        "Bosch HALE 1.0",
        (54.293, 17.490, 16.242, 587.335),
        "v1.1, bosch/DISCO_F746NG",
    ),
    Submission(
        "STM32F746NG",
        216,
        "Cortex-M7",
        "Plumerai 2023.05",
        (56.341, 29.343, 15.904, 585.204),
        "v1.1, plumerai/DISCO-F746NG",
    ),
    Submission(
        "STM32H7A3ZI",
        280,
        "Cortex-M7",
        "Bosch HALE 1.0",
        (67.956, 22.906, 21.353, 737.281),
        "v1.1, bosch/NUCLEO_H7A3ZI",
    ),
    Submission(
        "STM32H7A3ZI",
        280,
        "Cortex-M7",
        "X-CUBE-AI 8.1.0",
        (65.133, 33.751, 19.250, 549.973),
        "v1.1, STMicroelectronics/NUCLEO_H7A3ZI_Q",
    ),
    Submission(
        "STM32H7A3ZI",
        280,
        "Cortex-M7",
        "Plumerai 2023.05",
        (72.141, 37.290, 19.636, 742.001),
        "v1.1, plumerai/NUCLEO-H7A3ZI-Q",
    ),
    Submission(
        "STM32U575ZI",
        160,
        "Cortex-M33",
        "X-CUBE-AI 8.1.0",
        (25.920, 13.974, 7.800, 206.191),
        "v1.1, STMicroelectronics/NUCLEO_U575ZI_Q",
    ),
    Submission(
        "nRF5340",
        128,
        "Cortex-M33",
        "microTVM, CMSIS-NN",
        (13.143, 4.310, 3.163, 159.579),
        "v1.0, OctoML/microtvm_cmsis_nn/NRF5340-DK",
    ),
    Submission(
        "R7FA8D1AHECBD",
        480,
        "Cortex-M85",
        "TFLM, CMSIS-NN",
        (288.611, 74.665, 117.948, 1884.138),
        "v1.2, Renesas/EK-RA8D1",
    ),
)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="of the networks of MLPerf Tiny")
    for line in table(parser.parse_args().folder):
        print(line)
    return 0


def table(folder: Path) -> Iterator[str]:
    """Yield the lines of the table: of each network, the published time and our estimate."""
    ours = {core: cycles(core, folder) for core in CORES}
    yield from HEAD
    for each in SUBMISSIONS:
        pairs = zip(each.rates, ours[each.core], strict=True)
        times = (f"{1000 / rate:.1f}, {own / each.megahertz / 1000:.1f}" for rate, own in pairs)
        cells = (f"{each.chip}, {each.megahertz} MHz", each.core, each.kernels, *times, each.source)
        yield f"| {' | '.join(cells)} |"


def cycles(core: str, folder: Path) -> tuple[int, ...]:
    """Estimate the cycles of each network on a core alone, in memories without wait states."""
    name, isa = CORES[core]
    sets = (f"devices.{HOST}.core={name}", f"devices.{HOST}.isa={isa}")
    soc = load_soc(CHIP, (*sets, f"memories.{CODE}.read_latency=1"))
    alone = BuildOptions(accelerators=False)
    files = (folder / f"{file}.tflite" for file in NETWORKS.values())
    found = (estimates_of((compile_file(soc, file, alone),))[0] for file in files)
    return tuple(each.network for each in found)


if __name__ == "__main__":
    sys.exit(as_command(main))
