# SPDX-License-Identifier: Apache-2.0
"""Area and energy in sweeps: of the model, or of what a chip states."""

from pathlib import Path

import pytest
from tests.unit.sweep.sweeps import small

import atoll
from atoll.cost.areas import logic_of

NPU = "devices.npu.params"
AREAS = {"devices": ("cpu", "npu"), "memories": ("flash", "sram", "dtcm")}


def swept(**keys: object) -> atoll.SweepResults:
    return atoll.sweep(small(**keys), workers=0)


def test_the_area_of_logic_is_the_models() -> None:
    axes = {f"{NPU}.requantisers": [1, 8], "memories.sram.banks": [1, 4]}
    found = swept(axes=axes, objectives=["cycles", "logic_um2", "sram_bytes"])
    for row in found.rows():
        sets = {axis: row[axis] for axis in axes}
        logic = logic_of(atoll.load_soc("lagoon", overrides=sets)._resolved)
        assert row["logic_um2"] == logic.total
        assert (row["logic_um2_low"], row["logic_um2_high"]) == (logic.low, logic.high)
        assert row["sram_bytes"] == logic.sram_bytes
        assert row["logic_basis"] == "fitted"
    text = found.text()
    assert "logic band" in text
    assert "fitted" in text
    told = found.explain(0)
    assert f"logic_um2 is {found.rows()[0]['logic_um2']:,}, " in told
    for part in ("devices.npu ", "devices.cpu ", "memories.sram ", "platform "):
        assert part in told
    front = found.to_json()["front"]
    assert all(each["logic_um2_low"] <= each["logic_um2"] for each in front)
    assert {each["logic_basis"] for each in front} == {"fitted"}


def test_only_who_asks_for_the_area_gets_it() -> None:
    found = swept(axes={f"{NPU}.requantisers": [1]})
    assert "logic_um2" not in found.rows()[0]
    assert "logic" not in found.text()
    assert "logic" not in found.explain(0)
    limited = swept(axes={f"{NPU}.requantisers": [1]}, constraints={"logic_um2": 10})
    assert limited.front() == []
    assert "above the limit of 10" in limited.text()


def test_an_area_that_is_not_known_is_not_compared() -> None:
    axes = {"npu": {"settings": {"own": stated("devices.npu", 1000), "none": {f"{NPU}.vector": 1}}}}
    found = swept(axes=axes, objectives=["logic_um2"])
    own, model = found.rows()
    assert own["logic_um2"] is None
    assert own["logic_basis"] == "nothing says devices.npu.area.library: sky130_fd_sc_hd"
    assert [row["point"] for row in found.front()] == [model["point"]]
    assert "the area of its logic is not known: nothing says devices.npu.area.library" in (
        found.explain(0)
    )
    assert "logic_um2 is not known" in found.explain(0)


def stated(part: str, um2: int, **more: str) -> dict[str, object]:
    return {f"{part}.area.source": "own table", f"{part}.area.um2": um2} | {
        f"{part}.area.{key}": value for key, value in more.items()
    }


def test_an_area_that_two_axes_make_known_together_is_asked(tmp_path: Path) -> None:
    parts = "".join(
        f"  {name}: {{area: {{source: own, um2: 100, library: other}}}}\n"
        for name in AREAS["devices"]
    )
    chip = tmp_path / "chip.yaml"
    chip.write_text(f"soc: own\nversion: 1\nextends: lagoon\ndevices:\n{parts}")
    axes = {
        f"devices.{name}.area.library": ["other", "sky130_fd_sc_hd"] for name in AREAS["devices"]
    }
    found = swept(soc=str(chip), axes=axes, objectives=["logic_um2"])
    assert [row["logic_um2"] is not None for row in found.rows()] == [False, False, False, True]


def test_what_a_chip_states_wins() -> None:
    library = {"library": "sky130_fd_sc_hd"}
    axes = {
        "npu": {
            "settings": {
                "model": {f"{NPU}.vector": 2},
                "own": stated("devices.npu", 1000, **library),
            }
        }
    }
    found = swept(axes=axes, objectives=["logic_um2"])
    model, own = found.rows()
    parts = logic_of(atoll.load_soc("lagoon")._resolved).parts
    assert model["logic_um2"] - own["logic_um2"] == pytest.approx(
        parts["devices.npu"] - 1000, abs=1
    )
    assert own["logic_basis"] == "fitted, told"
    assert own["logic_um2_low"] is None
    assert "not known" in found.text()


def test_a_table_of_ones_own_counts_with_axes(tmp_path: Path) -> None:
    """Areas and energies of all parts, of which axes change single numbers."""
    areas = "".join(
        f"{group}:\n"
        + "".join(
            f"  {name}: {{area: {{source: own, um2: 100}},"
            f" energy: {{source: own, {ENERGY[group]}}}}}\n"
            for name in names
        )
        for group, names in AREAS.items()
    )
    chip = tmp_path / "chip.yaml"
    chip.write_text(f"soc: own\nversion: 1\nextends: lagoon\n{areas}")
    axes = {"devices.npu.area.um2": [50, 100], "devices.npu.energy.pj_per_mac": [1, 2, 4]}
    found = swept(soc=str(chip), axes=axes, objectives=["area_um2", "energy_pj"])
    rows = found.rows()
    assert [row["area_um2"] for row in rows] == [450, 450, 450, 500, 500, 500]
    assert {(row["area_basis"], bool(row["energy_basis"])) for row in rows} == {("told", True)}
    assert {"energy_basis", "area_basis"} <= {*found.text().split()}, "beside the front's figures"
    for one, two, four in (rows[:3], rows[3:]):
        macs = two["energy_pj"] - one["energy_pj"]
        assert macs > 0
        assert four["energy_pj"] - one["energy_pj"] == 3 * macs


ENERGY = {
    "devices": "active_pj_per_cycle: 2, idle_pj_per_cycle: 1",
    "memories": "read_pj_per_byte: 1, write_pj_per_byte: 1",
}
