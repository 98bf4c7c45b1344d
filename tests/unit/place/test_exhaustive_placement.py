# SPDX-License-Identifier: Apache-2.0
"""A placement that exists is found: random chips against an exhaustive search of its own.

Some operators are asked to run on some device: without that, the host could run all.
The search tries every device for every operator. For each tensor it tries every pool to write it
in, and spreads it by copies of the host and of DMA engines, one after the other, until nothing new
is reached. It shares no code with the planner.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.effort import outcomes_of
from tests.operator_samples import Tree
from tests.requests import load_requests

from atoll.diagnostics.errors import AtollError, PlacementError
from atoll.frontend.registry import load_network
from atoll.ir.graph import Graph
from atoll.ops.registry import COPY
from atoll.place.plan_devices import plan_devices
from atoll.reach.candidates import candidate_pools, needs_of
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

SHAPE = (1, 4, 4, 16)
KINDS = ("ADD", "MUL", "LOGISTIC")
REACH = re.compile(r"'pools\.(\w+)\.reach\.(\w+)' to (\w+)")
MOVES = re.compile(r"'\[(\w+), (\w+)\]' to 'devices\.(\w+)\.moves'")
Chip = dict[str, Any]


def random_chip(chance: random.Random) -> Chip:
    """Draw what a chip has: 2 to 6 devices, pools of crossed and one-way reach."""
    npus = {
        f"npu{number}": chance.sample(KINDS, chance.randint(1, 3))
        for number in range(chance.randint(0, 3))
    }
    cores = ["dsp"] * chance.randint(0 if npus else 1, 1)
    dmas = [f"dma{number}" for number in range(chance.choice((0, 0, 1, 1, 2)))]
    while 1 + len(npus) + len(cores) + len(dmas) > 6:
        dmas.pop()
    memories = [f"m{number}" for number in range(chance.randint(2, 4))]
    pools = {}
    users = ["cpu", *cores, *npus, *dmas]
    for memory in memories:
        open_to = chance.choice((("rw", "none", "none"), ("rw", "ro", "none", "none")))
        pools[f"p_{memory}"] = {name: chance.choice(open_to) for name in users}
        pools[f"p_{memory}"]["cpu"] = chance.choice(("rw", "rw", "ro"))
    for name in users:
        if all(reach[name] != "rw" for reach in pools.values()):
            pools[chance.choice(list(pools))][name] = "rw"
    moves = {}
    for dma in dmas:
        pairs = [
            (one[2:], two[2:])
            for one, two in product(pools, pools)
            if one != two and pools[one][dma] != "none" and pools[two][dma] == "rw"
        ]
        if pairs:
            moves[dma] = chance.sample(pairs, chance.randint(1, min(2, len(pairs))))
    users = [name for name in users if name not in dmas or name in moves]
    pools = {pool: {name: reach[name] for name in users} for pool, reach in pools.items()}
    constants = dict.fromkeys(users, "ro")
    return {"npus": npus, "cores": cores, "moves": moves, "pools": pools, "constants": constants}


def written(chip: Chip) -> str:
    """Write a chip as YAML."""
    lines = [
        "soc: drawn\nversion: 1\nhost: cpu",
        "devices:",
        "  cpu: {kind: cpu, isa: rv32imc, core: picorv32, stack: {memory: tcm, size: 4 KiB}}",
    ]
    registers = 0x4000_0000
    for number, name in enumerate((*chip["cores"], *chip["npus"], *chip["moves"])):
        place = f"{registers + number * 0x1_0000:#x}"
        if name in chip["npus"]:
            runs = ", ".join(chip["npus"][name])
            what = f"kind: npu, accelerator: reef, params: {{vector: 2}}, runs: [{runs}]"
            what += f", registers: {place}"
        elif name in chip["cores"]:
            what = "kind: dsp, isa: rv32im, core: picorv32, stack: {memory: ltcm, size: 4 KiB}"
            what += f", code: {{memory: flash, size: 64 KiB}}, mailbox: {place}"
        else:
            pairs = ", ".join(f"[{one}, {two}]" for one, two in chip["moves"][name])
            what = f"kind: dma, engine: ripple, moves: [{pairs}], registers: {place}"
        lines.append(f"  {name}: {{{what}, irq: {3 + number}}}")
    lines += [
        "memories:",
        "  flash: {origin: 0x0, size: 1 MiB, kind: rom, read_latency: 2}",
        "  tcm: {origin: 0x1000_0000, size: 64 KiB, kind: ram}",
        "  ltcm: {origin: 0x1100_0000, size: 64 KiB, kind: ram}",
    ]
    for number, pool in enumerate(chip["pools"]):
        origin = 0x2000_0000 + number * 0x100_0000
        lines.append(f"  {pool[2:]}: {{origin: {origin:#x}, size: 64 KiB, kind: ram, width: 8}}")
    lines.append("pools:")
    reach = ", ".join(f"{name}: {access}" for name, access in chip["constants"].items())
    lines.append(f"  w: {{memory: flash, role: constants, reach: {{{reach}}}}}")
    for pool, accesses in chip["pools"].items():
        reach = ", ".join(f"{name}: {access}" for name, access in accesses.items())
        lines.append(f"  {pool}: {{memory: {pool[2:]}, role: workspace, reach: {{{reach}}}}}")
    return "\n".join(lines) + "\n"


def random_network(builder: ModuleType, chance: random.Random) -> bytes:
    """Draw 2 to 5 operators on one or two inputs."""
    tree = Tree(builder)
    grid = {"scales": (0.05,), "zero_points": (-3,)}
    inputs = [tree.add(SHAPE, **grid) for _ in range(chance.randint(1, 2))]
    known = list(inputs)
    for _ in range(chance.randint(2, 5)):
        code = chance.choice(KINDS)
        if code == "LOGISTIC":
            result = tree.add(SHAPE, scales=(1 / 256,), zero_points=(-128,))
            tree.apply(code, (chance.choice(known[-3:]),), result)
        else:
            result = tree.add(SHAPE, **grid)
            operands = (chance.choice(known[-2:]), chance.choice(known[-3:]))
            tree.apply(code, operands, result, f"{code.capitalize()}Options")
        known.append(result)
    model = tree.model()
    read = {number for op in model.operators for number in op.inputs}
    used = tuple(number for number in known[:2] if number in read and number in inputs)
    data: bytes = builder.write(replace(model, inputs=used))
    return data


class Exhaustive:
    """Tries all devices and all copies."""

    def __init__(self, chip: Chip, graph: Graph, place: dict[str, str]) -> None:
        self.chip, self.graph, self.place = chip, graph, place
        self.known: dict[tuple[str, str, frozenset[str]], bool] = {}

    def exists(self) -> bool:
        choices = [
            [self.place[op.name]] if op.name in self.place else list(self.able(op.kind.upper()))
            for op in self.graph.operators
        ]
        return any(self.fits(devices) for devices in product(*choices))

    def able(self, kind: str) -> Iterator[str]:
        for name in ("cpu", *self.chip["cores"], *self.chip["npus"]):
            if kind in self.chip["npus"].get(name, (kind,)):
                # Whatever runs here needs constants: commands, and the table of a curve.
                needs = name in self.chip["npus"] or kind == "LOGISTIC"
                if not needs or self.chip["constants"][name] == "ro":
                    yield name

    def fits(self, devices: tuple[str, ...]) -> bool:
        pairs = list(zip(self.graph.operators, devices, strict=True))
        writer = dict.fromkeys(self.graph.inputs, "cpu")
        readers: dict[str, set[str]] = {name: set() for name in self.graph.by_name}
        for op, device in pairs:
            writer[op.outputs[0]] = device
            for name in op.inputs:
                readers[name].add(device)
        for name in self.graph.outputs:
            readers[name].add("cpu")
        return all(self.gets(writer[name], frozenset(readers[name])) for name in writer)

    def gets(self, writer: str, readers: frozenset[str]) -> bool:
        key = ("", writer, readers)
        if key not in self.known:
            pools = self.chip["pools"]
            homes = [pool for pool, reach in pools.items() if reach[writer] == "rw"]
            self.known[key] = any(
                all(any(pools[p][r] != "none" for p in self.spread(home)) for r in readers)
                for home in homes
            )
        return self.known[key]

    def spread(self, home: str) -> set[str]:
        pools, moves, found, before = self.chip["pools"], self.chip["moves"], {home}, 0
        while len(found) != before:
            before = len(found)
            for one, two in product(sorted(found), pools):
                by_host = pools[one]["cpu"] != "none" and pools[two]["cpu"] == "rw"
                by_dma = any(
                    pools[one][dma] != "none"
                    and pools[two][dma] == "rw"
                    and (one[2:], two[2:]) in pairs
                    and self.chip["constants"][dma] == "ro"
                    for dma, pairs in moves.items()
                )
                if by_host or by_dma:
                    found.add(two)
        return found


def assert_complete(graph: Graph, soc: ResolvedSoc) -> None:
    pools = candidate_pools(graph, soc)
    assert all(pools[name] for name, needs in needs_of(graph, soc).items() if needs)
    for op in graph.operators:
        if op.kind == COPY:
            one, two = (soc.pool(pools[name][0]) for name in (*op.inputs, *op.outputs))
            assert one.reach[op.device] != "none"
            assert two.reach[op.device] == "rw"


def overrides(chip: Chip, remedy: str) -> list[str]:
    """Return the edits of a remedy as options of the command line."""
    found = [f"pools.{p}.reach.{d}={access}" for p, d, access in REACH.findall(remedy)]
    moves = {dma: list(pairs) for dma, pairs in chip["moves"].items()}
    for one, two, dma in MOVES.findall(remedy):
        moves[dma].append((one, two))
        pairs = ", ".join(f"[{a}, {b}]" for a, b in moves[dma])
        found.append(f"devices.{dma}.moves=[{pairs}]")
    return found


def trial(seed: int, folder: Path, builder: ModuleType) -> str:
    """Hold the planner against the search on one chip; say what came out."""
    chance = random.Random(f"placement {seed}")
    chip, path, model = random_chip(chance), folder / "chip.yaml", folder / "net.tflite"
    path.write_text(written(chip))
    model.write_bytes(random_network(builder, chance))
    try:
        soc = load_soc(path, ())
    except AtollError as error:
        return f"no chip: {error.faults[0].code}"
    graph = load_network(model)
    chance_of_a_wish = chance.choice((0.0, 0.3, 0.8))
    able = Exhaustive(chip, graph, {}).able
    place = {
        op.name: chance.choice(list(able(op.kind.upper())))
        for op in graph.operators
        if chance.random() < chance_of_a_wish
    }
    exists = Exhaustive(chip, graph, place).exists()
    plan = attempt(graph, soc, place)
    if isinstance(plan, Graph):
        assert exists, "planned what the search finds impossible"
        assert_complete(plan, soc)
        copies = sum(op.kind == COPY for op in plan.operators)
        return "placed with copies" if copies else "placed"
    assert not exists, f"the search finds what is refused: {plan}"
    fault = plan.faults[0]
    assert fault.remedy
    edits = overrides(chip, fault.remedy)
    assert edits, f"no edit: {plan}"
    mended = load_soc(path, edits)
    again = attempt(graph, mended, place)
    assert isinstance(again, Graph), f"{fault.remedy} does not help: {again}"
    assert_complete(again, mended)
    return f"refused {fault.code}"


def attempt(graph: Graph, soc: ResolvedSoc, place: dict[str, str]) -> Graph | PlacementError:
    asked = load_requests(None, [f"{name}={device}" for name, device in place.items()])
    try:
        return plan_devices(graph, soc, asked).graph
    except PlacementError as error:
        return error


def test_p1_c4_what_an_exhaustive_search_finds_is_found(
    tmp_path: Path, tflite_builder: ModuleType
) -> None:
    outcomes = outcomes_of(trial, range(80), tmp_path, tflite_builder)
    assert min(outcomes[each] for each in ("placed", "placed with copies")) > 1, outcomes
    assert sum(number for each, number in outcomes.items() if each.startswith("refused")) > 1


@pytest.mark.slow
def test_p1_c4_what_an_exhaustive_search_finds_is_found_on_2000_chips(
    tmp_path: Path, tflite_builder: ModuleType
) -> None:
    outcomes = outcomes_of(trial, range(2000), tmp_path, tflite_builder)
    print(outcomes)
    assert min(outcomes[each] for each in ("placed", "placed with copies")) > 50, outcomes
