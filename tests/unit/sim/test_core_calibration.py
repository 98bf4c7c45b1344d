# SPDX-License-Identifier: Apache-2.0
"""A core's timing, fitted to what operators took: of made-up cores, whose timing is known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
import yaml

from atoll.cost.core_costs import CoreCost
from atoll.cost.counted import CLASSES, counted_accesses
from atoll.description.core import Timing as TimingText
from atoll.diagnostics.errors import SimulationError, UsageError
from atoll.diagnostics.progress import silent
from atoll.driver.compiled import placed_graph
from atoll.driver.pipeline import Compiled
from atoll.ops.registry import kind_of
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.specs import BesideCode, InstructionCache, KernelRun, Timing
from atoll_sim.core_calibration import calibrate, chips
from atoll_sim.core_calibration.calibrate import Calibration
from atoll_sim.core_calibration.chips import (
    BESIDE,
    CODE,
    DATA,
    FAR_CODE,
    LATE_BESIDE,
    NEAR,
    made_chip,
    settings_of,
)
from atoll_sim.core_calibration.fit import Cache, Kernel, fit_timing
from atoll_sim.core_calibration.least_errors import least_errors, least_squares
from atoll_sim.core_calibration.measure import Which, compile_alone, with_host
from atoll_sim.core_calibration.networks import MOST_MACS, drawn_networks, layered_networks

STRAIT = Path(__file__).parents[2] / "data" / "strait.yaml"
CYCLES = dict(zip(CLASSES, (1, 3, 2, 1.5, 2.5, 4, 30, 2, 0.5), strict=True))
WAITS = dict(zip(CLASSES, (0.3, 0.6, 0.5, 0.4, 1, 0.7, 0.2, 0.8, 0), strict=True))
TIMING = Timing(
    basis="measured",
    cycles=CYCLES,
    waits=WAITS,
    data_waits={"load": 1.0, "store": 0.5},
    beside_code=BesideCode(cycles=1.5, waits=1.25),
)
LINE = InstructionCache(size=2048, line=32, cycles=20.0, waits=8.0)


layered = cache(layered_networks)


def kernels(timing: Timing, count: int = 60, *, odd: int = 0) -> list[Kernel]:
    """Make kernels that take what a timing says, but the odd ones, which take thrice as long."""
    chance, found = Random(1), []
    for number in range(count):
        counts = [chance.randint(0, 2000) for _ in CLASSES]
        late = {"load": chance.randint(0, 9000), "store": chance.randint(0, 5000)}
        lines = chance.randint(4, 300)
        near = sum(n * timing.cycles[name] for n, name in zip(counts, CLASSES, strict=True))
        waits = sum(n * timing.waits.get(name, 0) for n, name in zip(counts, CLASSES, strict=True))
        if timing.cache:
            assert timing.cache.cycles is not None
            near, waits = near + lines * timing.cache.cycles, lines * timing.cache.waits
        times = 3 if number < odd else 1
        data = sum(late[name] * timing.data_waits[name] for name in late)
        cycles = {NEAR: near, CODE: near + (FAR_CODE - 1) * waits, DATA: near + data}
        beside = chance.randint(0, counts[CLASSES.index("load")])
        if less := timing.beside_code:
            cycles[BESIDE] = near - beside * less.cycles
            later = waits + beside * (timing.data_waits["load"] - less.waits)
            cycles[LATE_BESIDE] = cycles[BESIDE] + (FAR_CODE - 1) * later
        whole = {name: round(times * each) for name, each in cycles.items()}
        found.append(
            Kernel(network=f"{number}", counts=counts, cycles=whole, late=late, beside=beside)
        )
    return found


@pytest.mark.parametrize("odd", [0, 6])
def test_what_instructions_take_is_found_again(odd: int) -> None:
    found = fit_timing(kernels(TIMING, odd=odd), None)
    assert found.cycles == pytest.approx(CYCLES, abs=0.05 + odd)
    if not odd:
        assert found.waits == pytest.approx(WAITS, abs=0.05)
        assert found.data_waits == pytest.approx(TIMING.data_waits, abs=0.05)
        assert found.beside_code
        assert found.beside_code.cycles == pytest.approx(1.5, abs=0.05)
        assert found.beside_code.waits == pytest.approx(1.25, abs=0.05)
    assert found.cycles == pytest.approx(CYCLES, abs=0.3), "few odd kernels decide nothing"
    assert found.cache is None


def test_the_lines_of_an_instruction_cache_are_found_again() -> None:
    found = fit_timing(
        kernels(replace(TIMING, waits={}, cache=LINE, beside_code=None)), Cache(2048, 32)
    )
    assert found.cache
    assert found.cache.cycles == pytest.approx(LINE.cycles, abs=0.3)
    assert replace(found.cache, cycles=20.0) == LINE
    assert found.cycles == pytest.approx(CYCLES, abs=0.1)
    assert not found.waits
    assert found.beside_code is None


def test_no_number_is_negative() -> None:
    table, wanted = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 1.0]]), np.array([1.0, 0.0, 3.0])
    for found in (least_squares(table, wanted), least_errors(table, wanted, np.ones(3))):
        assert (found >= 0).all()
        assert found[1] == 0


def test_networks_are_the_same_every_time_and_others_for_another_seed() -> None:
    for draw in (drawn_networks, layered_networks):
        first, other = draw(1, 1), draw(2, 1)
        assert first == draw(1, 1)
        assert first[0].operators != other[0].operators
        assert first[0].name != other[0].name
    kinds = [op.kind for graph in drawn_networks(1, 30) for op in graph.operators]
    assert {"conv_2d", "depthwise_conv_2d", "fully_connected", "softmax", "add"} <= {*kinds}
    for graph in layered(1, 2):
        macs = sum(kind_of(op).features(op, graph)["macs"] for op in graph.operators)
        assert macs <= MOST_MACS


def test_memories_answer_late_in_turn() -> None:
    settings = settings_of(load_soc(STRAIT), cached=False)
    latencies = {
        name: [each.memory(memory).read_latency for memory in ("flash", "dtcm", "store", "sram")]
        for name, each in settings.items()
    }
    near, late = [1, 1, 1, 1], [8, 1, 1, 1]
    assert latencies == {
        NEAR: near,
        CODE: late,
        DATA: [1, 1, 6, 6],
        BESIDE: near,
        LATE_BESIDE: late,
    }
    homes = [settings[name].pool("weights").region for name in (NEAR, BESIDE, LATE_BESIDE)]
    assert [home.memory for home in homes] == ["store", "flash", "flash"]
    assert homes[1].origin == load_soc(STRAIT).host_cpu.code.end
    assert [*settings_of(load_soc(STRAIT), cached=True)] == [NEAR, CODE, DATA], "nobody waits"
    full = load_soc(STRAIT, ("devices.cpu.code.size=960 KiB",))
    assert [*settings_of(full, cached=False)] == [NEAR, CODE, DATA]


def test_a_chip_has_code_stack_and_data_apart(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="memory 'flash' holds its code and data"):
        settings_of(load_soc("lagoon"), cached=False)
    made_chip("ibex", "rv32imc", tmp_path)
    together = ("devices.core.stack.memory=data", "pools.constants.reach.core=rw")
    chip = tmp_path / "calibration.yaml"
    mixed = load_soc(chip, (*together, "pools.constants.memory=data", "pools.work.size=512 KiB"))
    with pytest.raises(UsageError, match="all data is where its stack is"):
        settings_of(mixed, cached=False)


def test_late_data_is_what_estimates_wait_for() -> None:
    soc = with_host(settings_of(load_soc(STRAIT), cached=False)[DATA], timing=TIMING)
    near = with_host(settings_of(load_soc(STRAIT), cached=False)[NEAR], timing=TIMING)
    (far,) = compile_alone(soc, drawn_networks(1, 1))
    graph, waited = placed_graph(far), 0
    for op in far.graph.operators:
        late = CoreCost(soc.host_cpu, soc).late_cycles(op, graph)
        assert late["load"] > 0
        wanted = late["load"] * 1.0 + late["store"] * 0.5
        more = CoreCost(soc.host_cpu, soc).alone(op, graph) - CoreCost(near.host_cpu, near).alone(
            op, graph
        )
        assert more == pytest.approx(wanted, abs=5)
        waited += more
    assert waited > 1000


def take(models: Sequence[Compiled]) -> Mapping[Which, int]:
    """Return what operators take on a core whose timing is known."""
    soc = with_host(models[0].soc, timing=TIMING)
    cost = CoreCost(soc.host_cpu, soc)
    return {
        (each.graph.name, op.name): cost.alone(op, placed_graph(each))
        for each in models
        for op in each.graph.operators
    }


def count(models: Sequence[Compiled]) -> Mapping[Which, KernelRun]:
    """Return how many instructions of each class and accesses of each tensor estimates count."""
    found: dict[Which, KernelRun] = {}
    for each in models:
        core, graph = each.soc.host_cpu, placed_graph(each)
        for op in each.graph.operators:
            classes = []
            for name in CLASSES:
                only = {other: float(other == name) for other in CLASSES}
                timing = Timing(basis="measured", cycles=only, waits={"load": 0.0}, data_waits={})
                soc = with_host(each.soc, timing=timing)
                classes.append(CoreCost(soc.host_cpu, soc).alone(op, graph))
            accesses = counted_accesses(op, graph, core) or {}
            found[graph.name, op.name] = KernelRun(
                classes=tuple(classes),
                accesses={which: round(number) for which, number in accesses.items()},
                lines=0,
                instructions=sum(classes),
            )
    return found


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ResolvedSoc:
    """A chip whose core takes what `TIMING` says, without a simulation."""
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(calibrate, "layered_networks", layered)
    monkeypatch.setattr(calibrate, "build_model", lambda soc, progress: Path("model"))
    monkeypatch.setattr(calibrate, "cycles_of", take)
    monkeypatch.setattr(calibrate, "operators_run", count)
    return made_chip("ibex", "rv32imc", tmp_path)


def calibration(soc: ResolvedSoc, networks: int = 12, *, resume: bool = False) -> Calibration:
    """Return a calibration of a made-up core."""
    return Calibration(
        soc=soc,
        cache=None,
        networks=networks,
        seed=1,
        jobs=1,
        resume=resume,
        source="it",
        beside=(),
        progress=silent,
    )


def test_a_core_is_calibrated_and_what_was_fitted_is_written_as_it_is_read(
    made_up: ResolvedSoc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "FEWEST", 6)
    monkeypatch.setattr(calibrate, "FEWEST_OPERATORS", 20)
    found = calibration(made_up, 6).run()
    assert found.networks == 6
    assert 20 <= found.operators <= 36
    assert [each.name for each in found.classes] == [*CLASSES]
    assert sum(each.share for each in found.classes) == pytest.approx(1)
    assert {each.of for each in found.settings} == {NEAR, CODE, DATA, BESIDE, LATE_BESIDE}
    assert all(each.count == 2 and each.most < 0.02 for each in found.settings)
    assert {"CONV_2D", "FULLY_CONNECTED"} <= {each.of for each in found.kinds}
    assert found.timing["band"]["high"] <= 0.05
    assert "simulated_band" not in found.timing
    assert (
        "simulated_band is not measured: 20 operators of layers that take 300 cycles are too few,"
        " it takes 40: use --networks 12 or more"
    ) in found.text()
    read = yaml.safe_load(found.yaml())
    assert read == {"timing": found.timing}
    text = TimingText.model_validate(read["timing"])
    assert text.basis == "measured"
    assert text.source == "it"
    assert text.cycles == found.timing["cycles"]
    assert text.beside_code
    assert text.beside_code.cycles == pytest.approx(1.5, abs=0.1)
    assert text.beside_code.waits == pytest.approx(1.25, abs=0.1)
    assert "measured in RTL" in found.text()
    assert "timing:" in found.text()
    assert "timing:" not in replace(found, wrote="mine.yaml").text()


@pytest.mark.parametrize("odd", ["layers", "kinds"])
def test_the_band_of_instructions_that_ran_is_that_of_layers_and_of_all_kinds(
    made_up: ResolvedSoc, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    """Layers run a fifth less than was counted, or pools that were fitted to take half more."""
    monkeypatch.setattr(calibrate, "FEWEST", 6)
    monkeypatch.setattr(calibrate, "FEWEST_OPERATORS", 20)
    monkeypatch.setattr(calibrate, "FEWEST_JUDGED", 10)

    def more(models: Sequence[Compiled]) -> Mapping[Which, KernelRun]:
        return {
            which: replace(each, classes=tuple(5 * n // 4 for n in each.classes))
            if which[0].startswith("random")
            else each
            for which, each in count(models).items()
        }

    def longer(models: Sequence[Compiled]) -> Mapping[Which, int]:
        return {
            which: 3 * each // 2 if "drawn" in which[0] and "average_pool" in which[1] else each
            for which, each in take(models).items()
        }

    monkeypatch.setattr(calibrate, "operators_run", more if odd == "layers" else count)
    monkeypatch.setattr(calibrate, "cycles_of", take if odd == "layers" else longer)
    found = calibration(made_up, 6).run()
    assert not found.unmeasured
    simulated, band = found.timing["simulated_band"], found.timing["band"]
    if odd == "layers":
        assert simulated == pytest.approx({"low": 0.2, "high": 0.0}, abs=0.06)
        assert band["low"] <= 0.05
    else:
        assert simulated["high"] > band["high"] + 0.1
    assert {"CONV_2D", "ADD"} <= {each.of for each in found.simulated_kinds}


def test_an_interrupted_calibration_goes_on(
    made_up: ResolvedSoc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "FEWEST", 1)
    monkeypatch.setattr(calibrate, "FEWEST_OPERATORS", 5)
    runs = 0

    def breaks(models: Sequence[Compiled]) -> Mapping[Which, int]:
        nonlocal runs
        runs += 1
        if runs == 3:
            raise SimulationError("E238", "it broke off", remedy="again")
        return take(models)

    monkeypatch.setattr(calibrate, "cycles_of", breaks)
    with pytest.raises(SimulationError, match="it broke off"):
        calibration(made_up, 3).run()
    runs = 100
    resumed = calibration(made_up, 3, resume=True).run()
    assert 0 < runs - 100 <= 10 - 2, "of five settings of two firmwares, two runs had ended"
    assert resumed == calibration(made_up, 3).run()


def test_too_little_is_not_fitted(made_up: ResolvedSoc, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="11 networks are too few") as few:
        calibration(made_up, 11).run()
    assert few.value.faults[0].code == "E241"
    monkeypatch.setattr(calibrate, "FEWEST", 1)
    monkeypatch.setattr(calibrate, "cycles_of", lambda models: dict.fromkeys(take(models), 299))
    with pytest.raises(UsageError, match="0 operators that take 300 cycles are too few"):
        calibration(made_up, 2).run()


def test_a_class_that_never_ran_does_not_take_0_cycles(
    made_up: ResolvedSoc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "FEWEST", 6)
    monkeypatch.setattr(calibrate, "FEWEST_OPERATORS", 5)
    place = CLASSES.index("divide")

    def without(models: Sequence[Compiled]) -> Mapping[Which, KernelRun]:
        return {
            which: replace(each, classes=(*each.classes[:place], 0, *each.classes[place + 1 :]))
            for which, each in count(models).items()
        }

    monkeypatch.setattr(calibrate, "operators_run", without)
    with pytest.raises(UsageError, match="runs an instruction of class 'divide'"):
        calibration(made_up, 6).run()


def test_what_needs_room_beside_code_is_left_out_without(
    made_up: ResolvedSoc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "FEWEST", 6)
    monkeypatch.setattr(calibrate, "FEWEST_OPERATORS", 20)
    monkeypatch.setattr(chips, "LEAST_ROOM", 0x4000_0000)
    found = calibration(made_up, 6).run()
    assert "beside_code" not in found.timing
    assert "beside_code is not measured: memory 'code', which holds code, is no rom" in found.text()


def test_a_chip_without_room_is_refused(made_up: ResolvedSoc) -> None:
    small = load_soc(STRAIT, ("pools.shared.size=2 KiB",))
    with pytest.raises(UsageError, match="has no room for the networks that are run") as full:
        calibration(small, 12).run()
    assert full.value.faults[0].code == "E240"
