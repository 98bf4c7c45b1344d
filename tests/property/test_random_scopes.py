# SPDX-License-Identifier: Apache-2.0
"""C1, C2: random scopes and pins on random small chips and networks.

What is left of each buffer is held against a filter that reads the chip's YAML and the steps of
the program alone, each plan against the independent checker, and a share is run natively. A
refusal is held against every pool that was asked for, one by one, and its remedy is followed.
"""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import yaml
from tests.effort import seeded
from tests.property.test_random_networks import STEPS, Network
from tests.requests import load_requests

from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import Compiled, compile_file
from atoll.driver.task import BuildOptions
from atoll.frontend.tflite.load import load_tflite
from atoll.memory.checker import violations
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

SEEDS = 120
PER_SEED = 5
RUN_EACH = 12

Asked = list[tuple[str, str, tuple[str, ...]]]
"""Option, name or pattern, and scope or pools."""


class Small(Network):
    def begin(self) -> None:
        pick = self.chance.choice
        self.activation((1, pick((1, 2, 5)), pick((1, 3, 4)), pick((1, 2, 3, 4, 8))))


def small_network(builder: ModuleType, chance: random.Random) -> bytes:
    network = Small(builder, chance)
    network.begin()
    network.arithmetic()
    for _ in range(chance.randrange(1, 4)):
        if np.prod(network.shape) < 400:
            chance.choice(STEPS[1:])(network)
    return network.written()


def random_chip(chance: random.Random) -> dict[str, Any]:
    """Return lagoon with two to four pools of any reach beside one that everybody reaches."""
    chip = yaml.safe_load(Path("socs/lagoon.yaml").read_text())
    chip["devices"]["cpu"]["limits"]["max_stack_alloca_size"] = chance.choice((0, 64, 1024))
    chip["memories"] = {name: chip["memories"][name] for name in ("flash", "dtcm", "sram")}
    pools: dict[str, dict[str, Any]] = {
        "weights": {"memory": "flash", "role": "constants", "reach": {"cpu": "ro", "npu": "ro"}},
        "shared": {"memory": "sram", "role": "workspace", "reach": {"cpu": "rw", "npu": "rw"}},
    }
    for number in range(chance.randrange(2, 5)):
        memory = f"m{number}"
        origin = 0x3000_0000 + number * 0x10_0000
        chip["memories"][memory] = {"origin": origin, "size": "64 KiB", "kind": "ram"}
        role = chance.choice(("workspace", "workspace", "both", "constants"))
        npu = chance.choice(("rw", "none", "none") if role == "workspace" else ("ro", "none"))
        pools[f"p{number}"] = {
            "memory": memory,
            "role": role,
            "size": chance.choice((64, 512, 16384)),
            "reach": {"cpu": "rw", "npu": npu},
        }
    for pool in pools.values():
        pool["preference"] = chance.randrange(4)
    chip["pools"] = pools
    return dict(chip)


def random_requests(plain: Compiled, pools: Sequence[str], chance: random.Random) -> Asked:
    """Ask something of buffers by the names that `explain` prints, and of patterns of them."""
    inside = [
        f"{function.name}.{line.split()[1].rstrip(':')}"
        for function in plain.module.functions
        for line in str(function).splitlines()
        if line.strip().startswith("allocate ")
    ]
    planned = [each.name for each in plain.plan.problem.buffers]
    asked: Asked = []
    for _ in range(chance.randrange(1, 4)):
        name = chance.choice(inside if inside and chance.random() < 0.3 else planned)
        if chance.random() < 0.2:
            name = f"*{name[len(name) // 2 :]}"
        if chance.random() < 0.5:
            asked.append(("pin", name, tuple(chance.sample(pools, chance.randrange(1, 3)))))
        else:
            named = (f"global.{pool}" for pool in pools)
            fixed = ("global", "global.workspace", "global.stack", "cpu.stack", "local")
            asked.append(("scope", name, (chance.choice((*fixed, *named)),)))
    return asked


