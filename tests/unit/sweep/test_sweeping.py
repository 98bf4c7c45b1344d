# SPDX-License-Identifier: Apache-2.0
"""Sweeps in one process: what a row says, what is kept, and what interrupts them."""

import errno
import json
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from tests.unit.sweep.keys import EXAMPLES
from tests.unit.sweep.sweeps import DIGITS, small

import atoll
from atoll.driver.compiled import cost_of
from atoll.utils.remember import forget
from atoll_sweep import results as results_module
from atoll_sweep import sweeping
from atoll_sweep.api import sweep_of
from atoll_sweep.asker import Asker
from atoll_sweep.question import question_of
from atoll_sweep.results import hold
from atoll_sweep.table import write_table


def swept(output: Path | None = None, *, resume: bool = False, **keys: Any) -> atoll.SweepResults:
    return atoll.sweep(small(**keys), output, workers=0, resume=resume)


def test_a_row_says_what_plan_and_estimate_say() -> None:
    rows = swept().rows()
    assert len(rows) == 9
    for row in rows:
        lanes = row["devices.npu.params.output_lanes"]
        if lanes == 5:
            assert row["status"] == "E045"
            assert "output_lanes" in str(row["fault"])
            assert row["cycles"] is None
            continue
        latency = row["memories.flash.read_latency"]
        chip = atoll.load_soc(
            "lagoon",
            overrides={
                "devices.npu.params.output_lanes": lanes,
                "memories.flash.read_latency": latency,
            },
        )
        made = atoll.compile(chip, DIGITS)
        found = atoll.estimate(made).network
        assert row["cycles"] == found.estimated_cycles
        assert row["ram_bytes"] == made.used_bytes["shared"]
        assert row["rom_bytes"] == sum(made.used_bytes.values()) - row["ram_bytes"]
        assert row["basis"] == found.basis
        band = found.to_json()["cycles"]["band"]
        assert row["cycles_low"] == round(found.estimated_cycles * (1 - band["low"]))
        assert row["energy_pj"] is None, "lagoon states none"


def test_estimates_of_speeds_asked_in_turn_are_those_of_a_fresh_process() -> None:
    """Those with other constants share what the engine does beside them, others must not."""
    axes: dict[str, list[object]] = {
        "devices.npu.params.output_lanes": [4, 8],
        "devices.npu.clock": ["50 MHz", "100 MHz"],
        "memories.flash.read_latency": [1, 6],
        "memories.sram.read_latency": [1, 3],
    }
    asker = Asker(question_of(asked(axes=axes, stages={"estimate": "all"}), {}))
    forget()
    rows = [asker.answer(point, "estimate") for point in (*range(16), *reversed(range(16)))]
    assert rows[:16] == rows[:15:-1]
    assert len({row["cycles"] for row in rows}) == 16
    for values in product(*axes.values()):
        chip = atoll.load_soc("lagoon", overrides=dict(zip(axes, values, strict=True)))
        first = {key: each[0] for key, each in [*axes.items()][1:]}
        made = atoll.compile(chip.with_(first), DIGITS)
        forget()
        found = atoll.estimate(made, soc=chip).network
        assert found.estimated_cycles == rows.pop(0)["cycles"]


def test_rows_do_not_depend_on_the_order_in_which_points_are_asked() -> None:
    sweep = question_of(asked(), {})
    forward, backward = Asker(sweep), Asker(sweep)
    rows = [forward.ask(point) for point in range(9)]
    forget()
    assert [backward.ask(point) for point in reversed(range(9))] == rows[::-1]


def asked(**keys: Any) -> Any:
    from atoll_sweep.api import sweep_of

    return sweep_of(small(**keys), Path())


