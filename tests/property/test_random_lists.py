# SPDX-License-Identifier: Apache-2.0
"""Lists of pools on drawn chips: a plan that a single pool gives is found, and runs exactly."""

import json
from itertools import islice, product
from pathlib import Path
from random import Random

import pytest
from tests.effort import cases
from tests.list_chips import draw_chip
from tests.requests import load_requests

from atoll.cli import main
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc

SAMPLER = Path(__file__).parents[2] / "examples" / "03_two_networks" / "sampler.tflite"
ACTIVATIONS = ["conv_2d_2_out", "add_4_out", "mul_5_out", "fully_connected_12_out", "*_out"]
CONSTANTS = ["*_weights", "conv_2d_2_filter", "mul_5_constant_1", "fully_connected_12_weights"]
MOST_TRIED = 12
Pins = dict[str, tuple[str, ...]]


def test_m7_u3_lists_on_drawn_chips_have_a_plan_where_a_single_pool_has_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = 0
    for seed in range(1000, 1000 + cases(20, 3)):
        drawn = draw_chip(Random(seed), ACTIVATIONS, CONSTANTS)
        path = tmp_path / f"{seed}.yaml"
        path.write_text(drawn.text)
        if not is_chip(path):
            continue
        if has_plan(path, drawn.pins):
            assert_exact(path, drawn.pins, capsys)
            ran += 1
            continue
        singles = product(*([(name, (pool,)) for pool in e] for name, e in drawn.pins.items()))
        for single in islice(singles, MOST_TRIED):
            assert not has_plan(path, dict(single)), (seed, drawn.pins, single)
    assert ran > 0


def is_chip(path: Path) -> bool:
    try:
        load_soc(path)
    except AtollError:
        return False
    return True


def words_of(pins: Pins) -> list[str]:
    return [f"{name}={','.join(pools)}" for name, pools in pins.items()]


def has_plan(path: Path, pins: Pins) -> bool:
    options = BuildOptions(requests=load_requests(None, pin=words_of(pins)))
    try:
        compile_file(load_soc(path), SAMPLER, options)
    except AtollError:
        return False
    return True


def assert_exact(path: Path, pins: Pins, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for pin in words_of(pins) for word in ("--pin", pin)]
    native = ["--cpu", "native", "--accelerator", "model", "--json"]
    assert main(["run", str(path), str(SAMPLER), *native, *words]) == 0, path.read_text()
    told = json.loads(capsys.readouterr().out)
    assert told["bit_exact"]
    assert told["placement"]["violations"] == []
