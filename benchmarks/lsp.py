# SPDX-License-Identifier: Apache-2.0
"""How long `atoll lsp` takes to answer on a chip of 400 lines: `python -m benchmarks.lsp`.

Each round changes the file and asks everything at once, as an editor does while somebody types, and
once more when the verdict is there.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.lsp_client import Editor, find

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ENGINES = 15
ROUNDS = 10
SECONDS = 0.5
"""Between two changes, for somebody who types in words."""


def chip(engines: int = ENGINES) -> str:
    """Return the text of a chip that has about 27 lines for each engine."""
    lines = ["# A chip with many engines.", "soc: big", "version: 1", "host: cpu", "devices:"]
    lines += ["  cpu:", "    kind: cpu", "    isa: rv32imc", "    code: {memory: flash}"]
    lines += ["    stack: {memory: sram, size: 8 KiB}"]
    for n in range(engines):
        lines += [f"  npu{n}:  # engine {n}", "    kind: npu", "    accelerator: reef"]
        lines += ["    params: {output_lanes: 4}", f"    registers: {0x4000_0000 + n * 4096:#x}"]
        lines += [f"    irq: {3 + n}", ""]
    lines += ["memories:", "  flash: {origin: 0, size: 4 MiB, kind: rom}"]
    lines += ["  sram: {origin: 0x2000_0000, size: 1 MiB, kind: ram}"]
    for n in range(engines):
        lines += [f"  tcm{n}:", f"    origin: {0x3000_0000 + (n << 20):#x}"]
        lines += ["    size: 64 KiB", "    kind: ram"]
    lines += ["pools:", "  weights: {memory: flash, role: constants, others: ro}"]
    lines += ["  shared: {memory: sram, role: workspace, others: rw}"]
    for n in range(engines):
        lines += [f"  local{n}:  # of npu{n}", f"    memory: tcm{n}", "    role: workspace"]
        lines += ["    preference: -1", "    reach:", "      cpu: rw", f"      npu{n}: rw"]
        others = [m for m in range(engines) if m != n][:6]
        lines += [*(f"      npu{m}: none" for m in others), "    others: none", ""]
    return "\n".join(lines) + "\n"


async def measure(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each answer, by question and by what the server is doing."""
    text = chip()
    editor, seconds = Editor(folder), dict[str, list[float]]()
    await editor.start()
    uri = editor.open(folder / "big.yaml", text)
    await editor.diagnostics(uri)
    name, word = find(text, "tcm3", 1), find(text, "memory: tcm3")
    place = (word[0], word[1] + len("memory: "))
    asked: dict[str, Callable[[], Awaitable[object]]] = {
        "completion": lambda: editor.complete(uri, place),
        "definition": lambda: editor.definition(uri, name),
        "references": lambda: editor.references(uri, name),
        "rename": lambda: editor.rename(uri, name, "other"),
        "hover": lambda: editor.hover(uri, word),
        "hints": lambda: editor.hints(uri),
    }

    async def ask(when: str, questions: list[str]) -> None:
        for each in questions:
            begin = time.perf_counter()
            assert await asked[each]()
            seconds.setdefault(f"{each}, {when}", []).append(time.perf_counter() - begin)

    without_verdict = ["completion", "definition", "references", "rename"]
    for number in range(rounds):
        editor.change(uri, text.replace("engine 0", f"engine {number}"))
        begin = time.perf_counter()
        await ask("just changed", without_verdict)
        await asyncio.sleep(SECONDS / 2)
        await ask("while it is judged", without_verdict)
        await editor.diagnostics(uri)
        seconds.setdefault("diagnostics", []).append(time.perf_counter() - begin)
        await ask("judged", list(asked))
    await editor.stop()
    return seconds


def main() -> None:
    """Print the median and the longest of each answer."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = arguments.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        seconds = asyncio.run(measure(Path(folder), rounds))
    print(f"{chip().count(chr(10))} lines, {rounds} rounds")
    for question, times in seconds.items():
        median = 1000 * statistics.median(times)
        print(f"{question:32} median {median:7.1f} ms   longest {1000 * max(times):7.1f} ms")
    every = [each for name, times in seconds.items() if name != "diagnostics" for each in times]
    print(f"{'all answers':32} median {1000 * statistics.median(every):7.1f} ms")


if __name__ == "__main__":
    main()