def test_estimates_keep_the_program_of_a_point_that_differs_in_speed_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[str] = []
    real = Asker._plan

    def plan(self: Asker, choice: Any, soc: Any, network: Any) -> Any:
        compiled.append(str(choice))
        return real(self, choice, soc, network)

    monkeypatch.setattr(Asker, "_plan", plan)
    rows = swept(stages={"estimate": "all"}).rows()
    assert compiled == ["(0, 0, 0)", "(2, 0, 0)"]
    planned = swept().rows()
    assert len(compiled) == 2 + 6
    same = [row["cycles"] for row in rows if row["memories.flash.read_latency"] == 1]
    assert same == [row["cycles"] for row in planned if row["memories.flash.read_latency"] == 1]


def test_estimates_of_each_planner_and_of_each_chip_are_their_own(tmp_path: Path) -> None:
    slow = tmp_path / "slow.yaml"
    slow.write_text("soc: lagoon\nversion: 1\nextends: lagoon\ndevices: {npu: {clock: 90 MHz}}\n")
    latency = {"memories.flash.read_latency": [2, 1]}
    for axis in (
        {"planner": ["auto", "first-fit"]},
        {"build.overlap": ["free", "none"]},
        {"soc": ["lagoon", str(slow)]},
        {"near": {"settings": {"a": {"soc": "lagoon"}, "b": {"soc": str(slow)}}}},
    ):
        asked = small(axes=axis | latency)
        if "lagoon" in str(axis):
            del asked["soc"]
        rows = atoll.sweep(asked | {"stages": {"estimate": "all"}}, workers=0).rows()
        assert rows == atoll.sweep(asked, workers=0).rows()


def test_a_plan_confirms_the_best_estimates(tmp_path: Path) -> None:
    stages = {"estimate": "all", "plan": 2}
    found = swept(tmp_path / "out", stages=stages)
    rows = found.rows()
    planned = [row["point"] for row in rows if row["stage"] == "plan"]
    assert len(planned) == 2
    assert {row["point"] for row in found.front()} <= {*planned}, "only these are compared"
    whole = {row["point"]: row for row in swept().rows()}
    for row in rows:
        same = row["stage"] == "plan" or row["status"] != "ok"
        assert not same or {key: row[key] for key in row if key != "stage"} == whole[row["point"]]
    left = next(row["point"] for row in rows if row["status"] == "ok" and row["stage"] != "plan")
    assert "it is estimated alone" in found.explain(left)
    assert atoll.load_sweep(tmp_path / "out").rows() == rows
    (tmp_path / "out" / "plan.parquet").unlink()
    assert not atoll.load_sweep(tmp_path / "out").finished
    assert swept(tmp_path / "out", stages=stages, resume=True).rows() == rows


def test_several_networks_have_columns_of_their_own() -> None:
    networks = {"one": str(DIGITS), "two": str(DIGITS)}
    axes = {"memories.flash.read_latency": [1]}
    (row,) = swept(networks=networks, axes=axes).rows()
    (alone,) = swept(axes=axes).rows()
    assert row["one.cycles"] == row["two.cycles"] == alone["cycles"]
    assert row["cycles"] == 2 * alone["cycles"], "cycles add"
    assert row["ram_bytes"] == alone["ram_bytes"], "each has the chip for itself"


def test_an_axis_may_be_the_chip_the_planner_or_a_build_option() -> None:
    axes = {"soc": ["lagoon", "twin"], "planner": ["auto", "first-fit"], "build.tile": ["never"]}
    sweep = small(axes=axes)
    del sweep["soc"]
    rows = atoll.sweep(sweep, workers=0).rows()
    assert [row["soc"] for row in rows] == ["lagoon", "lagoon", "twin", "twin"]
    assert len({row["cycles"] for row in rows}) > 1


def test_an_objective_of_ones_own_gets_chip_and_networks(tmp_path: Path) -> None:
    def pools(soc: atoll.Soc, made: Mapping[str, atoll.Compilation]) -> float:
        assert [*made] == ["digits_int8"]
        return -sum(soc.pool_size_bytes.values()) - made["digits_int8"].used_bytes["shared"]

    found = atoll.sweep(small(), tmp_path / "out", workers=0, objectives={"pools": pools})
    assert found.objectives == ("cycles", "ram_bytes", "pools")
    assert all(row["pools"] < 0 for row in found.rows() if row["status"] == "ok")
    assert atoll.load_sweep(tmp_path / "out").front() == found.front()


