# SPDX-License-Identifier: Apache-2.0
"""The system bus in RTL: firewall, demux, memories, console, AXI adapters."""

from typing import Any

import pytest
from tests.benches.runner import run_bench
from tests.effort import in_gate

MEMORY = (
    *("atoll_bus_pkg.sv", "atoll_arbiter.sv", "atoll_memory_bank.sv", "atoll_memory_port.sv"),
    "atoll_rest_clock.sv",
    *("atoll_memory.sv", "atoll_firewall.sv", "atoll_demux.sv"),
)

CROSSING = ("atoll_synchroniser.sv", "atoll_async_fifo.sv", "atoll_bus_crossing.sv")
FULL_PACE = 16

pytestmark = pytest.mark.rtl


def slow(*values: int) -> Any:
    """Return parameters for `make test-all` only."""
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize("data", in_gate([8, slow(32), 64], -1))
def test_firewall(data: int) -> None:
    sources = (*MEMORY, "atoll_firewall_bench.sv")
    run_bench("firewall", "atoll_firewall_bench", sources, {"DataBytes": data})


def test_view() -> None:
    run_bench(
        "view", "atoll_view_bench", ("atoll_bus_pkg.sv", "atoll_view.sv", "atoll_view_bench.sv")
    )


@pytest.mark.parametrize(
    ("data", "word", "banks", "latency"),
    in_gate(
        [
            *((8, 4, 1, 1), (16, 4, 2, 3), (8, 1, 8, 1), (64, 8, 2, 1)),
            *(slow(8, 4, 2, 2), slow(8, 8, 4, 1), slow(16, 16, 1, 1), slow(32, 32, 2, 1)),
            *(slow(64, 64, 1, 2), slow(64, 1, 4, 1)),
        ],
        1,
        3,
    ),
)
def test_crossbar_and_memories(data: int, word: int, banks: int, latency: int) -> None:
    run_bench(
        "crossbar",
        "atoll_crossbar_bench",
        (*MEMORY, "atoll_crossbar_bench.sv"),
        {"DataBytes": data, "WordBytes": word, "NumBanks": banks, "ReadLatency": latency},
    )


@pytest.mark.parametrize(
    ("data", "axi", "word"),
    in_gate(
        [
            *((8, 8, 8), (16, 8, 4), (64, 64, 64)),
            *(slow(8, 4, 4), slow(16, 16, 8), slow(32, 32, 32), slow(32, 4, 8), slow(64, 64, 16)),
        ],
        1,
    ),
)
def test_axi_adapter(data: int, axi: int, word: int) -> None:
    adapter = ("atoll_fifo.sv", "atoll_axi_burst.sv", "atoll_axi_to_bus.sv", "atoll_axi_bench.sv")
    run_bench(
        "axi_adapter",
        "atoll_axi_bench",
        (*MEMORY, *adapter),
        {"DataBytes": data, "AxiBytes": axi, "WordBytes": word},
    )


@pytest.mark.parametrize(("data", "bits"), in_gate([(8, 12), slow(32, 16), (64, 16)], -1))
def test_control_port(data: int, bits: int) -> None:
    adapter = ("atoll_rest_clock.sv", "atoll_bus_to_axil.sv")
    sources = ("atoll_bus_pkg.sv", *adapter, "atoll_axil_bench.sv")
    parameters = {"DataBytes": data, "AddrBits": bits}
    run_bench("control_port", "atoll_axil_bench", sources, parameters)


def test_reset_synchroniser() -> None:
    run_bench("reset_sync", "atoll_reset_sync", ("atoll_reset_sync.sv",))


@pytest.mark.parametrize("depth", [slow(2), 8])
def test_queue_between_two_clocks(depth: int) -> None:
    run_bench("async_fifo", "atoll_async_fifo", CROSSING[:2], {"Depth": depth, "Width": 37})


@pytest.mark.parametrize("depth", in_gate([2, 16], -1))
def test_crossing_of_the_bus(depth: int) -> None:
    pace = ["a_beat_crosses_in_each_cycle_of_the_slower_clock/.*"] if depth == FULL_PACE else []
    parameters = {"Depth": depth, "RequestBits": 107, "AnswerBits": 66}
    tests = ("every_request_has_its_answer/.*", *pace)
    run_bench("bus_crossing", "atoll_bus_crossing", CROSSING, parameters, tests=tests)


def test_guard() -> None:
    port = ("atoll_bus_pkg.sv", "atoll_word_port.sv")
    sources = (*port, "atoll_guard.sv", "atoll_watchdog.sv", "atoll_guard_bench.sv")
    run_bench("guard", "atoll_guard_bench", sources)


def test_console() -> None:
    port = ("atoll_bus_pkg.sv", "atoll_word_port.sv")
    sources = (*port, "atoll_console.sv", "atoll_console_bench.sv")
    run_bench("console", "atoll_console_bench", sources)


@pytest.mark.parametrize("data", [8, slow(16), slow(32), slow(64)])
def test_mailbox(data: int) -> None:
    sources = ("atoll_bus_pkg.sv", "atoll_word_port.sv", "atoll_mailbox.sv")
    run_bench("mailbox", "atoll_mailbox", sources, {"DataBytes": data})


@pytest.mark.parametrize(("data", "ports", "harts"), [(8, 3, 5), slow(8, 1, 1), slow(32, 4, 2)])
def test_software_interrupts(data: int, ports: int, harts: int) -> None:
    sources = ("atoll_bus_pkg.sv", "atoll_word_port.sv", "atoll_msip.sv")
    parameters = {"DataBytes": data, "NumPorts": ports, "NumHarts": harts}
    run_bench("msip", "atoll_msip", sources, parameters)


def test_ahb_port_of_a_core() -> None:
    run_bench("ahb_port", "atoll_ahb_to_obi", ("atoll_ahb_to_obi.sv",))


def test_identifiers_of_axi() -> None:
    run_bench("axi_ids", "atoll_axi_ids", ("atoll_fifo.sv", "atoll_axi_ids.sv"), {"Depth": 16})
