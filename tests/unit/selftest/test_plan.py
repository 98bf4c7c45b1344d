# SPDX-License-Identifier: Apache-2.0
"""What a self-test tries follows from the chip."""

import pytest

from atoll.bsp.core_images import image_cores
from atoll.resolve import load_soc
from atoll.resolve.memory_views import on_bus
from atoll.resolve.soc import Access, ResolvedSoc
from atoll_selftest.places import places
from atoll_selftest.plan import SelfTest, self_test
from atoll_selftest.steps import Action

CHIPS = ("lagoon", "atoll2", "twin", "quad", "stm32h747", "rp2040", "zynqmp")


@pytest.mark.parametrize("chip", CHIPS)
def test_each_core_tries_each_pool_as_its_reach_says(chip: str) -> None:
    soc = load_soc(chip)
    tests = self_test(soc)
    tried = {(each.core, each.place, each.access): each.allowed for each in tests.accesses}
    for core in image_cores(soc):
        for pool in soc.pools:
            reach = pool.reach[core.name]
            assert tried[core.name, pool.name, Access.READ] is (reach is not Access.NONE)
            assert tried[core.name, pool.name, Access.WRITE] is (reach is Access.WRITE)


@pytest.mark.parametrize("chip", CHIPS)
def test_each_engine_tries_each_pool_as_its_reach_says(chip: str) -> None:
    soc = load_soc(chip)
    tests = self_test(soc)
    tried = {(each.engine, each.place, each.access): each for each in tests.engines}
    for engine in soc.engines:
        for pool in soc.pools:
            reach = pool.reach[engine.name]
            read = tried[engine.name, pool.name, Access.READ]
            write = tried[engine.name, pool.name, Access.WRITE]
            assert (read.allowed, write.allowed) == (
                reach is not Access.NONE,
                reach is Access.WRITE,
            )
            for test in (read, write):
                checked = any(step.action is Action.CHECK for step in test.steps)
                assert checked is test.allowed, "what is allowed is looked at"


def test_marches_cover_the_workspaces_that_a_core_writes() -> None:
    tests = self_test(load_soc("twin"))
    assert {(each.core, each.pool) for each in tests.marches} == {
        *(("cpu", pool) for pool in ("cpu_local", "shared")),
        *(("dsp", pool) for pool in ("dsp_local", "shared")),
    }


def test_known_answers_of_every_operator_of_an_engine() -> None:
    tests = self_test(load_soc("twin"))
    assert {(each.engine, each.operator) for each in tests.engines if each.operator} == {
        ("npu_large", "conv_2d"),
        ("npu_large", "fully_connected"),
        ("npu_small", "depthwise_conv_2d"),
        ("dma", "copy"),
    }


def test_a_march_leaves_constants_in_ram_alone() -> None:
    soc = load_soc(
        "lagoon",
        ("pools.weights.memory=sram", "pools.weights.size=64KiB", "pools.weights.reach.cpu=rw"),
    )
    tests = self_test(soc)
    assert tests.constants
    both = load_soc("lagoon", ("pools.weights.reach.npu=none", "pools.shared.role=both"))
    tests = self_test(both)
    end = both.pool("shared").region.origin + len(tests.constants["shared"])
    begins = {each.pool: each.begin for each in tests.marches}
    assert end <= begins["shared"] < end + 64


def test_what_is_not_tried_is_told() -> None:
    soc = load_soc("stm32h747", ["devices.cm4.mailbox=null", "devices.cm4.release=null"])
    untried = {each.what: each.why for each in self_test(soc).untried}
    assert untried["cm4"] == "it has no image: the host cannot ask it"
    assert untried["mdma"] == "nothing can make it access memory"


def all_steps(tests: SelfTest) -> int:
    return sum(len(each.steps) for each in tests.engines)


def test_a_self_test_is_the_same_each_time() -> None:
    first, second = self_test(load_soc("twin")), self_test(load_soc("twin"))
    assert first == second
    assert all_steps(first) > 100


def test_what_a_core_sees_at_an_address_of_another_memory_is_not_tried() -> None:
    soc = load_soc("imxrt1176")
    test = self_test(soc)
    tried = {(each.core, each.place) for each in test.accesses}
    assert ("cm7", "cm7.stack") in tried
    assert not {("cm4", "cm7.stack"), ("cm4", "cm7.data")} & tried
    (told,) = [each for each in test.untried if each.what.startswith("accesses of cm4")]
    assert "'cm7.data', 'cm7.stack'" in told.what
    assert all(on_bus(soc, each.core, each.address) in _probes(soc) for each in test.accesses)


def _probes(soc: ResolvedSoc) -> set[int]:
    return {place.probe for place in places(soc)}


def test_stacks_are_tried_where_nobody_has_words_yet() -> None:
    stacks = {region.origin: region for region in load_soc("stm32h747").regions()}
    for place in places(load_soc("stm32h747")):
        if place.name.endswith(".stack"):
            assert stacks[place.origin].name == place.name
            assert place.probe == place.origin
