# SPDX-License-Identifier: Apache-2.0
"""C3: what a firewall keeps back ends the run with an error code, whoever asked for it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.requests import load_requests

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import Access, Pool
from atoll_sim.build.model import build_model
from atoll_sim.chip.memory_map import windows_of
from atoll_sim.simulate.rtl_run import request_for
from atoll_sim.simulate.session import simulate
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import SimResult, Stop

pytestmark = pytest.mark.rtl

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
VIOLATION = -9
SAMPLES = 2


@pytest.fixture(scope="module")
def lagoon() -> Compiled:
    """Both devices write the shared pool: the core adds."""
    return compile_file(load_soc("lagoon", ("devices.npu.params.vector=0",)), DIGITS)


def run_with_reach(compiled: Compiled, reach: Mapping[str, Access], folder: Path) -> SimResult:
    """Simulate the right firmware on a chip whose firewalls give less of the shared pool."""

    def less(pool: Pool) -> Pool:
        return replace(pool, reach={**pool.reach, **reach}) if pool.name == "shared" else pool

    hardware = replace(compiled.soc, pools=tuple(map(less, compiled.soc.pools)))
    tree = build((compiled,), folder / "build")
    samples = random_sample(compiled.graph) * SAMPLES
    executable = build_model(hardware)
    request = request_for(compiled, tree.firmware.elves, samples, executable, folder / "run")
    return simulate(replace(request, windows=windows_of(hardware)))


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "npu"])
def test_c3_a_write_that_is_kept_back_ends_the_run(
    lagoon: Compiled, device: str, tmp_path: Path
) -> None:
    result = run_with_reach(lagoon, {device: Access.READ}, tmp_path)
    guilty = next(s for s in lagoon.module.entry.steps if s.device == device)
    assert (result.stop, result.exit_status) == (Stop.EXIT, 0)
    assert result.results == (VIOLATION,) * SAMPLES
    found = violations(result)[0]
    assert (found.rule, found.operator) == ("blocked by the firewall", guilty.operator)
    assert found.buffer in guilty.writes
    said = f"firewall: {device} may not write 0x{found.address:08X}"
    assert result.text.count(said) == SAMPLES
    for sample in range(SAMPLES):
        begun = {n for p in result.phases if p.sample == sample for n in p.operators}
        assert max(begun) == guilty.number, "nothing is started after the violation"


@pytest.mark.slow
def test_c3_a_write_of_another_core_that_is_kept_back_ends_the_run(tmp_path: Path) -> None:
    """The core goes on with what it could not write; the host looks when it has waited for it."""
    options = BuildOptions(requests=load_requests(None, ["softmax_9=dsp"]))
    program = compile_file(load_soc("twin"), DIGITS, options)
    result = run_with_reach(program, {"dsp": Access.READ}, tmp_path)
    (guilty,) = (s for s in program.module.entry.steps if s.device == "dsp")
    assert (result.stop, result.exit_status) == (Stop.EXIT, 0)
    assert result.results == (VIOLATION,) * SAMPLES
    first, *_ = violations(result)
    assert (first.rule, first.device) == ("blocked by the firewall", "dsp")
    assert (first.operator, first.buffer) == (guilty.operator, *guilty.writes)
    assert result.text.count(f"firewall: dsp may not write 0x{first.address:08X}") == SAMPLES
