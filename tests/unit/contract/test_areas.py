# SPDX-License-Identifier: Apache-2.0
"""What belongs to the cores of a chip for good, whatever runs on it."""

from pathlib import Path

from atoll.contract.areas import areas_of
from atoll.resolve import load_soc

DEEP = Path(__file__).parents[2] / "data" / "deep.yaml"


def test_a_mailbox_is_for_the_host_and_for_its_own_core() -> None:
    soc = load_soc("twin")
    boxes = [each for each in areas_of(soc) if each.name == "dsp.mailbox"]
    assert [each.device for each in boxes] == [soc.host, "dsp"]
    assert {each.kind for each in boxes} == {"registers"}
    others = {e.device for e in areas_of(soc) if e.kind == "registers" and e not in boxes}
    assert others == {soc.host}


def test_each_half_of_a_mailbox_in_memory_has_a_side_that_writes() -> None:
    soc = load_soc("rp2040")
    boxes = [each for each in areas_of(soc) if each.name == "core1.mailbox"]
    (box,) = (core.shared_mailbox for core in soc.cpus if core.shared_mailbox)
    assert [(each.device, each.kind, each.address - box.origin, each.size) for each in boxes] == [
        *(("core0", "outbox", 0, 64), ("core1", "inbox", 0, 64)),
        *(("core1", "outbox", 64, 64), ("core0", "inbox", 64, 64)),
    ]


def test_k1_the_limit_of_a_run_is_that_of_the_stack_that_models_run_on() -> None:
    settings = ("devices.cpu.limits.max_stack_size=1500", "devices.cpu.stack.runs=io")
    for changes, limits in (
        (settings[:1], {"cpu.stack": 1500, "cpu.io.stack": 2048}),
        (settings, {"cpu.stack": 81920, "cpu.io.stack": 1500}),
    ):
        areas = areas_of(load_soc(DEEP, changes))
        assert {each.name: each.limit for each in areas if each.kind == "stack"} == limits