@pytest.mark.parametrize("score", [float("nan"), float("inf"), ValueError("no such thing")])
def test_an_objective_that_fails_is_not_known(score: float | ValueError) -> None:
    def broken(soc: atoll.Soc, made: object) -> float:
        print("not for standard output")
        if isinstance(score, ValueError):
            raise score
        return score

    found = atoll.sweep(small(), workers=0, objectives={"broken": broken})
    row = found.rows()[0]
    assert row["status"] == "ok"
    assert row["cycles"] > 0, "what is known stays"
    assert row["broken"] is None
    assert str(score) in row["fault"]
    assert found.front() == []
    assert "broken is not known: objective 'broken' failed" in found.explain(0)


@pytest.mark.parametrize("name", ["cycles", "pools.shared.size", "alike", "", "a b"])
def test_an_objective_has_a_name_of_its_own(name: str) -> None:
    with pytest.raises(atoll.AtollError, match="a column cannot have, or has already"):
        atoll.sweep(small(), workers=0, objectives={name: lambda soc, made: 1.0})


@pytest.mark.parametrize("search", [{}, {"method": "tpe", "points": 60, "seed": 1}], ids=str)
def test_what_failed_in_code_of_the_user_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, search: dict[str, object]
) -> None:
    swept(tmp_path / "whole", search=search)
    real = Asker.ask

    def ask(self: Asker, number: int, **keys: bool) -> Any:
        if number == 1:
            return {"point": 1, "status": "E111", "fault": "a part of another package failed"}
        return real(self, number, **keys)

    monkeypatch.setattr(Asker, "ask", ask)
    assert swept(tmp_path / "part", search=search).failures["E111"] == 1
    monkeypatch.undo()
    again = swept(tmp_path / "part", resume=True, search=search)
    assert "E111" not in again.failures
    if search:
        return  # what Optuna proposes rests on the rows that it was told then
    whole, part = ((tmp_path / each / "results.parquet").read_bytes() for each in ("whole", "part"))
    assert part == whole


@pytest.mark.parametrize("damage", [b"", b"PAR1 and no more"])
def test_a_damaged_table_is_named(tmp_path: Path, damage: bytes) -> None:
    swept(tmp_path / "out")
    (tmp_path / "out" / "results.parquet").write_bytes(damage)
    for look in (atoll.load_sweep, lambda folder: swept(folder, resume=True)):
        with pytest.raises(atoll.UsageError, match=r"results\.parquet is damaged") as caught:
            look(tmp_path / "out")
        assert caught.value.faults[0].code == "E246"
    (tmp_path / "out" / "results.parquet").unlink()
    assert swept(tmp_path / "out", resume=True).computed == 9


def test_a_part_of_another_sweep_is_refused(tmp_path: Path) -> None:
    swept(tmp_path / "one")
    swept(tmp_path / "two", constraints={"cycles": 1})
    shutil.copy(tmp_path / "two" / "results.parquet", tmp_path / "one")
    with pytest.raises(atoll.UsageError, match="of another sweep"):
        atoll.load_sweep(tmp_path / "one")


def test_ranges_end_where_they_say() -> None:
    axes = {
        "a": {"from": 0.1, "to": 0.3, "step": 0.1},
        "b": {"from": "1 MHz", "to": "1 MHz", "step": 1},
    }
    values = asked(axes=axes).axes
    assert [each.label for each in values["a"]] == [0.1, 0.2, 0.3]
    assert [each.label for each in values["b"]] == ["1 MHz"]


def test_limits_of_objectives_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "price.py").write_text(
        "def price(soc, made): return soc.pool_size_bytes['shared']\n"
    )
    name = f"{tmp_path}/price.py:price"
    axes = {"pools.shared.size": ["16 KiB", "32 KiB", "64 KiB"]}
    found = swept(axes=axes, objectives=["cycles", name], constraints={name: 40_000})
    assert [row["point"] for row in found.front()] == [0]
    assert "above the limit of 40,000" in found.explain(2)


