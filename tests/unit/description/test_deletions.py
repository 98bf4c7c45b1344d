# SPDX-License-Identifier: Apache-2.0
"""A layer deletes with null what a file below says; sets of the command line do the same."""

from pathlib import Path
from typing import Any

import pytest

from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

DATA = Path(__file__).parents[2] / "data"
SOCS = Path(__file__).parents[3] / "socs"


@pytest.fixture
def extended(tmp_path: Path) -> Any:
    """Resolve a file of these lines."""

    def load(*lines: str) -> ResolvedSoc:
        path = tmp_path / "top.yaml"
        path.write_text("".join(f"{line}\n" for line in lines))
        return load_soc(path)

    return load


def test_a_shipped_chip_is_extended_by_name(extended: Any) -> None:
    soc = extended("extends: lagoon", "soc: mine")
    assert (soc.name, [device.name for device in soc.devices]) == ("mine", ["cpu", "npu"])
    with pytest.raises(AtollError, match=r"top.yaml:1:10: error\[E008\]: no chip 'lagon' is ship"):
        extended("extends: lagon")


def test_a_file_of_that_name_comes_first(extended: Any, tmp_path: Path) -> None:
    (tmp_path / "lagoon").write_text((SOCS / "twin.yaml").read_text())
    assert extended("extends: lagoon").name == "twin"


def test_null_deletes_a_device_and_its_entries_in_reach(extended: Any) -> None:
    soc = extended("extends: twin", "devices: {dma: null, npu_small: ~}", "pools: {small_local: ~}")
    assert [device.name for device in soc.devices] == ["cpu", "dsp", "npu_large"]
    assert all("dma" not in pool.reach for pool in soc.pools)
    assert not any("dma" in key for key in soc.layers)


def test_an_entry_of_the_deleting_file_stays(extended: Any) -> None:
    with pytest.raises(AtollError, match=r"E021.*'pools.shared.reach' names device 'npu'"):
        extended("extends: lagoon", "devices: {npu: null}", "pools: {shared: {reach: {npu: rw}}}")


def test_a_value_that_is_deleted_takes_its_default(extended: Any) -> None:
    assert (
        extended("extends: lagoon", "pools: {private: {size: null}}").pool("private").room > 2**15
    )


def test_what_is_not_there_cannot_be_deleted(extended: Any) -> None:
    with pytest.raises(AtollError, match=r"E130.*'devices.npv'") as caught:
        extended("extends: lagoon", "devices: {npv: null}")
    (fault,) = caught.value.faults
    assert fault.remedy == "did you mean 'npu'? If not, delete it"


def test_an_empty_value_deletes_nothing(extended: Any) -> None:
    with pytest.raises(AtollError, match=r"'devices' must be a mapping.*not empty"):
        extended("extends: lagoon", "devices:")


def test_the_command_line_deletes() -> None:
    soc = load_soc("twin", ["devices.dma=null"])
    assert not soc.dmas
    with pytest.raises(AtollError, match=r"E097.*'--set host=' sets no value"):
        load_soc("lagoon", ["host="])
    with pytest.raises(AtollError, match=r"E098.*there is no 'devices.dmx'"):
        load_soc("twin", ["devices.dmx=null"])


def test_the_command_line_sets_lists_and_mappings() -> None:
    soc = load_soc("lagoon", ["devices.npu.runs=[CONV_2D]", "pools.shared.reach={cpu: rw}"])
    assert soc.npus[0].runs == ("conv_2d",)
    assert soc.layers["devices.npu.runs"] == soc.layers["pools.shared.reach.cpu"] == "--set"
    assert load_soc("lagoon", ['soc="no"']).name == "no"


def test_a_mapping_of_the_command_line_merges_and_may_add_a_name() -> None:
    extra = "{memory: sram, role: workspace, size: 4 KiB, others: rw}"
    soc = load_soc("lagoon", [f"pools.extra={extra}", "pools.extra.reach.npu=none"])
    assert soc.pool("extra").reach["npu"] == "none"
    assert soc.layers["pools.extra.reach.npu"] == "--set"
    assert soc.layers["pools.extra.reach.cpu"] == "pools.extra.others, --set"


@pytest.mark.parametrize("text", ["[a", "{a: 1", "{a: 1}}", "[1] 2", "{a: 1, a: 2}", "[&x 1]"])
def test_flow_style_that_is_none(text: str) -> None:
    with pytest.raises(AtollError, match="E097") as caught:
        load_soc("lagoon", [f"devices.npu.runs={text}"])
    (fault,) = caught.value.faults
    assert fault.at is None
    assert fault.remedy
