# SPDX-License-Identifier: Apache-2.0
"""Two cores in RTL: the host rings, the other answers, and firewalls keep them apart."""

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.contract.areas import areas_of
from atoll.contract.contract import Contract, Lifetime, Span
from atoll.contract.contract import Phase as Step
from atoll.resolve import load_soc
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_sim.build.model import build_model
from atoll_sim.protocol.records import AccessKind
from atoll_sim.shadow.table import shadow_table
from atoll_sim.simulate.session import simulate
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import Buffer, Phase, SimRequest, SimResult, Stop

DATA = Path(__file__).parent / "data"
SIZE = 64
SAMPLES = tuple({"input": bytes((i * k + 7) % 256 for i in range(SIZE))} for k in (1, 5))
STEP_RESULT = (0x1000 * 2654435761 + 1) % 2**32
POISON = 0xDB
MARK = (0x600DF00D).to_bytes(4, "little")
ROUNDS = 1000

Run = Callable[..., SimResult]

pytestmark = pytest.mark.rtl


@pytest.fixture(scope="module")
def twin() -> ResolvedSoc:
    return load_soc("twin")


def compiled(soc: ResolvedSoc, core: Cpu, source: str, folder: Path, ending: str) -> Path:
    """Compile the firmware of one core; all that it knows of the chip comes from `soc`."""
    host, dsp = soc.host_cpu, soc.device("dsp")
    assert isinstance(dsp, Cpu)
    assert dsp.mailbox is not None
    known = {
        "MAILBOX": dsp.mailbox.origin,
        "LINE": dsp.irq,
        "ORDINAL": dsp.ordinal,
        "BUFFERS": soc.pool("shared").region.origin,
        "CONSOLE": soc.console.origin,
        "ENGINE": soc.engines[0].registers.origin,
        "HOST_STACK": host.stack.origin,
        "CORE_STACK": dsp.stack.origin,
        "ENDING": ending,
    }
    layout = {"CODE": core.code.origin, "DATA": core.data.origin, "STACK_TOP": core.stack.end}
    elf, script = folder / f"{core.name}.elf", folder / f"{core.name}.ld"
    values = "".join(f"{name} = {value};\n" for name, value in layout.items())
    script.write_text(values + (DATA / "mailbox.ld").read_text())
    features = "+".join(core.isa.removeprefix("rv32i"))
    command = [sys.executable, "-m", "ziglang", "cc", "-O2", "-nostdlib", "-ffreestanding"]
    command += ["-target", "riscv32-freestanding-none", f"-mcpu=generic_rv32+{features}"]
    command += [f"-D{name}={value}" for name, value in known.items()]
    command += [f"-Wl,-T,{script}", "-Wl,-e,_start", "-Wl,-z,max-page-size=4"]
    command += [str(DATA / "start.S"), str(DATA / source), "-o", str(elf)]
    subprocess.run(command, check=True, capture_output=True)
    return elf


@pytest.fixture
def run(twin: ResolvedSoc, tmp_path: Path) -> Run:
    """Simulate both cores' firmware, or the host's alone, with one of its endings."""

    def simulate_one(ending: str, *, alone: bool = False, **changes: object) -> SimResult:
        shared = twin.pool("shared").region.origin
        sources = {"cpu": "mailbox_host.c", "dsp": "mailbox_core.c"}
        elves = tuple(compiled(twin, cpu, sources[cpu.name], tmp_path, ending) for cpu in twin.cpus)
        request = SimRequest(
            executable=build_model(twin),
            elves=elves[:1] if alone else elves,
            soc=twin,
            run_dir=tmp_path / "run",
            samples=SAMPLES,
            inputs=(Buffer("input", shared, SIZE),),
            outputs=(Buffer("output", shared + 0x1000, SIZE),),
            snapshots={0: (Buffer("output", shared + 0x1000, SIZE),)},
            table=shadow_table(twin, [contract(twin, shared)]),
        )
        return simulate(dataclasses.replace(request, **changes))  # type: ignore[arg-type]

    return simulate_one