def test_an_objective_whose_file_changes_is_another_sweep(tmp_path: Path) -> None:
    file = tmp_path / "price.py"
    file.write_text("def price(soc, made): return 1\n")
    keys: dict[str, Any] = {"objectives": ["cycles", f"{file}:price"]}
    swept(tmp_path / "out", **keys)
    file.write_text("def price(soc, made): return 2\n")
    with pytest.raises(atoll.UsageError, match="another sweep"):
        swept(tmp_path / "out", resume=True, **keys)


def test_networks_of_one_file_are_told_apart() -> None:
    named = asked(networks=["models/pair.tflite#encode", "models/pair.tflite#decode"])
    assert [*named.model.networks] == ["pair_encode", "pair_decode"]


def test_a_sweep_that_has_not_ended_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Asker.ask

    def ask(self: Asker, number: int, **keys: bool) -> Any:
        if number == 4:
            raise KeyboardInterrupt
        return real(self, number, **keys)

    monkeypatch.setattr(Asker, "ask", ask)
    with pytest.raises(KeyboardInterrupt):
        swept(tmp_path / "out")
    monkeypatch.undo()
    part = atoll.load_sweep(tmp_path / "out")
    assert not part.finished
    assert "It has not ended: go on with --resume." in part.text()
    swept(tmp_path / "out", resume=True)
    assert atoll.load_sweep(tmp_path / "out").finished


def test_what_is_computed_is_kept_and_nothing_is_asked_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "whole"
    swept(whole)
    asked_points: list[int] = []
    real = Asker.ask

    def ask(self: Asker, number: int, **keys: bool) -> Any:
        if len(asked_points) == 4:
            raise KeyboardInterrupt
        asked_points.append(number)
        return real(self, number, **keys)

    monkeypatch.setattr(Asker, "ask", ask)
    part = tmp_path / "part"
    with pytest.raises(KeyboardInterrupt):
        swept(part)
    assert atoll.load_sweep(part).computed == 4, "they can be looked at"
    monkeypatch.setattr(Asker, "ask", lambda self, number, **keys: real(self, number, **keys))
    swept(part, resume=True)
    assert (part / "results.parquet").read_bytes() == (whole / "results.parquet").read_bytes()
    assert sorted(path.name for path in part.iterdir()) == ["results.parquet", "sweep.json"]


