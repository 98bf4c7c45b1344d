# SPDX-License-Identifier: Apache-2.0
"""From saving a chip to its new picture: ``python -m benchmarks.serve SOC MODEL… [--saves N]``.

A copy of the chip is saved again and again below a running `atoll serve`, and the page's stream of
events is read until it has a newer picture.
"""

import argparse
import http.client
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from atoll.description.share import find_soc


def main() -> None:
    """Print the seconds of each save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("soc", type=Path)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--saves", type=int, default=20)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chip = Path(folder) / "chip.yaml"
        chip.write_text(find_soc(chosen.soc).read_text())
        command = [sys.executable, "-m", "atoll", "serve", str(chip), *map(str, chosen.models)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            seconds = list(_saves(chip, server.stdout.readline().strip(), chosen.saves))
            server.send_signal(signal.SIGINT)
    print(f"{len(seconds)} saves: median {statistics.median(seconds):.2f} s,", end=" ")
    print(f"least {min(seconds):.2f} s, most {max(seconds):.2f} s")


def _saves(chip: Path, address: str, count: int) -> Iterator[float]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    connection.request("GET", f"{parts.path}events")
    states: Iterator[dict[str, Any]] = (
        json.loads(line[6:]) for line in connection.getresponse() if line.startswith(b"data: ")
    )
    text = chip.read_text()
    next(each for each in states if each["picture"])
    for number in range(1, count + 1):
        begin = time.monotonic()
        chip.write_text(f"{text}# save {number}\n")
        next(each for each in states if each["picture"] > number)
        yield time.monotonic() - begin
    connection.close()


if __name__ == "__main__":
    main()
