# SPDX-License-Identifier: Apache-2.0
"""The whole accelerator in RTL with a memory: operators, lists, faults and cycles."""

from collections.abc import Mapping

import pytest
from tests.benches import reef_layers
from tests.benches.reef_sources import SYSTEM_BENCH, SYSTEM_TOP
from tests.benches.runner import run_bench
from tests.effort import in_gate

pytestmark = pytest.mark.rtl


def instance(
    input_lanes: int,
    output_lanes: int,
    data_bytes: int,
    rows: int,
    latency: int,
    requantisers: int = 8,
) -> Mapping[str, int]:
    return {
        "InputLanes": input_lanes,
        "OutputLanes": output_lanes,
        "Requantisers": requantisers,
        "DataBytes": data_bytes,
        "WeightRows": rows,
        "Latency": latency,
    }


DEFAULT = instance(*reef_layers.DEFAULT)
# Few weight rows, so that many kernels do not fit on chip.
SMALL = instance(*reef_layers.SMALL)
WIDE = instance(*reef_layers.WIDE)
OTHERS = (
    *(instance(4, 4, 16, 32, 2), instance(4, 8, 8, 16, 1, 1), instance(4, 8, 16, 64, 9)),
    *(instance(8, 4, 8, 16, 2), instance(8, 4, 16, 16, 1, 1), instance(8, 8, 16, 1024, 5, 4)),
    *(instance(8, 16, 16, 16, 3, 16), instance(16, 4, 16, 16, 1, 2), instance(16, 8, 16, 64, 2)),
    instance(16, 16, 16, 32, 20, 2),
)


def run(bench: str, parameters: Mapping[str, int], seed: int = 1, **options: int) -> None:
    run_bench(
        bench,
        "reef_system_bench",
        SYSTEM_BENCH,
        parameters,
        seed,
        options=options,
        generated=SYSTEM_TOP,
    )


@pytest.mark.parametrize("parameters", in_gate([DEFAULT, WIDE], 0))
def test_operators(parameters: Mapping[str, int]) -> None:
    run("reef_operators", parameters)


@pytest.mark.parametrize("parameters", in_gate([DEFAULT, WIDE], 0))
def test_lists(parameters: Mapping[str, int]) -> None:
    run("reef_lists", parameters)


@pytest.mark.parametrize(
    "parameters", in_gate([DEFAULT, pytest.param(SMALL, marks=pytest.mark.slow), WIDE], 0)
)
def test_waits(parameters: Mapping[str, int]) -> None:
    run("reef_waits", parameters)


@pytest.mark.parametrize("parameters", in_gate([DEFAULT, WIDE], 0))
def test_faults(parameters: Mapping[str, int]) -> None:
    run("reef_faults", parameters)


@pytest.mark.parametrize("parameters", in_gate([DEFAULT, WIDE], 0))
def test_elements(parameters: Mapping[str, int]) -> None:
    run("reef_elements", parameters)


@pytest.mark.parametrize("parameters", in_gate([DEFAULT, WIDE], 0))
def test_moves(parameters: Mapping[str, int]) -> None:
    run("reef_moves", parameters)


@pytest.mark.parametrize("parameters", in_gate([DEFAULT, WIDE], 0))
def test_shares(parameters: Mapping[str, int]) -> None:
    run("reef_shares", parameters)


@pytest.mark.parametrize("vector", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_an_instance_without_units(vector: int) -> None:
    run("reef_without", {**SMALL, "Vector": vector})


@pytest.mark.parametrize(
    "measured",
    [
        reef_layers.DEFAULT,
        *(pytest.param(e, marks=pytest.mark.slow) for e in (reef_layers.SMALL, reef_layers.WIDE)),
    ],
)
def test_cycles(measured: reef_layers.Instance) -> None:
    run("reef_cycles", instance(*measured))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("parameters", [DEFAULT, SMALL, WIDE, *OTHERS])
def test_many_operators(parameters: Mapping[str, int], seed: int) -> None:
    run("reef_operators", parameters, seed, Operators=40)
    run("reef_elements", parameters, seed, Operators=40)
    run("reef_moves", parameters, seed, Operators=40)
    run("reef_shares", parameters, seed, Operators=40)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", OTHERS)
def test_lists_and_faults_elsewhere(parameters: Mapping[str, int]) -> None:
    run("reef_lists", parameters)
    run("reef_faults", parameters)