def contract(soc: ResolvedSoc, origin: int) -> Contract:
    """Return what the test firmware may do: the other core makes the output of the input."""
    source = Span(buffer="input", pool="shared", address=origin, size=SIZE)
    target = Span(buffer="output", pool="shared", address=origin + 0x1000, size=SIZE)
    step = Step(number=0, operator="step", device="dsp", reads=(source,), writes=(target,))
    return Contract(
        inputs=(source,),
        outputs=(target,),
        constants=(),
        phases={0: step},
        lifetimes=(
            Lifetime(span=source, alignment=16, constant=False, first=None, last=0),
            Lifetime(span=target, alignment=16, constant=False, first=0, last=None),
        ),
        copies=(),
        areas=areas_of(soc),
    )


def touched(phase: Phase) -> dict[tuple[str, str], tuple[int, tuple[range, ...]]]:
    return {(t.master, t.kind): (t.accesses, t.spans) for t in phase.touched}


def inside(spans: tuple[range, ...], begin: int, end: int) -> tuple[range, ...]:
    return tuple(span for span in spans if begin <= span.start and span.stop <= end)


def test_the_other_core_runs_a_step_for_the_host(run: Run, twin: ResolvedSoc) -> None:
    result = run("GOOD")
    expected = [bytes((3 * x + 1) % 256 for x in sample["input"]) for sample in SAMPLES]
    assert (result.stop, result.exit_status, violations(result)) == (Stop.EXIT, 42, ())
    assert result.results == (STEP_RESULT,) * len(SAMPLES)
    assert [dict(out) for out in result.outputs] == [{"output": data} for data in expected]
    assert [dict(each) for each in result.layers] == [{0: {"output": data}} for data in expected]
    assert set(result.stacks) == {"cpu", "dsp"}
    assert all(stack[0] == POISON for stack in result.stacks.values())
    assert all(set(stack[-32:]) != {POISON} for stack in result.stacks.values())
    assert len(result.stacks["dsp"]) == twin.cpus[1].stack.size


def test_the_step_is_the_cores_to_the_byte(run: Run, twin: ResolvedSoc) -> None:
    result = run("GOOD")
    shared = twin.pool("shared").region
    for phase in (phase for phase in result.phases if phase.operators == (0,)):
        seen = touched(phase)
        source, target = range(shared.origin, shared.origin + SIZE), shared.origin + 0x1000
        reads = inside(seen["dsp", AccessKind.READ][1], shared.origin, shared.end)
        writes = inside(seen["dsp", AccessKind.WRITE][1], shared.origin, shared.end)
        assert (reads, writes) == ((source,), (range(target, target + SIZE),))
        for kind in (AccessKind.READ, AccessKind.WRITE):
            assert not inside(seen["cpu", kind][1], shared.origin, shared.end)


def test_a_thousand_rounds_with_random_delays(run: Run) -> None:
    result = run("ROUNDS")
    assert (result.stop, result.exit_status, result.findings_total) == (Stop.EXIT, 42, 0)
    assert result.cycles > 500 * ROUNDS


def test_a_core_that_leaves_its_own_is_refused_and_named(run: Run, twin: ResolvedSoc) -> None:
    result = run("TRESPASS")
    cpu, dsp = twin.cpus
    assert (result.stop, result.exit_status) == (Stop.EXIT, 42)
    assert all("the firewall kept it back" in v.detail for v in violations(result))
    assert [(v.device, v.rule, v.address, v.size, v.count) for v in violations(result)] == [
        ("dsp", "stack of another device", cpu.stack.origin, 4, 2),
        ("dsp", "device without reach", twin.console.origin, 4, 2),
        ("cpu", "stack of another device", dsp.stack.origin, 4, 1),
    ]
    assert not any(stack.startswith(MARK) for stack in result.stacks.values())
    assert result.text == ""


def test_a_core_without_firmware_sleeps(run: Run, twin: ResolvedSoc) -> None:
    result = run("GOOD", alone=True, stall_cycles=20_000)
    assert (result.stop, result.trapped, result.results) == (Stop.STALL, None, ())
    assert set(result.stacks) == {"cpu"}
    code = twin.cpus[1].code
    for phase in result.phases:
        for touch in (touch for touch in phase.touched if touch.master == "dsp"):
            assert touch.kind is AccessKind.FETCH
            assert inside(touch.spans, code.origin, code.origin + 16) == touch.spans
