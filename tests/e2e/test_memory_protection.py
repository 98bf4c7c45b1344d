# SPDX-License-Identifier: Apache-2.0
"""A stray pointer on Ibex traps by its protection unit; the message leads to buffer and line."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.effort import in_gate

from atoll.artifacts.build_tree import build, part_of
from atoll.artifacts.samples import random_sample
from atoll.bsp.firmware import link_unchecked
from atoll.driver.pipeline import Compiled, compile_file, with_plan
from atoll.memory.problem import Placement
from atoll.report.result import Violation
from atoll.resolve import load_soc
from atoll.resolve.claims import GUARD
from atoll_sim.build.model import build_model
from atoll_sim.mutate.linker import STACK_TOP
from atoll_sim.runs.checked_run import AcceleratorKind, Backends, CpuKind, Setup, judge
from atoll_sim.simulate.rtl_run import request_for
from atoll_sim.simulate.session import simulate
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import SimResult, Stop

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
CHIP = """\
extends: lagoon
devices:
  cpu: {{core: ibex, protection: {protection}}}
  npu: {{params: {{vector: 0}}}}
pools:
  private: {{reach: {{cpu: {access}, npu: rw}}}}
"""
OPERATOR = "add_3"
"""One that the core runs."""

pytestmark = pytest.mark.rtl
pytest.importorskip("pythondata_cpu_ibex")


def guarded(access: str, folder: Path, protection: str = "true") -> Compiled:
    """Compile for a chip whose core may do so much in pool 'private'."""
    path = folder / "guarded.yaml"
    path.write_text(CHIP.format(access=access, protection=protection))
    return compile_file(load_soc(path), DIGITS)


def moved(compiled: Compiled, buffer: str, pool: str) -> Compiled:
    """Return the program with one buffer at the end of another pool."""
    region = compiled.soc.pool(pool).region
    place = Placement(buffer=buffer, pool=pool, offset=region.size - 4096)
    plan = replace(compiled.plan, placements={**compiled.plan.placements, buffer: place})
    return with_plan(compiled, plan)


def simulated(compiled: Compiled, elves: tuple[Path, ...], folder: Path) -> SimResult:
    samples = random_sample(compiled.graph)
    model = build_model(compiled.soc)
    return simulate(request_for(compiled, elves, samples, model, folder / "run"))


def trapped(compiled: Compiled, result: SimResult) -> Violation:
    """Return what a trap says, once nothing reached the bus that should not."""
    assert (result.stop, result.trapped) == (Stop.TRAP, "cpu")
    assert violations(result) == ()
    setup = Setup(cpu=CpuKind.RTL, backends=Backends(AcceleratorKind.RTL), wall={})
    [found] = judge(compiled, random_sample(compiled.graph), result, setup).report.violations
    assert "protection unit" in found.detail
    return found


def output_of(compiled: Compiled, operator: str) -> str:
    phases = compiled.contract.phases.values()
    return next(phase.writes[0].buffer for phase in phases if phase.operator == operator)


@pytest.mark.parametrize(
    ("access", "rule"), in_gate([("none", "device without reach"), ("ro", "write to read-only")], 1)
)
def test_a_stray_pointer_traps(access: str, rule: str, tmp_path: Path) -> None:
    right = guarded(access, tmp_path)
    buffer = output_of(right, OPERATOR)
    wrong = moved(right, buffer, "private")
    elves = build((wrong,), tmp_path / "build").firmware.elves
    found = trapped(wrong, simulated(wrong, elves, tmp_path))
    assert (found.rule, found.device, found.operator) == (rule, "cpu", OPERATOR)
    assert (found.buffer, found.offset, found.pool) == (buffer, 0, "private")
    assert found.address == wrong.plan.address(buffer)
    assert found.key == "pools.private.reach.cpu"
    assert found.at.endswith("guarded.yaml:6:26")


def test_a_stack_that_overflows_meets_its_guard(tmp_path: Path) -> None:
    compiled = guarded("none", tmp_path)

    def short(script: str) -> str:
        assert STACK_TOP in script
        return script.replace(STACK_TOP, "  atoll_stack_top = ORIGIN(stack) + 64;")

    result = simulated(compiled, linked(compiled, short, tmp_path), tmp_path)
    found = trapped(compiled, result)
    stack = compiled.soc.host_cpu.stack
    assert found.rule == "stack below its limit"
    assert stack.origin - GUARD <= found.address < stack.origin
    assert found.pool == "cpu.stack"
    assert found.at


def test_without_protection_it_reaches_the_firewall(tmp_path: Path) -> None:
    right = guarded("none", tmp_path, protection="false")
    wrong = moved(right, output_of(right, OPERATOR), "private")
    elves = build((wrong,), tmp_path / "build").firmware.elves
    result = simulated(wrong, elves, tmp_path)
    assert "the firewall kept it back" in violations(result)[0].detail


def linked(compiled: Compiled, edit: Callable[[str], str], folder: Path) -> tuple[Path, ...]:
    """Link the firmware with another linker script; nobody checks its stack."""
    return link_unchecked(compiled.soc, (part_of(compiled),), folder, edit=edit)
