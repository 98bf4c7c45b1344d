# SPDX-License-Identifier: Apache-2.0
"""P6: two accelerators and the core over one memory work at once; what fails leaves none busy."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.requests import load_requests

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.cli import main
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.tir import AcceleratorStart
from atoll.report.concurrency import Span, concurrency
from atoll.resolve import load_soc
from atoll.resolve.soc import Access, ResolvedSoc
from atoll_sim.build.model import build_model
from atoll_sim.chip.memory_map import windows_of
from atoll_sim.simulate.rtl_run import request_for
from atoll_sim.simulate.session import simulate
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import SimResult

PAIR = Path(__file__).parents[1] / "data" / "pair.yaml"
PLACES = ["conv_2d_0=npu_a", "conv_2d_1=npu_a", "conv_2d_2=npu_b", "conv_2d_3=npu_b"]
WITH_ENGINE = """\
extends: {}
devices:
  dma: {{kind: dma, engine: ripple, registers: 0x4000_2000, irq: 5, moves: [[sram, tcm]]}}
memories:
  tcm: {{origin: 0x1800_0000, size: 32 KiB, kind: ram, width: 4}}
pools:
  weights: {{reach: {{dma: ro}}}}
  shared: {{reach: {{dma: rw}}}}
  own: {{memory: tcm, role: workspace, reach: {{cpu: rw, npu_a: none, npu_b: none, dma: rw}}}}
"""
VIOLATION = -9


Write = Callable[..., Path]


@pytest.fixture(scope="module")
def write(
    tflite_builder: ModuleType, tflite_samples: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> Write:
    """Write a network of three branches over one input; the first one may be wider."""

    def written(**width: int) -> Path:
        path = tmp_path_factory.mktemp("models") / "branches.tflite"
        path.write_bytes(tflite_builder.write(tflite_samples.branches(tflite_builder, **width)))
        return path

    return written


@pytest.fixture(scope="module")
def branches(write: Write) -> Path:
    """A network of three branches over one input."""
    return write()


def compiled(model: Path, *overrides: str) -> Compiled:
    options = BuildOptions(requests=load_requests(None, PLACES))
    return compile_file(load_soc(str(PAIR), overrides), model, options)


def started(found: Compiled) -> set[str]:
    steps = found.module.entry.steps
    return {step.device for step in steps if isinstance(step.action, AcceleratorStart)}


def test_p6_overlap_gives_way_where_pools_are_too_small(branches: Path) -> None:
    """The very plan that there is without any overlap, in a pool that has no room for more."""
    free = compiled(branches)
    serial = compiled(branches, "pools.shared.size=16 KiB")
    assert started(free) == {"npu_a", "npu_b"}
    assert started(serial) == set()
    assert [step.number for step in serial.module.entry.steps] == list(range(8))
    assert serial.plan.use["shared"].used < free.plan.use["shared"].used
    between = (serial.plan.use["shared"].used + free.plan.use["shared"].used) // 2
    tight = compiled(branches, f"pools.shared.size={between}")
    assert tight.module == serial.module
    assert tight.plan.placements == serial.plan.placements


def test_p6_engines_alone_overlap_where_there_is_room_for_no_more(
    branches: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pins need copies, which fit a small pool beside other work; the accelerators do not.

    Engines that the host starts for each operator: going on by themselves would save more.
    """
    monkeypatch.delattr("atoll_sim.engines.reef.emitter.ReefEmitter.link")
    chip = tmp_path / "chip.yaml"
    chip.write_text(WITH_ENGINE.format(PAIR))
    pinned = ("max_pool_2d_5_out", "add_4_out")
    pins = [f"{name}={pool}" for name in pinned for pool in ("shared:out", "own:in")]
    options = BuildOptions(requests=load_requests(None, PLACES, pins))
    at_size = {
        size: started(
            compile_file(load_soc(str(chip), (f"pools.shared.size={size}",)), branches, options)
        )
        for size in ("20 KiB", "16 KiB")
    }
    assert at_size == {"20 KiB": {"npu_a", "npu_b"}, "16 KiB": {"dma"}}


