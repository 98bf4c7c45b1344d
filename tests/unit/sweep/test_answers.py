# SPDX-License-Identifier: Apache-2.0
"""The front, shares and explanations, held against the plain definition of each."""

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.sweep.sweeps import small

from atoll_sweep.answers import Answers
from atoll_sweep.api import sweep_of
from atoll_sweep.table import schema_of, to_table


def answers(seed: int, objectives: tuple[str, ...], **keys: Any) -> Answers:
    """Return random rows of a space of 8 x 8 points."""
    drawn = random.Random(seed)
    axes = {
        "memories.flash.read_latency": {"from": 1, "to": 8, "step": 1},
        "memories.sram.read_latency": {"from": 1, "to": 8, "step": 1},
    }
    from pathlib import Path

    sweep = sweep_of(small(axes=axes, objectives=list(objectives), **keys), Path())
    rows: list[dict[str, Any]] = []
    for point in range(64):
        if drawn.random() < 0.2:
            rows.append({"point": point, "status": "E037", "fault": "it does not fit"})
            continue
        figures = {name: drawn.randrange(1, 12) for name in objectives}
        rows.append({"point": point, "status": "ok", "basis": "measured"} | figures)
    table = to_table(rows, sweep, schema_of(sweep, "", ()))
    return Answers(sweep, table, objectives)


def beats(one: dict[str, Any], other: dict[str, Any], objectives: tuple[str, ...]) -> bool:
    no_worse = all(one[name] <= other[name] for name in objectives)
    return no_worse and any(one[name] < other[name] for name in objectives)


OBJECTIVES = [("cycles",), ("cycles", "ram_bytes"), ("cycles", "ram_bytes", "rom_bytes")]


@pytest.mark.parametrize("objectives", OBJECTIVES, ids=len)
@pytest.mark.parametrize("seed", range(6))
def test_the_front_is_what_nothing_beats(seed: int, objectives: tuple[str, ...]) -> None:
    found = answers(seed, objectives)
    good = [row for row in found.rows if row["status"] == "ok"]
    best = [row for row in good if not any(beats(each, row, objectives) for each in good)]
    values = {tuple(row[name] for name in objectives) for row in best}
    front = [tuple(row[name] for name in objectives) for row in found.front]
    assert sorted(front) == sorted(values), "each once"
    assert sum(1 + row["alike"] for row in found.front) == len(best)


def test_answers_fit_sixty_columns() -> None:
    found = answers(1, ("cycles", "ram_bytes"))
    lines = found.text(60).splitlines()
    assert max(map(len, lines)) <= 60
    assert any(line.split()[:3] == ["point", *_SHORT] for line in lines)
    assert not any(each in found.text() for each in (f"  {_SHORT[0]}", f"  {_SHORT[1]}"))


_SHORT = ["flash.read_latency", "sram.read_latency"]


@pytest.mark.parametrize("seed", range(6))
def test_limits_keep_points_from_the_front(seed: int) -> None:
    limits = {"cycles": 6}
    found = answers(seed, ("cycles", "ram_bytes"), constraints=limits)
    assert found.front
    assert all(row["cycles"] <= 6 for row in found.front)
    row = next(row for row in found.rows if row["status"] == "ok" and row["cycles"] == 9)
    assert found.lacks(row) == ["cycles is 9, 50 % above the limit of 6"]


def test_what_is_not_known_is_not_compared() -> None:
    found = answers(1, ("cycles", "area_um2"))
    for row in found.rows:
        row["area_um2"] = None
    assert found.front == []
    row = next(row for row in found.rows if row["status"] == "ok")
    assert found.lacks(row) == ["area_um2 is not known"]


@pytest.mark.parametrize("seed", range(6))
def test_what_would_put_a_point_on_the_front_does(seed: int) -> None:
    """The objective that an explanation names, one less than it, is beaten by no point."""
    objectives = ("cycles", "ram_bytes")
    found = answers(seed, objectives)
    on_front = {row["point"] for row in found.front}
    for row in found.good:
        words = list(found.explain(row))
        if row["point"] in on_front:
            assert words[0].endswith("it is on the front")
            continue
        for name in objectives:
            said = [line for line in words if line.startswith(f"with {name} below ")]
            if not said:
                assert "as good as point" in words[0]
                continue
            least = int(said[0].split()[3])
            better, same = row | {name: least - 1}, row | {name: least}
            assert not any(beats(each, better, objectives) for each in found.good)
            others = [each for each in found.good if each["point"] != row["point"]]
            assert any(
                beats(each, same, objectives) or vector(each) == vector(same) for each in others
            )


def vector(row: dict[str, Any]) -> tuple[int, int]:
    return row["cycles"], row["ram_bytes"]


@pytest.mark.parametrize("seed", range(4))
def test_the_best_points_come_front_by_front(seed: int) -> None:
    objectives = ("cycles", "ram_bytes")
    found = answers(seed, objectives)
    best = found.best(len(found.rows))
    ranks: dict[int, int] = {}
    left, rank = {vector(row) for row in found.good}, 0
    while left:
        front = {
            one
            for one in left
            if not any(o != one and o[0] <= one[0] and o[1] <= one[1] for o in left)
        }
        ranks |= {row["point"]: rank for row in found.good if vector(row) in front}
        left, rank = left - front, rank + 1
    order = [ranks[point] for point in best]
    assert order == sorted(order)
    assert len(set(best)) == len(best)
    assert set(found.best(1)) <= {row["point"] for row in found.front}


def test_shares_are_those_of_the_variance_between_groups() -> None:
    found = answers(2, ("cycles",))
    for row in found.rows:
        if row["status"] == "ok":
            row["cycles"] = 10 * row["memories.flash.read_latency"] + 1
    first, second = found.shares()
    assert first["cycles"] == pytest.approx(1)
    everything = np.array([row["cycles"] for row in found.good])
    groups: dict[int, list[int]] = {}
    for row in found.good:
        groups.setdefault(row["memories.sram.read_latency"], []).append(row["cycles"])
    inside = sum(np.var(group) * len(group) for group in groups.values()) / len(everything)
    assert second["cycles"] == pytest.approx(1 - inside / np.var(everything))


def test_an_axis_that_nothing_depends_on_has_no_share() -> None:
    found = answers(2, ("cycles",))
    for row in found.rows:
        row["cycles"] = 5
    assert [each["cycles"] for each in found.shares()] == [None, None]


def test_columns_have_the_types_of_their_values() -> None:
    axes = {
        "pools.shared.size": ["64 KiB", "1 MiB"],
        "devices.npu.clock": ["100 MHz", "1 GHz"],
        "memories.flash.read_latency": [1, 2],
        "build.spread": [True, False],
        "build.tile": ["auto", "never"],
    }
    from pathlib import Path

    sweep = sweep_of(small(axes=axes), Path())
    schema = schema_of(sweep, "", ())
    kinds = [schema.field(name).type for name in axes]
    assert kinds == [pa.int64(), pa.int64(), pa.int64(), pa.string(), pa.string()]
    (row,) = to_table([{"point": 31, "status": "ok"}], sweep, schema).to_pylist()
    assert [row[name] for name in axes] == [2**20, 10**9, 2, "false", "never"]
