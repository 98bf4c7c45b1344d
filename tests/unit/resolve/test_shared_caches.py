# SPDX-License-Identifier: Apache-2.0
"""A data cache that several cores have: who has it, who maintains it, what follows."""

import pytest
from tests.cached_chips import (
    APART,
    NOT_OF_THE_HOST,
    SHARED_BY_INSTRUCTIONS,
    SHARED_BY_REGISTERS,
)

from atoll.bsp.headers import caches_mailbox, device_header
from atoll.bsp.startup import startup_files
from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc
from atoll.resolve.memory_views import steps_by
from atoll.resolve.notes import notes_of
from atoll.resolve.protection.area import areas_of
from atoll.resolve.soc import ResolvedSoc


def maintaining(soc: ResolvedSoc) -> list[str]:
    return [cpu.name for cpu in soc.cpus if soc.maintains_cache(cpu)]


def test_cores_of_one_name_have_one_cache() -> None:
    soc = load_soc(SHARED_BY_INSTRUCTIONS)
    assert [[cpu.name for cpu in cores] for cores in soc.data_caches] == [
        ["cpu_0", "cpu_1"],
        ["dsp"],
    ]
    assert soc.sharing("cpu_1") == {"cpu_0", "cpu_1"}
    assert soc.sharing("dsp") == {"dsp"}
    assert soc.sharing("npu") == frozenset()
    apart = load_soc(SHARED_BY_INSTRUCTIONS, APART)
    assert [len(cores) for cores in apart.data_caches] == [1, 1, 1]


def test_only_the_host_writes_the_registers_of_its_cache() -> None:
    soc, apart = load_soc(SHARED_BY_REGISTERS), load_soc(SHARED_BY_REGISTERS, APART)
    host, other = soc.cpus
    assert maintaining(soc) == ["cpu_0"]
    assert list(steps_by(soc, host))
    assert not list(steps_by(soc, other))
    assert [name for name in startup_files(soc, (), {}) if "cache" in name] == ["cache_cpu_0.c"]
    assert len([name for name in startup_files(apart, (), {}) if "cache" in name]) == 2
    opened = [{(each.begin, each.kept) for each in areas_of(soc, cpu, 32)} for cpu in soc.cpus]
    assert {begin for begin, _ in opened[0] - opened[1] if begin >> 16 == 0x4003}
    assert not {begin for begin, _ in opened[1] if begin >> 16 == 0x4003}
    assert all("back" in {kept for _, kept in each} for each in opened)


def test_instructions_maintain_it_from_each_core() -> None:
    assert maintaining(load_soc(SHARED_BY_INSTRUCTIONS)) == ["cpu_0", "cpu_1", "dsp"]


def test_the_note_on_shared_registers_names_the_way_out() -> None:
    (note,) = (
        each for each in notes_of(load_soc(SHARED_BY_REGISTERS, APART)) if "data caches" in each
    )
    assert note.endswith("if they have one cache, let 'cache.shared' of each name it")
    assert not [each for each in notes_of(load_soc(SHARED_BY_REGISTERS)) if "data caches" in each]


def test_a_mailbox_between_two_of_them_needs_no_maintenance() -> None:
    """The third core of the chip has a cache of its own, and the host maintains its mailbox."""
    soc = load_soc(SHARED_BY_INSTRUCTIONS)
    _, other, dsp = soc.cpus
    assert not caches_mailbox(soc, other, soc.host_cpu)
    assert not caches_mailbox(soc, other, other)
    assert caches_mailbox(soc, dsp, soc.host_cpu)
    assert caches_mailbox(soc, dsp, dsp)
    assert "ATOLL_HOST_SHARES_MAILBOX(half) \\\n  ((half) - ATOLL_DEVICE_CPU_1_MAILBOX < 128u)" in (
        device_header(soc)
    )
    for chip in (load_soc(SHARED_BY_REGISTERS), load_soc(SHARED_BY_INSTRUCTIONS, APART)):
        assert "ATOLL_HOST_SHARES_MAILBOX" not in device_header(chip)


def test_its_lines_may_be_longer_than_a_side_of_their_mailbox() -> None:
    longer = "devices.cpu.cache.line=128"
    assert load_soc(SHARED_BY_REGISTERS, [longer]).host_cpu.cache
    with pytest.raises(AtollError, match="E248"):
        load_soc(SHARED_BY_REGISTERS, [longer, *APART])
    with pytest.raises(AtollError, match=r"E248.*'dsp' and its host"):
        load_soc(SHARED_BY_INSTRUCTIONS, [longer])


def test_instructions_may_maintain_what_the_host_does_not_have() -> None:
    soc = load_soc(SHARED_BY_INSTRUCTIONS, NOT_OF_THE_HOST)
    assert soc.host not in soc.sharing("cpu_0")
    clean, forget = (f"[{{write: 0x4003_000{at}, value: line}}]" for at in (0, 4))
    steps = f"{{clean: {clean}, invalidate: {forget}}}"
    with pytest.raises(AtollError, match="since the host, 'dsp', does not have the cache"):
        load_soc(
            SHARED_BY_INSTRUCTIONS, [*NOT_OF_THE_HOST, f"devices.cpu.cache.maintenance={steps}"]
        )


def test_the_esp32p4_has_one_cache_for_both_fast_cores() -> None:
    soc = load_soc("esp32p4")
    assert soc.sharing(soc.host) == {"hp_0", "hp_1"}
    cache = soc.host_cpu.cache
    assert cache
    assert (cache.line, cache.size, cache.sets, cache.is_countable) == (64, 64 * 1024, 512, False)