@pytest.mark.rtl
def test_p6_two_accelerators_and_the_core_work_at_once(
    branches: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = [word for place in PLACES for word in ("--place", place)]
    assert main(["run", str(PAIR), str(branches), *places, "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["placement"]["violations"] == []
    layers = report["cycles"]["by_layer"]
    at_once = {
        frozenset((one["device"], other["device"]))
        for one, other in combinations(layers, 2)
        if max(one["begin"], other["begin"]) < min(done(one), done(other))
    }
    assert at_once == set(map(frozenset, combinations(("cpu", "npu_a", "npu_b"), 2)))
    spent = max(layer["end"] for layer in layers) - min(layer["begin"] for layer in layers)
    assert spent < sum(layer["worked"] for layer in layers)
    assert all(0 < layer["worked"] <= layer["cycles"] for layer in layers)
    cycles = report["cycles"]
    assert sum(cycles["by_device"].values()) == sum(layer["worked"] for layer in layers)
    assert cycles["overlapped"] == sum(cycles["by_device"].values()) - cycles["working"]
    assert 0 < cycles["at_once"] < cycles["working"] <= spent


def done(layer: Mapping[str, Any]) -> int:
    return int(layer["begin"] + layer["worked"])


@pytest.mark.rtl
def test_p6_the_report_says_how_long_devices_worked_at_once(
    branches: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = [word for place in PLACES for word in ("--place", place)]
    assert main(["run", str(PAIR), str(branches), *places, "--brief"]) == 0
    assert "devices worked at the same time for " in capsys.readouterr().out


def without_writes(soc: ResolvedSoc, pool: str, device: str) -> ResolvedSoc:
    """Return a chip whose hardware refuses what its description promised."""
    pools = tuple(
        replace(each, reach={**each.reach, device: Access.READ}) if each.name == pool else each
        for each in soc.pools
    )
    return replace(soc, pools=pools)


@pytest.mark.rtl
def test_m9_a_device_that_fails_is_returned_after_the_other_is_done(
    write: Write, tmp_path: Path
) -> None:
    """One accelerator may not write: each run ends with its error when the other one is idle."""
    found = compiled(write(width=128))
    first, second = (step for step in found.module.entry.steps[:2])
    assert (first.device, second.device) == ("npu_a", "npu_b")
    tree = build((found,), tmp_path / "build")
    hardware = without_writes(found.soc, "shared", "npu_b")
    executable = build_model(hardware)
    samples = random_sample(found.graph) * 3
    request = request_for(found, tree.firmware.elves, samples, executable, tmp_path / "run")
    result = simulate(replace(request, windows=windows_of(hardware)))
    assert result.results == (VIOLATION,) * 3
    assert {(v.device, v.rule) for v in violations(result)} == {
        ("npu_b", "blocked by the firewall")
    }
    assert written(result, "npu_a", inside=True) == 3 * found.graph.tensor("conv_2d_0_out").size
    assert written(result, "npu_a", inside=False) == 0


def written(result: SimResult, device: str, *, inside: bool) -> int:
    """Return the bytes that a device wrote in runs, or outside of any."""
    return sum(
        touch.transferred
        for phase in result.phases
        for touch in phase.touched
        if touch.master == device and touch.kind == "write" and inside is (phase.sample is not None)
    )


def test_concurrency_counts_each_cycle_once() -> None:
    found = concurrency(
        [Span("b", 40, 60), Span("a", 0, 50), Span("c", 45, 70), Span("a", 80, 90)],
    )
    assert dict(found.by_device) == {"a": 60, "b": 20, "c": 25}
    assert (found.working, found.at_once, found.saved) == (80, 20, 25)
    assert str(found) == ("devices worked at the same time for 20 of 80 cycles (a 60, b 20, c 25)")
    assert concurrency([]).working == 0
