# SPDX-License-Identifier: Apache-2.0
"""Where tensors lie of which a small pool has some rows, and which pools are left to copies."""

from dataclasses import replace
from pathlib import Path

import pytest

from atoll.cost.data.assumed import CORE_PIECE_CYCLES
from atoll.frontend.registry import load_network
from atoll.ir.graph import Graph
from atoll.resolve import load_soc
from atoll.resolve.soc import Access, ResolvedSoc
from atoll.tile.elsewhere import Elsewhere, elsewhere
from atoll.tile.far_pools import far_pools, without_accelerators

ROOT = Path(__file__).parents[3]
SHOAL = str(ROOT / "tests" / "data" / "shoal.yaml")
ROOMY = ("pools.private.size=16 KiB",)


@pytest.fixture(scope="module")
def digits() -> Graph:
    return load_network(ROOT / "examples" / "01_digits" / "digits_int8.tflite")


def found(graph: Graph, soc: ResolvedSoc, name: str) -> Elsewhere:
    place = elsewhere(graph.tensor(name), graph, soc, {"shared"})
    assert place is not None
    return place


def without_moves(soc: ResolvedSoc, *gone: tuple[str, str]) -> ResolvedSoc:
    """Return the chip with a DMA engine that does not copy between some memories."""
    (dma,) = soc.dmas
    kept = tuple(pair for pair in dma.moves if pair not in gone)
    fewer = replace(dma, moves=kept)
    return replace(soc, devices=tuple(fewer if each == dma else each for each in soc.devices))


def test_rows_lie_where_a_dma_engine_copies_them(digits: Graph) -> None:
    """A core copies to its own memory in five times the cycles that the engine takes from afar."""
    soc = load_soc(SHOAL, ROOMY)
    by_engine = found(digits, soc, "conv_2d_0_out")
    assert by_engine.pool == "slow"
    by_core = found(digits, without_moves(soc, ("sram", "psram")), "conv_2d_0_out")
    assert by_core.pool == "private"
    assert by_core.moving > 2 * by_engine.moving


def test_an_input_is_only_read(digits: Graph) -> None:
    """An engine that copies one way brings rows of inputs and takes none away."""
    soc = load_soc(SHOAL, ("pools.private.size=48 B",))
    (name,) = digits.inputs
    assert found(digits, without_moves(soc, ("sram", "psram")), name).fixed > CORE_PIECE_CYCLES
    assert found(digits, without_moves(soc, ("psram", "sram")), name).fixed == CORE_PIECE_CYCLES


def test_there_may_be_no_other_pool(digits: Graph) -> None:
    soc = load_soc("lagoon", ("pools.private.size=64 B",))
    assert elsewhere(digits.tensor("conv_2d_0_out"), digits, soc, {"shared"}) is None


def test_constants_and_what_the_user_pins_lie_nowhere_else(digits: Graph) -> None:
    soc = load_soc(SHOAL, ROOMY)
    pinned = replace(digits.tensor("conv_2d_0_out"), pools=("shared",))
    (weights,) = (each for each in digits.operators[0].inputs[1:2])
    assert elsewhere(pinned, digits, soc, {"shared"}) is None
    assert elsewhere(digits.tensor(weights), digits, soc, {"shared"}) is None


EVERY = [(device, pool) for device in ("cpu", "npu", "dma") for pool in ("private", "shared")]
FAR = [("npu", "slow"), ("npu", "shared")]


def test_a_far_pool_is_one_that_an_accelerator_uses() -> None:
    soc = load_soc(SHOAL)
    assert far_pools(FAR, soc) == {"slow"}
    assert far_pools([*EVERY, ("cpu", "slow"), ("dma", "slow")], soc) == frozenset()


@pytest.mark.parametrize(
    "overrides",
    [
        ("memories.psram.read_latency=1", "memories.psram.width=8"),
        ("memories.psram.width=16",),
    ],
    ids=("alike", "wider but later"),
)
def test_no_pool_is_far_that_is_not_slower(overrides: tuple[str, ...]) -> None:
    assert far_pools(FAR, load_soc(SHOAL, overrides)) == frozenset()


@pytest.mark.parametrize(("width", "slower"), [(4, "slow"), (16, "shared")])
def test_a_pool_is_far_by_its_width_alone(width: int, slower: str) -> None:
    overrides = ("memories.psram.read_latency=1", f"memories.psram.width={width}")
    assert far_pools(FAR, load_soc(SHOAL, overrides)) == {slower}


def test_no_pool_is_left_to_copies_that_nobody_makes() -> None:
    soc = load_soc(SHOAL)
    both = without_moves(soc, ("psram", "sram"), ("sram", "psram"))
    assert far_pools(FAR, both) == frozenset()


def test_only_accelerators_are_taken_from_a_pool() -> None:
    soc = without_accelerators(load_soc(SHOAL), {"slow"})
    assert soc.pool("slow").reach["npu"] is Access.NONE
    assert soc.pool("slow").reach["dma"] is Access.WRITE
    assert soc.pool("shared").reach["npu"] is Access.WRITE
