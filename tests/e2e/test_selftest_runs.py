# SPDX-License-Identifier: Apache-2.0
"""Self-tests on instruction-set simulators and QEMU.

Faults of a Cortex-M lead the test on; QEMU's machines fail what is at no memory.
"""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.small_program import request
from tests.cached_chips import NPU
from tests.e2e.test_board_packages import cmake

from atoll.bsp.core_images import image_cores
from atoll.cli import main
from atoll.resolve import load_soc
from atoll_selftest.log import read_log
from atoll_selftest.verdict import findings
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate as on_iss
from atoll_sim.qemu.qemu_run import simulate
from atoll_sim.qemu.supported import program_of

MACHINES = Path(__file__).parents[2] / "examples" / "08_qemu_machines"
TWO_CORES = ("rp2040", "rp2350", "mcxn947", "stm32h747", "imxrt1176")
NOTHING = "0x90000000u"
"""An address at which these machines have nothing."""


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["mps2_an385", "mps2_an500", "mps2_an505"])
def test_accesses_that_fault_are_refused(machine: str, tmp_path: Path) -> None:
    chip = MACHINES / f"{machine}.yaml"
    if not shutil.which(program := program_of(load_soc(str(chip)))):
        pytest.skip(f"{program} is not installed")
    assert main(["bsp", str(chip), "--selftest", "-o", str(tmp_path)]) == 0
    main_c = tmp_path / "selftest" / "main.c"
    text, moved = re.subn(
        r'("(?:cpu\.code|weights)", )0x\w+u,',
        rf"\g<1>{NOTHING},",
        main_c.read_text(),
    )
    assert moved == 4, "reads and writes of two places go elsewhere"
    main_c.write_text(text)
    cmake(tmp_path, "zig", "-DATOLL_SELFTEST_STEP=61")
    soc = load_soc(str(chip))
    elf = tmp_path / "build" / "zig" / "firmware.selftest.elf"
    result = simulate(replace(request(soc, elf), max_cycles=10**9, stall_cycles=10**9))
    log = read_log(result.text, "the run")
    assert (log.ended, log.missing) == (True, ())
    elsewhere = {
        (each.kind, each.place): each.found
        for each in log.results.values()
        if each.fields.get("address") == NOTHING.upper().replace("X", "x").removesuffix("U")
    }
    assert elsewhere == {
        (kind, place): "refused" for kind in ("read", "write") for place in ("cpu.code", "weights")
    }
    assert all(r.found == "works" for r in log.results.values() if r.place in ("arena", "cpu.data"))


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["quad", "litex", "x_heep", "esp32c6", "pulp", *TWO_CORES])
def test_cores_without_engines_pass(chip: str, tmp_path: Path) -> None:
    pytest.importorskip("unicorn")
    assert main(["bsp", chip, "--selftest", "-o", str(tmp_path)]) == 0
    cmake(tmp_path, "zig", "-DATOLL_SELFTEST_STEP=61")
    soc, built = load_soc(chip), tmp_path / "build" / "zig"
    others = (built / f"{core.name}.selftest.elf" for core in image_cores(soc)[1:])
    elves = (built / "firmware.selftest.elf", *others)
    asked = replace(request(soc, elves[0]), elves=elves, max_cycles=10**9, stall_cycles=10**9)
    log = read_log(on_iss(asked, lambda memory: make_models(soc, memory)).text, "the run")
    assert (findings(log), log.missing) == ((), ())
    tried = {result.device for result in log.results.values()}
    assert tried == {core.name for core in image_cores(soc)}


@pytest.mark.slow
def test_engines_with_a_cache_pass(tmp_path: Path) -> None:
    pytest.importorskip("unicorn")
    soc = load_soc(NPU)
    assert main(["bsp", str(NPU), "--selftest", "-o", str(tmp_path)]) == 0
    cmake(tmp_path, "zig", "-DATOLL_SELFTEST_STEP=61")
    elf = tmp_path / "build" / "zig" / "firmware.selftest.elf"
    asked = replace(request(soc, elf), max_cycles=10**9, stall_cycles=10**9)
    log = read_log(on_iss(asked, lambda memory: make_models(soc, memory)).text, "the run")
    assert (findings(log), log.missing) == ((), ())
    assert {result.device for result in log.results.values()} == {"cpu", "npu"}


@pytest.mark.slow
def test_exceptions_of_a_cortex_a_are_refusals(tmp_path: Path) -> None:
    """QEMU's ZCU102 fails no access: another exception comes in the place of each."""
    if not shutil.which("qemu-system-aarch64"):
        pytest.skip("qemu-system-aarch64 is not installed")
    chip = MACHINES / "xlnx_zcu102.yaml"
    assert main(["bsp", str(chip), "--selftest", "-o", str(tmp_path)]) == 0
    probe = tmp_path / "selftest" / "probe_a64.S"
    text, failing = re.subn(
        r"^    (?:ldr     w3|str     w1), \[x2\]$", "    brk     #0", probe.read_text(), flags=re.M
    )
    assert failing == 2
    soc = load_soc(str(chip))
    for source, found in ((probe.read_text(), {"works"}), (text, {"refused"})):
        probe.write_text(source)
        cmake(tmp_path, "zig", "-DATOLL_SELFTEST_STEP=61")
        elf = tmp_path / "build" / "zig" / "firmware.selftest.elf"
        log = read_log(simulate(replace(request(soc, elf), max_cycles=10**9)).text, "the run")
        assert (log.ended, log.missing) == (True, ())
        assert {each.found for each in log.results.values() if each.kind != "march"} == found
        assert all(each.passed for each in log.results.values() if each.kind == "march")
