# SPDX-License-Identifier: Apache-2.0
"""A chip that is no machine of QEMU becomes one with the same pools, stacks and code."""

from itertools import pairwise
from pathlib import Path

import pytest

from atoll.codegen.pool_images import behind
from atoll.diagnostics.errors import SimulationError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file, compile_models
from atoll.resolve import load_soc
from atoll.resolve.memory_views import STEP, as_seen_by
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_sim.qemu.machines import machine_for
from atoll_sim.qemu.relink import relink, relinked_chip, relinking_for

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
CHIPS = ("esp32c6", "stm32h747", "litex", "rp2040", "mcxn947", "imxrt1176", "zynqmp", "lagoon")
DATA = ROOT / "tests" / "data" / "chips"


def host_regions(soc: ResolvedSoc) -> dict[str, tuple[int, int]]:
    """Return origin and size of what the host has, by name."""
    host = soc.host_cpu
    pools = (pool.region for pool in soc.pools)
    regions = (*host.code_regions, host.data, *host.stacks, *pools)
    return {each.name: (each.origin, each.size) for each in regions}


@pytest.mark.parametrize("name", [*CHIPS, *(DATA / f"{name}.yaml" for name in ("k210", "rp2350"))])
def test_regions_move_into_the_machine(name: str | Path) -> None:
    soc = load_soc(name)
    chip, machine = relinked_chip(soc, {}), machine_for(soc.host_cpu)
    assert machine is not None
    assert chip.qemu_machine == machine.name
    before, after = host_regions(as_seen_by(soc, soc.host)), host_regions(chip)
    assert before.keys() == after.keys()
    first = chip.host_cpu.boot
    assert first.origin == machine.memories[0].start
    for region, (origin, size) in after.items():
        memory = next(each for each in chip.memories if each.name == region)
        assert (memory.origin, memory.size) == (origin, size)
        assert any(span.start <= origin and origin + size <= span.stop for span in machine.memories)
        assert region == first.name or (origin - before[region][0]) % STEP == 0
    spans = [*after.values(), (chip.console.origin, chip.console.size)]
    spans.sort()
    assert all(a + size <= b for (a, size), (b, _) in pairwise(spans))
    for pool in soc.pools:
        moved = chip.pool(pool.name)
        kept = ("role", "alignment", "preference", "reach", "provided", "heap")
        assert all(getattr(moved, field) == getattr(pool, field) for field in kept)
        memory = soc.memory(pool.region.memory)
        assert chip.memory(moved.region.memory).kind == memory.kind
        assert chip.is_kept(moved.region) == soc.is_kept(pool.region)


def test_other_devices_keep_their_numbers_and_run_nothing() -> None:
    soc = load_soc("stm32h747")
    chip = relinked_chip(soc, {})
    assert [each.name for each in chip.devices] == [each.name for each in soc.devices]
    assert [each.ordinal for each in chip.devices] == [each.ordinal for each in soc.devices]
    assert [each.name for each in chip.devices if isinstance(each, Cpu)] == ["cm7"]
    relinked = relinking_for(soc)
    assert relinked is not None
    assert (relinked.machine, relinked.without) == ("mps2-an500", ("cm4",))


def test_a_chip_that_is_a_machine_stays_as_it_is() -> None:
    compiled = compile_file(load_soc("corstone300"), DIGITS)
    assert relink((compiled,)) == (compiled,)
    assert relinking_for(compiled.soc) is None


def offsets(compiled: Compiled) -> dict[str, tuple[str, int]]:
    """Return pool of each buffer, and where it is in the chip's pool."""
    spaces = {space.name: space for space in compiled.plan.problem.pools}
    return {
        name: (each.pool, behind(spaces[each.pool], compiled.soc) + each.offset)
        for name, each in compiled.plan.placements.items()
    }


def test_networks_keep_programs_and_offsets(tmp_path: Path) -> None:
    """Also where pools are made smaller, and constants of one network follow another's."""
    other = tmp_path / "other.tflite"
    other.write_bytes(DIGITS.read_bytes())
    networks = compile_models(load_soc("litex"), (DIGITS, other))
    moved = relink(networks)
    assert moved[0].soc == moved[1].soc
    for before, after in zip(networks, moved, strict=True):
        assert after.module == before.module
        assert offsets(after) == offsets(before)
    sizes = {pool.name: pool.region.size for pool in moved[0].soc.pools}
    end = max(offset for pool, offset in offsets(moved[1]).values() if pool == "weights")
    assert end < sizes["weights"] < 4 * 2**20, "the chip has 250 MiB more than the machine"
    assert sizes["arena"] == 16, "nothing is there"


def test_a_core_that_has_a_part_in_the_network_is_refused() -> None:
    network = compile_file(load_soc("twin"), DIGITS)
    with pytest.raises(SimulationError) as caught:
        relink((network,))
    told = {fault.message.split("'")[1]: fault.remedy or "" for fault in caught.value.faults}
    assert all(fault.code == "E103" and fault.at for fault in caught.value.faults)
    assert "add --accelerator none" in told["npu_large"]
    alone = BuildOptions(accelerators=False)
    network = compile_file(load_soc("rp2040"), DIGITS, alone)
    with pytest.raises(SimulationError, match=r"'core1' has a part in .*QEMU runs 'core0' alone"):
        relink((network,))


def test_a_machine_with_too_little_memory_is_refused() -> None:
    """Code has its size, a pool what a network uses of it."""
    soc = load_soc("litex", ("devices.cpu.code.size=100MiB",))
    with pytest.raises(SimulationError, match=r"'virt'.* has no room for 'cpu\.code'") as caught:
        relinked_chip(soc, {})
    (fault,) = caught.value.faults
    assert fault.at
    assert "'devices.cpu.code.size'" in (fault.remedy or "")
    soc = load_soc("litex")
    assert relinked_chip(soc, {"arena": 2**20 + 1}).pool("arena").region.size == 2**20 + 16
    with pytest.raises(SimulationError, match="has no room for 'arena', 128 MiB"):
        relinked_chip(soc, {"arena": 2**27})