def words(asked: Asked) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for option, name, what in asked:
        found.setdefault(option, []).append(f"{name}={','.join(what)}")
    return found


def compiled(soc: ResolvedSoc, path: Path, asked: Asked) -> Compiled:
    requests: Any = words(asked)
    return compile_file(soc, path, BuildOptions(requests=load_requests(None, **requests)))


@dataclass
class Filter:
    """Which pools each buffer may be in: by role, reach, room and requests, as the rules say."""

    chip: Mapping[str, Any]
    made: Compiled
    asked: Asked

    def pools(self) -> dict[str, set[str]]:
        entry = self.made.module.entry
        needs: dict[str, dict[str, str]] = {name: {} for name in entry.sizes}
        for name in entry.outputs:
            needs[name]["cpu"] = "r"
        for step in entry.steps:
            for name in step.reads:
                needs[entry.storage(name)].setdefault(step.device, "r")
            for name in step.writes:
                needs[entry.storage(name)][step.device] = "rw"
        for name in entry.inputs:
            needs[name]["cpu"] = "rw"
        constants = {constant.name for constant in entry.constants}
        return {
            each.name: {
                pool
                for pool in self.chip["pools"]
                if self._holds(pool, each.size, needs[each.name], each.name in constants)
                and self._allowed(pool, each.name, each.name in constants)
            }
            for each in self.made.plan.problem.buffers
        }

    def _holds(self, pool: str, size: int, needs: Mapping[str, str], constant: bool) -> bool:
        described = self.chip["pools"][pool]
        role = ("constants", "both") if constant else ("workspace", "both")
        ok = all(need in described["reach"][device] for device, need in needs.items())
        return described["role"] in role and ok and self.has_room(pool, size)

    def has_room(self, pool: str, size: int) -> bool:
        return int(self.chip["pools"][pool].get("size", 1 << 20)) >= size

    def _allowed(self, pool: str, name: str, constant: bool) -> bool:
        return all(self._one(pool, option, what) for option, what in self.about(name, constant))

    def about(self, name: str, constant: bool) -> list[tuple[str, tuple[str, ...]]]:
        """Return the requests about a buffer, by its name, or by what it is made of."""
        names = {name, *(n for n, of in self.made.copies.items() if of == name)}
        found = []
        for option, pattern, what in self.asked:
            plain = any(fnmatchcase(each, pattern) for each in names) and (
                "." in pattern or "." not in name
            )
            if plain or self._inside(name, pattern):
                found.append((option, what))
        return found

    def _inside(self, name: str, pattern: str) -> bool:
        """Tell whether a request is about a kernel's buffer that became one of the plan."""
        if "." not in pattern:
            return False
        for step in self.made.module.entry.steps:
            for call in step.calls:
                if name in call.arguments and name.startswith(f"{step.operator}_"):
                    rest = name.removeprefix(f"{step.operator}_").rstrip("_")
                    wholes = (f"{call.function}.{rest}", f"{step.operator}.{rest}")
                    if any(fnmatchcase(whole, pattern) for whole in wholes):
                        return True
        return False

    def _one(self, pool: str, option: str, what: tuple[str, ...]) -> bool:
        if option == "pin":
            return pool in what
        (scope,) = what
        if scope == "global":
            return True
        if scope == "global.workspace":
            return str(self.chip["pools"][pool]["role"]) != "constants"
        return scope == f"global.{pool}"


def assert_narrowed(filter: Filter) -> None:
    """Hold what the compiler left against the filter, and the plan against the checker."""
    wanted = filter.pools()
    for each in filter.made.plan.problem.buffers:
        left = {pool for pool in each.pools if filter.has_room(pool, each.size)}
        assert left == wanted[each.name], (each.name, each.pools, filter.asked)
    assert not [*violations(filter.made.plan)]
    places = filter.made.plan.placements
    for function in filter.made.module.functions:
        for line in map(str.strip, str(function).splitlines()):
            if line.startswith("allocate "):
                assert " in global.stack" in line or " in local" in line, line
    assert all(places[name].pool in pools for name, pools in wanted.items())


