"""Networks larger than their memory run in stripes: bit-exact in RTL, and faults are noticed."""

import json
from pathlib import Path

import pytest

from atoll.cli import main

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"

NETWORKS = {
    "vww_96_int8": ("36 KiB", "20 KiB"),
    "kws_ref_model": ("6 KiB", "2 KiB"),
    "pretrainedResnet_quant": ("20 KiB",),
}
"""Sizes of lagoon's shared SRAM that are less than the networks' tensors need as a whole."""


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("network", "size"), [(name, size) for name, sizes in NETWORKS.items() for size in sizes]
)
def test_networks_larger_than_their_memory(
    network: str, size: str, shared_models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(shared_models / f"{network}.tflite")
    assert main(["run", "lagoon", model, "--set", f"pools.shared.size={size}", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bit_exact"]
    assert told["placement"]["violations"] == []
    assert told["layers_compared"] > 31


@pytest.mark.rtl
def test_faults_of_stripes_are_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = tmp_path / "options.yaml"
    options.write_text("cuts: [{first: conv_2d_0, last: add_3, stripes: 3}]\n")
    asked = ["validate", "lagoon", str(DIGITS), "--build", str(options), "--mutants", "66"]
    assert main([*asked, "--json"]) == 0
    (campaign,) = json.loads(capsys.readouterr().out)["networks"]
    planted = {each["kind"] for each in campaign["mutants"]}
    assert {"tile moved", "halo short"} <= planted
