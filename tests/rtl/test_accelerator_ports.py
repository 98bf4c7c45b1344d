# SPDX-License-Identifier: Apache-2.0
"""Adapters of an accelerator's ports in RTL: APB, OBI, Wishbone, AXI4-Lite, and several at once."""

from typing import Any

import pytest
from tests.benches.engine_bench import data_bench
from tests.benches.runner import run_bench
from tests.effort import in_gate

CONTROL = (
    *("atoll_bus_pkg.sv", "atoll_word_access.sv", "atoll_bus_to_apb.sv", "atoll_bus_to_obi.sv"),
    *("atoll_bus_to_wishbone.sv", "atoll_control_bench.sv"),
)
DATA = (
    *("atoll_bus_pkg.sv", "atoll_fifo.sv", "atoll_arbiter.sv", "atoll_axi_burst.sv"),
    "atoll_rest_clock.sv",
    *("atoll_axi_to_bus.sv", "atoll_axil_to_bus.sv", "atoll_obi_to_bus.sv"),
    *("atoll_wishbone_to_bus.sv", "atoll_merge.sv"),
)
BENCH = data_bench()
MORE_SEEDS = range(2, 12)

pytestmark = pytest.mark.rtl


def slow(*values: int) -> Any:
    """Return parameters for `make test-all` only."""
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("data", "bits"), in_gate([(8, 12), (64, 24), slow(16, 16), slow(32, 12)], 1)
)
def test_control_adapters(data: int, bits: int) -> None:
    parameters = {"DataBytes": data, "AddrBits": bits}
    run_bench("control_ports", "atoll_control_bench", CONTROL, parameters)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE_SEEDS)
def test_control_adapters_again(seed: int) -> None:
    parameters = {"DataBytes": 8, "AddrBits": 12}
    run_bench("control_ports", "atoll_control_bench", CONTROL, parameters, seed)


@pytest.mark.parametrize(
    ("data", "port"),
    in_gate(
        [(8, 4), (32, 16), *(slow(8, 8), slow(16, 4), slow(32, 32), slow(64, 4), slow(64, 64))], 0
    ),
)
def test_data_adapters(data: int, port: int) -> None:
    parameters = {"DataBytes": data, "PortBytes": port}
    run_bench("data_ports", "atoll_data_bench", DATA, parameters, generated=BENCH)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE_SEEDS)
def test_data_adapters_again(seed: int) -> None:
    parameters = {"DataBytes": 8, "PortBytes": 4}
    run_bench("data_ports", "atoll_data_bench", DATA, parameters, seed, generated=BENCH)
