# SPDX-License-Identifier: Apache-2.0
"""Lint all RTL: Verible's style rules, and Verilator -Wall on each chip of Atoll's own.

Run as ``python -m atoll_sim.build.lint [FOLDER ...]``, folders of more RTL for Verible; part of
`make lint`.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.cli.output import as_command
from atoll.description.share import shared_folder
from atoll.resolve import load_soc
from atoll.utils.children import Done, run
from atoll.utils.scratch import temporary_folder
from atoll.utils.workers import side_by_side
from atoll_sim.build.tools import verilator_environment
from atoll_sim.chip.generate import generate, in_order, includes, sources
from atoll_sim.chip.plan import plan_chip
from atoll_sim.chip.sources import FOLDERS, RTL

VERIBLE = ("verible-verilog-lint", "--rules_config", str(RTL / "verible.rules"))
CHIPS = ("atoll2", "lagoon", "quad", "twin")
"""The shipped chips whose RTL is Atoll's own, but for the core."""


def main() -> int:
    """Lint everything; the status is 1 if a command complained."""
    with temporary_folder() as folder:
        ended = side_by_side(lint, commands(folder), os.cpu_count() or 1)
        failed = [name for name, done in ended if not clean(name, done)]
    return 1 if failed else 0


def commands(folder: Path) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield a title and a command for each thing to lint; generated files go to `folder`."""
    folders = (*FOLDERS, *map(Path, sys.argv[1:]))
    yield "verible", (*VERIBLE, *(str(path) for each in folders for path in each.glob("*.sv")))
    chips = {name: shared_folder("socs") / f"{name}.yaml" for name in CHIPS}
    for name, description in chips.items():
        yield name, verilator(description, folder / name)
    waves = chips["lagoon"]
    yield "waveforms", verilator(waves, folder / "waveforms", waves=True)
    yield "faults", verilator(waves, folder / "faults", faults=True)
    yield "bench", verilator(waves, folder / "bench", bench=True)


def verilator(
    description: Path,
    folder: Path,
    *,
    waves: bool = False,
    faults: bool = False,
    bench: bool = False,
) -> Sequence[str]:
    """Write the generated part of a chip into `folder`; return the command that lints it all."""
    planned = plan_chip(load_soc(description))
    chip = replace(planned, waves=waves, faults=faults, bench=bench)
    folder.mkdir()
    texts = generate(chip)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return (
        *("verilator", "--lint-only", "-Wall", "--assert", "--top-module", "atoll_chip"),
        *(f"-I{RTL}", *(f"+incdir+{path}" for path in includes(chip)), str(RTL / "lint.vlt")),
        *map(str, in_order(texts, sources(chip), folder)),
    )


def lint(titled: tuple[str, Sequence[str]]) -> tuple[str, Done]:
    """Run the command of a title."""
    name, command = titled
    environment = dict(verilator_environment())
    scripts = Path(sys.executable).parent
    environment["PATH"] = f"{scripts}{os.pathsep}{environment['PATH']}"
    return name, run(command, environment=environment)


def clean(name: str, done: Done) -> bool:
    """Tell whether a command had nothing to say; print what it says if it complains."""
    good = done.returncode == 0 and not done.stderr
    print(f"{name}: {'clean' if good else 'complaints'}")
    if not good:
        print(done.stdout + done.stderr)
    return good


if __name__ == "__main__":
    sys.exit(as_command(main))
