# SPDX-License-Identifier: Apache-2.0
"""What a simulation of firmware needs beside RTL: its image, samples, and what must come out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from atoll.artifacts.samples import Sample
from atoll.driver.pipeline import Compiled, expected_cycles
from atoll.ops import reference
from atoll.records import dataclass
from atoll_sim.simulate.firmware import image_records
from atoll_sim.simulate.rtl_run import SLACK

FIRMWARE = "firmware.hex"
PER_LINE = 32
START = 10**7
"""Cycles of all that is not estimated: start-up, and the copies of the bench."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One run of a network.

    Attributes:
        network: its name.
        given: name of the file with its inputs.
        made: name of the file with the outputs that the reference computes.
    """

    network: str
    given: str
    made: str


@dataclass(frozen=True, slots=True)
class FirmwareBench:
    """Firmware and its runs.

    Attributes:
        turns: in the order of the runs.
        texts: files by name: bytes with their addresses on the bus.
        longest: cycles in which all must have ended.
    """

    turns: tuple[Turn, ...]
    texts: Mapping[str, str]
    longest: int


def bench_of(
    models: Sequence[Compiled], elves: Sequence[Path], samples: Sequence[Sequence[Sample]]
) -> FirmwareBench:
    """Return the bench of firmware that runs networks in turn, each with all of its samples.

    Args:
        models: what the firmware was linked for.
        elves: the firmware, the host's first.
        samples: of each network; all have the same number.
    """
    texts = {FIRMWARE: hex_text(image_records(elves, models[0].soc))}
    turns: dict[tuple[int, int], Turn] = {}
    for position, (model, those) in enumerate(zip(models, samples, strict=True)):
        graph, entry = model.graph, model.module.entry
        expected = reference.run_in_turn(graph, those, model.soc)
        for number, (sample, computed) in enumerate(zip(those, expected, strict=True)):
            turn = Turn(
                graph.name, *(f"{graph.name}_{number}_{side}.hex" for side in ("in", "out"))
            )
            turns[number, position] = turn
            texts[turn.given] = hex_text(_records(model, entry.inputs, sample))
            texts[turn.made] = hex_text(_records(model, entry.outputs, computed))
    runs = [sum(each.cycles for each in expected_cycles(model).values()) for model in models]
    longest = START + SLACK * len(samples[0]) * sum(runs)
    return FirmwareBench(tuple(turn for _, turn in sorted(turns.items())), texts, longest)


def _records(model: Compiled, names: Iterable[str], values: Sample) -> Iterator[tuple[int, bytes]]:
    return ((model.plan.address(name), values[name].tobytes()) for name in names)


def hex_text(records: Iterable[tuple[int, bytes]]) -> str:
    """Write bytes down: on each line an address, how many follow, and they, all in hexadecimal."""
    lines = []
    for address, data in records:
        for at in range(0, len(data), PER_LINE):
            part = data[at : at + PER_LINE]
            lines.append(f"{address + at:08x} {len(part):x} {part.hex(' ')}\n")
    return "".join(lines)