def assert_refused_rightly(
    soc: ResolvedSoc, path: Path, asked: Asked, error: AtollError, outcomes: Counter[str]
) -> None:
    """Nothing that was asked for works, and following the remedies one by one gets past E205."""
    for fault in error.faults:
        assert fault.code in ("E026", "E049", "E060", "E061", "E062", "E205"), error
        outcomes[fault.code] += 1
    followed = asked
    for _ in range(8):
        try:
            compiled(soc, path, followed)
        except AtollError as again:
            fault = again.faults[0]
            if fault.code != "E205":
                return
            for pool in pools_of(fault.message):
                alone = with_remedy(followed, fault.message, f"write '{pool}' in its place")
                assert not works(soc, path, alone), (followed, fault.message, pool)
                outcomes["pools"] += 1
            followed = with_remedy(followed, fault.message, str(fault.remedy))
        else:
            outcomes["followed"] += 1
            return
    raise AssertionError((asked, followed))


def pools_of(message: str) -> list[str]:
    """Return the pools of the request that a message speaks of."""
    found = re.match(r"pin '([\w.,]+)'|scope 'global\.(p\d|shared|weights)'", message)
    return (found[1].split(",") if found[1] else [f"global.{found[2]}"]) if found else []


def works(soc: ResolvedSoc, path: Path, asked: Asked) -> bool:
    try:
        compiled(soc, path, asked)
    except AtollError:
        return False
    return True


def with_remedy(asked: Asked, message: str, remedy: str) -> Asked:
    """Return the requests with the one that the message speaks of as its remedy has it."""
    found = re.match(r"(?P<option>pin|scope) '(?P<what>[\w.,]+)'(?: of '(?P<of>[^']+)')?", message)
    assert found, message
    subject = re.search(r"(?:tensor|buffer) '([\w.]+)'", message)
    assert subject, message
    what = tuple(found["what"].split(","))
    name = found["of"] or subject[1]
    changed: Asked = []
    done = False
    for option, pattern, each in asked:
        mine = (
            pattern == name
            or fnmatchcase(subject[1], pattern)
            or pattern.endswith(subject[1].rpartition(".")[2])
        )
        if done or (option, each) != (found["option"], what) or not mine:
            changed.append((option, pattern, each))
            continue
        done = True
        written = re.match(r"(?:write|ask for the scope) '([\w.]+)'", remedy)
        if written and remedy.startswith("write") and option == "pin":
            changed.append(("pin", pattern, (written[1],)))
        elif written:
            changed.append(("scope", pattern, (written[1],)))
    assert done, (asked, message)
    return changed


@seeded(SEEDS)
def test_c1_c2_random_scopes_leave_what_an_independent_filter_leaves(
    seed: int, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    chance = random.Random(f"scopes {seed}")
    path, file = tmp_path / "network.tflite", tmp_path / "chip.yaml"
    outcomes: Counter[str] = Counter()
    for number in range(PER_SEED):
        path.write_bytes(small_network(tflite_builder, chance))
        chip = random_chip(chance)
        file.write_text(yaml.safe_dump(chip))
        soc = load_soc(file)
        assert load_tflite(path).operators
        plain = compile_file(soc, path)
        asked = random_requests(plain, [*chip["pools"]], chance)
        try:
            made = compiled(soc, path, asked)
        except AtollError as error:
            assert_refused_rightly(soc, path, asked, error, outcomes)
            continue
        outcomes["planned"] += 1
        assert_narrowed(Filter(chip, made, asked))
        if (seed * PER_SEED + number) % RUN_EACH == 0:
            report = run_models(
                (made,),
                (random_sample(made.graph),),
                cpu=CpuKind.NATIVE,
                accelerator=AcceleratorKind.MODEL,
            )[0].report
            assert report.passed, (report.mismatches, report.violations)
