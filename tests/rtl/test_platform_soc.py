# SPDX-License-Identifier: Apache-2.0
"""Firmware on a whole chip in RTL: protocol, access log, firewall, and every way to end."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.benches.runner import run_on

from atoll.contract.areas import areas_of
from atoll.contract.contract import Contract, Lifetime, Phase, Span
from atoll.diagnostics.errors import SimulationError
from atoll.resolve.soc import Npu, ResolvedSoc
from atoll.utils import children
from atoll_sim.build.model import TOP, build_model
from atoll_sim.chip.memory_map import write_map
from atoll_sim.protocol.records import AccessKind
from atoll_sim.shadow.table import shadow_table
from atoll_sim.simulate.firmware import write_image
from atoll_sim.simulate.session import simulate
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import Buffer, SimRequest, SimResult, Stop
from atoll_sim.trace.simulation import Phase as TracedPhase

INPUT = Buffer("input", 0x2000_0000, 64)
MIDDLE = Buffer("middle", 0x2000_1000, 64)
OUTPUT = Buffer("output", 0x2000_2000, 64)
SAMPLES = tuple({"input": bytes((i * k + 7) % 256 for i in range(64))} for k in (1, 5, 11))
LINE_3, DONE, DECODE_ERROR = 1 << 19, 2, 3 << 2
POISON = b"\xdb"

Run = Callable[..., SimResult]

pytestmark = pytest.mark.rtl


@pytest.fixture
def run(tiny: ResolvedSoc, firmware: Callable[[str], Path], tmp_path: Path) -> Run:
    """Simulate the test firmware with one of its endings."""

    def simulate_one(ending: str, **changes: object) -> SimResult:
        request = SimRequest(
            executable=build_model(tiny),
            elves=(firmware(ending),),
            soc=tiny,
            run_dir=tmp_path,
            samples=SAMPLES,
            inputs=(INPUT,),
            outputs=(OUTPUT,),
            snapshots={0: (MIDDLE,), 1: (OUTPUT,)},
            table=shadow_table(tiny, [contract(tiny)]),
        )
        return simulate(dataclasses.replace(request, **changes))  # type: ignore[arg-type]

    return simulate_one


def contract(soc: ResolvedSoc) -> Contract:
    """Return what the test firmware may do: the core makes MIDDLE of INPUT, the copier OUTPUT."""
    spans = {
        each.name: Span(buffer=each.name, pool="shared", address=each.address, size=each.size)
        for each in (INPUT, MIDDLE, OUTPUT)
    }
    steps = (("cpu", "input", "middle"), ("npu", "middle", "output"))
    last = {"input": 0, "middle": 1}
    return Contract(
        inputs=(spans["input"],),
        outputs=(spans["output"],),
        constants=(),
        phases={
            number: Phase(
                number=number,
                operator=f"on_{device}",
                device=device,
                reads=(spans[read],),
                writes=(spans[written],),
            )
            for number, (device, read, written) in enumerate(steps)
        },
        lifetimes=tuple(
            Lifetime(span=span, alignment=8, constant=False, first=None, last=last.get(name))
            for name, span in spans.items()
        ),
        copies=(),
        areas=areas_of(soc),
    )


def touched(phase: TracedPhase) -> dict[tuple[str, str], tuple[int, tuple[range, ...]]]:
    return {(t.master, t.kind): (t.accesses, t.spans) for t in phase.touched}


def test_every_sample_and_layer_comes_back(run: Run) -> None:
    result = run("GOOD")
    expected = [bytes((3 * x + 1) % 256 for x in sample["input"]) for sample in SAMPLES]
    assert (result.stop, result.exit_status, result.text) == (Stop.EXIT, 42, "hello\nbye\n")
    assert result.results == (LINE_3 | DONE,) * len(SAMPLES)
    assert [dict(out) for out in result.outputs] == [{"output": data} for data in expected]
    assert [dict(layers) for layers in result.layers] == [
        {0: {"middle": data}, 1: {"output": data}} for data in expected
    ]
    assert violations(result) == ()


def test_phases_say_who_touched_what(run: Run) -> None:
    result = run("GOOD")
    named = [p for p in result.phases if p.operators]
    assert [(p.sample, p.operators) for p in named] == [
        (sample, (operator,)) for sample in range(len(SAMPLES)) for operator in (0, 1)
    ]
    assert all(a.end == b.begin for a, b in zip(result.phases, result.phases[1:], strict=False))
    on_core, on_copier = map(touched, named[:2])
    assert on_core["cpu", AccessKind.READ] == (64, (range(INPUT.address, INPUT.address + 64),))
    assert on_core["cpu", AccessKind.WRITE] == (64, (range(MIDDLE.address, MIDDLE.address + 64),))
    assert not any(master == "npu" for master, _ in on_core)
    assert on_copier["npu", AccessKind.READ] == (8, (range(MIDDLE.address, MIDDLE.address + 64),))
    assert on_copier["npu", AccessKind.WRITE] == (8, (range(OUTPUT.address, OUTPUT.address + 64),))
    assert set(on_copier) == {("npu", "read"), ("npu", "write"), ("cpu", "fetch")}
    stack = result.stacks["cpu"]
    assert len(stack) == 0x2000
    assert stack.startswith(POISON * 0x1000)
    assert stack[-64:] != POISON * 64


def wide(soc: ResolvedSoc, width: int) -> ResolvedSoc:
    """Return the chip with a copier that has a data port of `width` bytes."""
    devices = (
        dataclasses.replace(each, params={"data_bytes": width}) if isinstance(each, Npu) else each
        for each in soc.devices
    )
    return dataclasses.replace(soc, devices=tuple(devices))


@pytest.mark.parametrize(
    "width", [*(pytest.param(each, marks=pytest.mark.slow) for each in (4, 16, 32)), 64]
)
def test_data_ports_of_all_widths_are_recorded_to_the_byte(
    tiny: ResolvedSoc, firmware: Callable[..., Path], run: Run, width: int
) -> None:
    soc = wide(tiny, width)
    result = run(
        "GOOD",
        soc=soc,
        executable=build_model(soc),
        elves=(firmware("GOOD", 64 // width),),
        table=shadow_table(soc, [contract(soc)]),
    )
    expected = [bytes((3 * x + 1) % 256 for x in sample["input"]) for sample in SAMPLES]
    assert [dict(out) for out in result.outputs] == [{"output": data} for data in expected]
    assert violations(result) == ()
    (copied, *_) = (touched(p) for p in result.phases if p.operators == (1,))
    for kind, buffer in ((AccessKind.READ, MIDDLE), (AccessKind.WRITE, OUTPUT)):
        whole = range(buffer.address, buffer.address + 64)
        assert copied["npu", kind] == (64 // width, (whole,))


def test_blocked_accesses_are_named_and_survived(run: Run) -> None:
    result = run("BLOCKED")
    assert (result.stop, result.exit_status) == (Stop.EXIT, 42)
    assert result.results[-1] == LINE_3 | DONE | DECODE_ERROR
    refused = [v for v in violations(result) if "firewall kept it back" in v.detail]
    assert [(v.device, v.rule, v.address, v.size, v.count) for v in refused] == [
        ("cpu", "device without reach", 0x6000_0003, 1, 1),
        ("npu", "device without reach", 0x1000_0000, 8, 2),
    ]
    (phase,) = (p for p in result.phases if p.begin <= (refused[0].cycle or 0) < p.end)
    assert phase.sample is None


@pytest.mark.parametrize(
    ("ending", "changes", "stop", "trapped"),
    [
        ("TRAP", {}, Stop.TRAP, "cpu"),
        ("HANG", {"stall_cycles": 20_000}, Stop.STALL, None),
        ("HANG", {"max_cycles": 30_000}, Stop.LIMIT, None),
    ],
)
def test_other_endings(
    run: Run, ending: str, changes: dict[str, int], stop: Stop, trapped: str | None
) -> None:
    result = run(ending, **changes)
    assert (result.stop, result.trapped) == (stop, trapped)
    assert len(result.outputs) == len(SAMPLES)


def test_wall_clock_limit(run: Run) -> None:
    with pytest.raises(SimulationError, match="wall-clock"):
        run("HANG", max_seconds=3.0)


def test_a_failed_assertion_ends_the_simulation_and_is_named(run: Run) -> None:
    said = r"device 'npu' breaks axi4 \(A10\) at its port 'm', at .+ ns: a burst crosses a boundary"
    with pytest.raises(SimulationError, match=said) as caught:
        run("ILLEGAL")
    assert caught.value.faults[0].code == "E087"


def test_firmware_for_another_chip_is_refused(
    run: Run, tiny: ResolvedSoc, firmware: Callable[[str], Path]
) -> None:
    moved = dataclasses.replace(tiny.memories[0], origin=0x8000_0000)
    soc = dataclasses.replace(tiny, memories=(moved, *tiny.memories[1:]))
    with pytest.raises(SimulationError, match="no memory for them"):
        run("GOOD", soc=soc)
    with pytest.raises(SimulationError, match="cannot read the firmware"):
        run("GOOD", elves=(Path(__file__),))


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: lines[:-1],
        lambda lines: [*lines, "dev_none_readable 0 1 0"],
        lambda lines: [*lines[:-1], lines[-1].replace(" ", " 9", 1)],
        lambda lines: [lines[0], "map 0 0 ffffff", *lines[2:]],
    ],
    ids=["a window is missing", "no such strap", "no such window", "a memory without room"],
)
def test_a_map_of_another_chip_is_refused(
    damage: Callable[[list[str]], list[str]], tiny: ResolvedSoc, tmp_path: Path
) -> None:
    command = [str(build_model(tiny)), "--bare", "image.bin", "1", *write_map(tiny, tmp_path)]
    path = tmp_path / "map.txt"
    lines = path.read_text().splitlines()
    said = f"cannot load '{path}'"
    assert said not in children.run(command, folder=tmp_path).stderr
    path.write_text("\n".join(damage(lines)))
    done = children.run(command, folder=tmp_path)
    assert (done.returncode, said in done.stderr) == (1, True)


def test_a_test_of_cocotb_goes_on_in_the_cycle_for_which_it_waited(
    tiny: ResolvedSoc, firmware: Callable[[str], Path], tmp_path: Path
) -> None:
    image = tmp_path / "image.bin"
    write_image((firmware("GOOD"),), tiny, image)
    words = (f"+image={image}", *write_map(tiny, tmp_path))
    run_on(build_model(tiny), words, "chip_time", TOP)
