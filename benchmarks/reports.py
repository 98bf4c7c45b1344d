# SPDX-License-Identifier: Apache-2.0
"""Size of reports, and the time that they take beyond the work that they show.

Run as ``python -m benchmarks.reports [NAME ...] [--write FOLDER] [--models FOLDER]``. Changes of
chips that might help are not tried here: the time for them is what one asks for. Seconds are those
of the processor, so that what else the machine does counts little. Networks of MLPerf
Tiny are read from ``--models``; without it their reports are left out, and said so.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

import atoll
from atoll.cli.output import as_command
from benchmarks.large_networks import many_operators
from benchmarks.shown import console
from benchmarks.streaming import IMAGE, LAYERS, network

ROOT = Path(__file__).parents[1]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
SAMPLER = ROOT / "examples" / "03_two_networks" / "sampler.tflite"
STREAMED = ROOT / "examples" / "12_streamed_weights" / "chip.yaml"
LARGE = {
    **{"memories.flash.size": "16 MiB", "memories.sram.size": "2 MiB"},
    **{"pools.weights.size": "15 MiB", "pools.shared.size": "2 MiB"},
}


@dataclass(frozen=True, slots=True)
class Made:
    """A report with the seconds of the processor that its documents and its page took."""

    report: atoll.Report
    html: str
    documents_seconds: float
    page_seconds: float


def _of_mlperf(models: Path | None) -> Path:
    if models is None:
        raise FileNotFoundError("no --models")
    return models / "vww_96_int8.tflite"


SUBJECTS: dict[str, Callable[[Path | None], atoll.Compilation]] = {
    "digits on lagoon": lambda _: atoll.compile("lagoon", DIGITS),
    "digits on twin": lambda _: atoll.compile("twin", DIGITS),
    "vww on atoll2, 36 KiB": lambda models: atoll.compile(
        atoll.load_soc("atoll2").with_({"pools.shared.size": "36 KiB"}), _of_mlperf(models)
    ),
    "streamed weights": lambda _: atoll.compile(STREAMED, network(IMAGE, LAYERS)),
    "three networks on one chip": lambda _: atoll.compile(
        "lagoon", [DIGITS, SAMPLER, network((1, 8, 8, 16), ((16, 3, 1), (10,)))]
    ),
    "digits on Corstone-300, Ethos-U55": lambda _: atoll.compile("corstone300_u55", DIGITS),
    "1,000 operators on lagoon": lambda _: atoll.compile(
        atoll.load_soc("lagoon").with_(LARGE), many_operators()
    ),
}


def make(name: str, models: Path | None = None) -> Made:
    """Compile a subject, and make its report."""
    made = SUBJECTS[name](models)
    begin = time.process_time()
    report = atoll.make_report(made, try_seconds=0)
    middle = time.process_time()
    html = report.to_html()
    return Made(report, html, middle - begin, time.process_time() - middle)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *SUBJECTS])
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    parser.add_argument("--models", type=Path, metavar="FOLDER")
    asked = parser.parse_args(arguments)
    table = Table("report", "documents, CPU s", "page, CPU s", "KiB", title="Reports")
    for name in asked.names or SUBJECTS:
        try:
            made = make(name, asked.models)
        except (FileNotFoundError, atoll.UsageError) as missing:
            table.add_row(name, "not measured", str(missing), "")
            continue
        size = f"{len(made.html.encode()) / 1024:,.0f}"
        table.add_row(name, f"{made.documents_seconds:.2f}", f"{made.page_seconds:.2f}", size)
        if asked.write:
            asked.write.mkdir(parents=True, exist_ok=True)
            (asked.write / f"{name.replace(' ', '_')}.html").write_text(made.html, encoding="utf-8")
    console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(as_command(main))