def test_a_full_disk_loses_no_row_that_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept(tmp_path / "whole")
    monkeypatch.setattr(sweeping, "SECONDS_OF_A_PART", 0)
    written: list[Path] = []

    def full(path: Path, table: Any) -> None:
        if len(written) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(path)
        write_table(path, table)

    monkeypatch.setattr(results_module, "write_table", full)
    with pytest.raises(OSError, match="No space"):
        swept(tmp_path / "part")
    monkeypatch.undo()
    assert atoll.load_sweep(tmp_path / "part").computed == 3
    swept(tmp_path / "part", resume=True)
    whole, part = ((tmp_path / each / "results.parquet").read_bytes() for each in ("whole", "part"))
    assert part == whole


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    swept(tmp_path / "out")
    for keys, resume in (({}, False), ({"constraints": {"cycles": 9}}, True)):
        with pytest.raises(atoll.UsageError) as caught:
            swept(tmp_path / "out", resume=resume, **keys)
        assert caught.value.faults[0].code == "E246"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all my work")
    with pytest.raises(atoll.UsageError) as caught:
        swept(tmp_path / "mine", resume=True)
    assert caught.value.faults[0].code == "E246"
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_changed_chip_is_another_sweep(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("extends: lagoon\nsoc: mine\nversion: 1\n")
    keys: dict[str, Any] = {
        "soc": str(tmp_path / "mine.yaml"),
        "axes": {"memories.flash.read_latency": [1]},
    }
    swept(tmp_path / "out", **keys)
    with (tmp_path / "mine.yaml").open("a") as file:
        file.write("memories: {sram: {read_latency: 2}}\n")
    with pytest.raises(atoll.UsageError, match="another sweep"):
        swept(tmp_path / "out", resume=True, **keys)


def test_descriptions_count_as_they_are_when_the_sweep_begins(tmp_path: Path) -> None:
    """So they do on another machine, which has no files of them."""
    (tmp_path / "chips").mkdir()
    base, mine = tmp_path / "chips" / "base.yaml", tmp_path / "mine.yaml"
    base.write_text("extends: lagoon\nsoc: base\nversion: 1\n")
    mine.write_text("extends: chips/base.yaml\nsoc: mine\nversion: 1\n")
    question = question_of(asked(soc=str(mine)), {})
    before = Asker(question).answer(0, "results")
    mine.unlink()
    base.unlink()
    forget()
    assert before["status"] == "ok"
    assert Asker(question).answer(0, "results") == before


@pytest.mark.parametrize("method", ["random", "latin_hypercube", "nsga2", "tpe"])
def test_each_search_computes_points_of_the_space_again_alike(method: str, tmp_path: Path) -> None:
    search = {"method": method, "points": 8, "seed": 5}
    first, again = (swept(tmp_path / name, search=search) for name in ("a", "b"))
    assert first.rows() == again.rows()
    assert 1 <= first.computed <= 8
    grid = {row["point"]: row for row in swept().rows()}
    assert all(grid[row["point"]] == row for row in first.rows())


def test_a_search_that_goes_on_proposes_what_it_would_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = {"method": "tpe", "points": 40, "seed": 1}
    swept(tmp_path / "whole", search=search)
    real, count = Asker.ask, 0

    def ask(self: Asker, number: int, **keys: bool) -> Any:
        nonlocal count
        count += 1
        if count == 4:
            raise KeyboardInterrupt
        return real(self, number, **keys)

    monkeypatch.setattr(Asker, "ask", ask)
    with pytest.raises(KeyboardInterrupt):
        swept(tmp_path / "part", search=search)
    monkeypatch.undo()
    swept(tmp_path / "part", search=search, resume=True)
    whole, part = ((tmp_path / each / "results.parquet").read_bytes() for each in ("whole", "part"))
    assert part == whole


def test_the_chip_of_a_point_is_what_the_point_was(tmp_path: Path) -> None:
    found = swept(tmp_path / "out")
    row = found.front()[0]
    (file,) = found.write_chip(int(str(row["point"])), tmp_path / "best.yaml").files
    made = atoll.compile(atoll.load_soc(file), DIGITS)
    assert made.network.estimated_cycles == row["cycles"]
    text = file.read_text()
    assert text.startswith(f"# Point {row['point']} of sweep small in {tmp_path / 'out'}\n")
    assert "extends: lagoon" in text
    shutil.copy(file, tmp_path / "copy.yaml")
    atoll.load_soc(tmp_path / "copy.yaml")


def test_a_chip_takes_the_place_of_no_other_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("extends: lagoon\nsoc: mine\nversion: 1\n")
    found = swept(tmp_path / "out", soc=str(mine))
    with pytest.raises(atoll.UsageError) as caught:
        found.write_chip(0, mine)
    assert caught.value.faults[0].code == "E091"
    assert mine.read_text() == "extends: lagoon\nsoc: mine\nversion: 1\n"
    found.write_chip(0, tmp_path / "best.yaml")
    found.write_chip(1, tmp_path / "best.yaml")
    with pytest.raises(atoll.UsageError, match="output_lanes") as caught:
        found.write_chip(4, tmp_path / "none.yaml")
    assert caught.value.faults[0].code == "E235"
    assert not (tmp_path / "none.yaml").exists()


def test_a_chip_is_not_written_with_figures_of_another(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("extends: lagoon\nsoc: mine\nversion: 1\n")
    found = swept(tmp_path / "out", soc=str(mine))
    mine.write_text("extends: lagoon\nsoc: mine\nversion: 1\ndevices: {cpu: {clock: 50 MHz}}\n")
    with pytest.raises(atoll.UsageError, match="of other files") as caught:
        found.write_chip(0, tmp_path / "best.yaml")
    assert caught.value.faults[0].code == "E246"
    assert not (tmp_path / "best.yaml").exists()


def test_files_that_values_name_are_found_from_elsewhere(tmp_path: Path) -> None:
    own = Path(shutil.copytree(EXAMPLES / "07_own_accelerator", tmp_path / "own"))
    chip = own / "chip.yaml"
    chip.write_text(chip.read_text().replace("extends: ../../socs/lagoon.yaml", "extends: lagoon"))
    axes = {"devices.joiner.accelerator": ["./tern.yaml"]}
    found = swept(tmp_path / "out", soc=str(chip), axes=axes)
    (tmp_path / "far").mkdir()
    (file,) = found.write_chip(0, tmp_path / "far" / "best.yaml").files
    assert "../own/tern.yaml" in file.read_text()
    assert atoll.load_soc(file)


def test_energy_and_area_have_a_basis(tmp_path: Path) -> None:
    stated = {f"{part}.area": "{um2: 5, source: own}" for part in ("memories.sram", "devices.cpu")}
    axes = {"with": {"settings": {"area": stated, "none": {"devices.cpu.clock": "50 MHz"}}}}
    area, none = swept(tmp_path / "out", axes=axes, objectives=["cycles"]).rows()
    assert (area["area_basis"], none["area_basis"]) == ("told", None)
    assert none["energy_basis"] is None


SETTINGS = (
    {"devices.npu.clock": "25 MHz"},
    {"devices.npu.clock": "50 MHz", "memories.sram.banks": "2"},
    {"memories.flash.read_latency": "2"},
    {"devices.cpu.clock": "50 MHz", "devices.npu.clock": "50 MHz"},
    {"devices.npu.params.output_lanes": "4"},
    {"memories.sram.read_latency": "2", "devices.npu.params.input_lanes": "4"},
)


@pytest.mark.parametrize("seed", range(6))
def test_a_point_has_nothing_of_other_values(seed: int, tmp_path: Path) -> None:
    """Values of an axis set different keys; each chip is loaded and compiled by itself as well."""
    drawn = random.Random(seed)
    some = {f"s{number}": each for number, each in enumerate(drawn.sample(SETTINGS, 3))}
    axes = {"with": {"settings": some}, "pools.shared.size": ["64 KiB", "128 KiB"]}
    found = swept(tmp_path / "out", axes=axes).rows()
    network = atoll.load_network(DIGITS)
    points = product(some.values(), ("64 KiB", "128 KiB"))
    for row, (sets, size) in zip(found, points, strict=True):
        forget()
        texts = [f"{key}={text}" for key, text in sets.items()]
        chip = atoll.load_soc("lagoon").with_([*texts, f"pools.shared.size={size}"])
        compiled = atoll.compile(chip, network)
        assert row["cycles"] == cost_of(compiled.network._compiled).length, (sets, size)


def test_build_options_of_a_point_stand_in_its_file(tmp_path: Path) -> None:
    found = swept(axes={"build.tile": ["never"], "planner": ["first-fit"]})
    (file,) = found.write_chip(0, tmp_path / "best.yaml").files
    assert "# build.tile: never\n# planner: first-fit\n" in file.read_text()


def test_points_that_are_not_there(tmp_path: Path) -> None:
    found = swept(tmp_path / "out")
    with pytest.raises(atoll.UsageError) as caught:
        found.explain(99)
    assert caught.value.faults[0].code == "E235"
    with pytest.raises(atoll.UsageError) as caught:
        atoll.load_sweep(tmp_path)
    assert caught.value.faults[0].code == "E246"


def test_a_frame_has_a_row_for_each_point() -> None:
    frame = swept().frame()
    assert len(frame) == 9
    assert frame["cycles"].isna().sum() == 3


def test_points_that_ran_are_the_best_and_right(tmp_path: Path, monkeypatch: Any) -> None:
    seen: list[tuple[int, str]] = []

    def run(self: Asker, number: int, cpu: str) -> Mapping[str, Any]:
        seen.append((number, cpu))
        right = {"point": number, "status": "ok", "cycles": 7000 + number}
        return right if number else {"point": number, "status": "wrong", "fault": "conv_2d_0"}

    monkeypatch.setattr(Asker, "run", run)
    found = swept(tmp_path / "out", stages={"plan": "all", "rtl": 2}, objectives=["cycles"])
    best = sorted((row["cycles"], row["point"]) for row in found.rows() if row["cycles"])[:2]
    assert sorted(seen) == sorted((point, "rtl") for _, point in best)
    ran = [row for row in found.rows() if row["rtl.status"]]
    assert {row["point"]: row["rtl.cycles"] for row in ran} == {
        point: 7000 + point for _, point in best
    }
    assert "rtl: 2 of 2 points ran right" in found.text()
    seen.clear()
    swept(tmp_path / "out", resume=True, stages={"plan": "all", "rtl": 2}, objectives=["cycles"])
    assert seen == [], "no point runs again"


def loaded_bytes(elf: Path, memory: range) -> int:
    """Add up what an image has in a memory before it runs."""
    with elf.open("rb") as file:
        segments = [*ELFFile(file).iter_segments("PT_LOAD")]
    return sum(each["p_filesz"] for each in segments if each["p_paddr"] in memory)


ROOM: dict[str, Any] = {
    "much": {"memories.flash.size": "1 MiB"},
    "little": {
        "memories.flash.size": "16 KiB",
        "pools.weights.size": "13 KiB",
        "devices.cpu.code.size": "2 KiB",
    },
}


def test_points_that_are_built_have_the_bytes_of_their_firmware(tmp_path: Path) -> None:
    lanes = "devices.npu.params.output_lanes"
    axes = {lanes: [4, 8], "room": {"settings": ROOM}}
    stages = {"plan": "all", "build": "all"}
    limits = {"build.rom_bytes": 14_000}
    found = swept(tmp_path / "out", axes=axes, stages=stages, constraints=limits)
    rows = {(row[lanes], row["room"]): row for row in found.rows()}
    for number in (4, 8):
        assert rows[number, "little"]["build.status"] == "E074", "there is a plan, but no firmware"
        chip = atoll.load_soc("lagoon", overrides={lanes: number})
        folder = atoll.build(atoll.compile(chip, DIGITS), tmp_path / str(number)).folder
        row = rows[number, "much"]
        assert row["build.rom_bytes"] == loaded_bytes(folder / "firmware.elf", range(2**20))
        assert row["build.rom_bytes"] > row["rom_bytes"]
        assert row["build.ram_bytes"] > row["ram_bytes"]
        assert 0 < row["build.stack_bytes"] < 8192
    assert [row[lanes] for row in found.front()] == [4], "8 lanes take more than the limit"
    assert "14,000" in found.explain(rows[8, "much"]["point"])
    assert "it does not pass 'build'" in found.explain(rows[4, "little"]["point"])
    assert "build: 2 of 4 points were built" in found.text()
    (shown,) = found.to_json()["front"]
    assert shown["stages"]["build"]["rom_bytes"] == rows[4, "much"]["build.rom_bytes"]
    assert atoll.load_sweep(tmp_path / "out").rows() == found.rows()


def test_a_value_that_another_one_makes_possible_is_no_error() -> None:
    loom = str(DIGITS.parents[1] / "11_systolic_array" / "loom.yaml")
    axes = {
        "devices.npu.accelerator": [loom, "reef"],
        "devices.npu.params": ["{input_lanes: 8, output_lanes: 8, vector: 2}", "null"],
        "pools.shared.size": ["512 KiB", "64 KiB"],
    }
    rows = swept(axes=axes).rows()
    assert [row["point"] for row in rows if row["status"] == "ok"] == [3, 5, 7]


def test_an_axis_of_networks_asks_one_at_a_time() -> None:
    networks = {"one": str(DIGITS), "other": str(DIGITS)}
    both = swept(axes={"pools.shared.size": ["64 KiB"]}, networks=networks).rows()
    axes = {"networks": ["one", "other"], "pools.shared.size": ["64 KiB"]}
    rows = swept(axes=axes, networks=networks, stages={"estimate": "all", "build": 2}).rows()
    assert sum(row["cycles"] for row in rows) == both[0]["cycles"]
    assert [row["one.cycles"] for row in rows] == [both[0]["one.cycles"], None]
    assert [row["other.cycles"] for row in rows] == [None, both[0]["other.cycles"]]


def test_without_dask_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("atoll_sweep.api.find_spec", lambda name: None)
    asks: list[Callable[[], object]] = [swept, lambda: atoll.load_sweep(tmp_path)]
    for ask in asks:
        with pytest.raises(atoll.ToolchainError, match="package 'distributed'") as caught:
            ask()
        (fault,) = caught.value.faults
        assert (fault.code, fault.remedy) == ("E213", "install it with: pip install 'atoll[sweep]'")


def test_one_process_at_a_time_computes_into_a_folder(tmp_path: Path) -> None:
    sweep = sweep_of(small(), tmp_path)
    question = question_of(sweep, {})
    refused = pytest.raises(atoll.UsageError, match="another process is computing")
    with hold(tmp_path / "out", question), refused as caught:
        atoll.sweep(small(), tmp_path / "out", workers=0, resume=True)
    assert caught.value.faults[0].code == "E246"
    assert atoll.sweep(small(), tmp_path / "out", workers=0, resume=True).finished


def test_a_sweep_that_ended_before_its_marker_was_whole(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sweep.json").touch()
    assert atoll.sweep(small(), tmp_path / "out", workers=0).finished


def test_a_full_disk_is_an_error_of_its_own(tmp_path: Path, monkeypatch: Any) -> None:
    def full(*words: object, **named: object) -> None:
        raise OSError(errno.ENOSPC, "Error writing bytes to file. Detail: ...")

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    with pytest.raises(atoll.UsageError, match="No space left on device") as caught:
        atoll.sweep(small(), tmp_path / "out", workers=0)
    assert caught.value.faults[0].code == "E092"
    monkeypatch.undo()
    assert atoll.sweep(small(), tmp_path / "out", workers=0, resume=True).finished


@pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "CancelledError"])
def test_whatever_an_objective_raises_is_its_fault(tmp_path: Path, name: str) -> None:
    """On workers, whose points are computed beside the main thread."""
    text = f"from asyncio import CancelledError\ndef price(soc, made):\n    raise {name}(3)\n"
    (tmp_path / "score.py").write_text(text)
    asked = small(objectives=["./score.py:price"])
    rows: list[dict[str, Any]] = []

    def compute() -> None:
        rows.extend(atoll.sweep(asked, folder=tmp_path, workers=0).rows())

    beside = threading.Thread(target=compute)
    beside.start()
    beside.join()
    fine = [row for row in rows if row["status"] == "ok"]
    assert len(fine) == 6
    assert {row["fault"] for row in fine} == {
        f"objective './score.py:price' failed: {name}: 3 ({tmp_path}/score.py, line 3)"
    }


def test_a_child_of_an_objective_that_forks_computes_nothing(tmp_path: Path) -> None:
    (tmp_path / "score.py").write_text(
        "import os\ndef price(soc, made):\n    return 1.0 if os.fork() else 2.0\n"
    )
    (tmp_path / "sweep.yaml").write_text(json.dumps(small(objectives=["./score.py:price"])))
    words = ["sweep", "sweep.yaml", "-o", "out", "--workers", "0", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "atoll", *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["computed_points"] == 9
