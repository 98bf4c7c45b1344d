# SPDX-License-Identifier: Apache-2.0
"""Try a function unit alone in RTL: each instruction against its model, at each pace."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from atoll.api.kits import AcceleratorCheck, AcceleratorTrial, FeatureCoverage
from atoll.diagnostics.errors import SimulationError
from atoll.diagnostics.progress import Progress
from atoll.isa.function_unit import OPCODES, FunctionUnit, Instruction
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.unit_models import UnitModels
from atoll.utils.scratch import temporary_folder
from atoll_sim.accelerator_test.unit_runs import PACES, Answer, Call, Segment, read_runs, write_task
from atoll_sim.build.module import build_alone
from atoll_sim.build.verilate import kept_warnings, notes_of
from atoll_sim.chip.blame import has_bits_enough
from atoll_sim.chip.checks import check_cores
from atoll_sim.chip.ports import UNIT_PORTS, unit_wiring
from atoll_sim.chip.rtl_cores import package_sources
from atoll_sim.chip.sources import (
    RTL,
    macro_faults,
    read_folders,
    source_faults,
)
from atoll_sim.model.process import (
    LOG,
    bench_environment,
    reading_from,
    run_logged,
    said_notes,
    unfinished_error,
)

TOP = "atoll_unit_bench"
OPERANDS = 8
"""Pairs of operands of each instruction, for each of ``--operators``."""

WIDTHS = {"function_i": 12, "a_i": 32, "b_i": 32, "result_o": 32}
CORES = {"cfu": "vexriscv_cfu", "cvxif": "cv32e40x"}
_EDGES = (
    *(0, 1, 2, 3, 7, 8, 31, 32, 0x7F, 0x80, 0xFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF),
    *(0x8080_8080, 0x7F7F_7F7F, 0x8000_0001, 0x0001_0000, 0xFFFF_0000, 0x5555_5555, 0xAAAA_AAAA),
)
_CHIP = """
soc: unit_test
version: 1
devices:
  cpu: {{kind: cpu, core: {core}, isa: rv32im, function_unit: {unit}, {stack}}}
memories:
  flash: {{origin: 0x8000_0000, size: 64 KiB, kind: rom}}
  sram: {{origin: 0x9000_0000, size: 64 KiB, kind: ram}}
pools:
  weights: {{memory: flash, role: constants, reach: {{cpu: ro}}}}
  scratch: {{memory: sram, role: workspace, reach: {{cpu: rw}}}}
"""
_STACK = "stack: {memory: sram, size: 1 KiB}"
INTERFACE_SOURCES = ("cv32e40x_pkg.sv", "if_xif.sv")
NOT_COVERED = (
    "not covered: encodings that the description does not name, and instructions that a core takes"
    " back before it is sure of them"
)


def is_unit(path: Path) -> bool:
    """Tell whether a file describes a function unit."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return re.search(r"^function_unit:", text, re.M) is not None


def run_unit_test(path: Path, *, operands: int, seed: int, progress: Progress) -> AcceleratorCheck:
    """Try a function unit.

    Args:
        path: of its description.
        operands: pairs of each instruction, at each pace.
        seed: decides which.
        progress: told what goes on.

    Raises:
        AtollError: its description or RTL cannot be used, or its model fails.
    """
    with temporary_folder() as folder:
        soc = _chip(path, folder)
        unit = soc.host_cpu.unit
        assert unit
        segments = tuple(_segments(unit, operands, Random(seed)))
        progress("building the unit in RTL (kept for later runs)")
        model = _build(unit, soc)
        progress("simulating")
        begin = time.perf_counter()
        run = folder / "run"
        run.mkdir()
        write_task(run, segments)
        environment = bench_environment("atoll_sim.accelerator_test.unit_bench", TOP)
        environment = {**environment, **reading_from(read_folders(soc))}
        status = run_logged([str(model)], run, environment, LOG)
        answers = read_runs(run)
        if status or not answers:
            raise unfinished_error(run, status, soc)
        seconds = time.perf_counter() - begin
        notes = (*notes_of(soc, kept_warnings(model)), *said_notes(run), NOT_COVERED)
    return AcceleratorCheck(
        accelerator=unit.name,
        kind="function unit",
        in_rtl=True,
        trials=tuple(_trials(unit, segments, answers, seconds)),
        coverage=tuple(_latencies(unit, segments, answers)),
        timings=(),
        notes=notes,
    )


def _chip(path: Path, folder: Path) -> ResolvedSoc:
    """Return a chip whose core has the unit."""
    style = re.search(r"^style:\s*(\w+)", path.read_text(encoding="utf-8"), re.M)
    core = CORES.get(style.group(1) if style else "cfu", CORES["cfu"])
    chip = folder / "unit_test.yaml"
    chip.write_text(_CHIP.format(core=core, unit=json.dumps(str(path)), stack=_STACK))
    soc = load_soc(chip)
    unit = soc.host_cpu.unit
    assert unit
    if not unit.rtl_module:
        raise SimulationError(
            "E080",
            f"function unit '{unit.name}' has no RTL to test",
            remedy="give its YAML 'rtl'",
        )
    check_cores(soc)
    if faults := (*source_faults(soc), *macro_faults(soc)):
        raise SimulationError.all(faults)
    return soc


def _build(unit: FunctionUnit, soc: ResolvedSoc) -> Path:
    return build_alone(
        unit,
        TOP,
        soc,
        beside=tuple(_interface_sources(soc)) if unit.rtl_interface else (),
        texts={f"{TOP}.sv": _top(unit)},
        harmless=lambda warning: has_bits_enough(soc, warning.text),
    )


def _interface_sources(soc: ResolvedSoc) -> Iterator[Path]:
    """Yield the interface ``if_xif``, which comes with the core, and the adapter to it."""
    sources = package_sources(soc.host_cpu.spec)
    yield from (path for path in sources if path.name in INTERFACE_SOURCES)
    yield RTL / "atoll_unit_to_xif.sv"


def _top(unit: FunctionUnit) -> str:
    """Return a module with the ports of docs/function-units.md around the unit."""
    wiring = unit_wiring(unit, "clk_i", "rst_ni", "u")
    names = {port: f"u_{port.rpartition('_')[0]}" for port in UNIT_PORTS}
    ports, wires, joins = [], [], []
    for port, is_input in UNIT_PORTS.items():
        width = f"[{WIDTHS[port] - 1}:0] " if port in WIDTHS else ""
        ports.append(f"  {'input' if is_input else 'output'} logic {width}{port}")
        if port in ("clk_i", "rst_ni"):
            continue
        wires.append(f"  logic {width}{names[port]};")
        one, other = (names[port], port) if is_input else (port, names[port])
        joins.append(f"  assign {one} = {other};")
    parameters = ", ".join(f".{name}({value})" for name, value in unit.rtl_parameters.items())
    lines = [
        f"module {TOP} (",
        ",\n".join(ports),
        ");",
        *wires,
        *joins,
        f"  {unit.rtl_module} #({parameters}",
        "  ) u_cpu_unit (",
        "    " + ",\n    ".join(wiring.connections),
        "  );",
        *(f"  {each}" for each in wiring.assigns),
        "endmodule",
    ]
    return "\n".join(lines) + "\n"


def _segments(unit: FunctionUnit, count: int, random: Random) -> Iterator[Segment]:
    """Yield what the bench does from one reset to the next, with the results of the model."""
    clear = [each for each in unit.instructions if each.name == unit.clear]
    mixed = [random.choice(unit.instructions) for _ in range(4 * count)]
    for pace in PACES:
        for instruction in unit.instructions:
            yield _segment(instruction.name, pace, [*clear, *[instruction] * count], random)
        yield _segment("", pace, [*clear, *mixed], random)
    yield _segment("", "some", [*clear, *mixed], random, cut=random.randrange(count, 3 * count))


def _segment(
    name: str, pace: str, order: Sequence[Instruction], random: Random, cut: int = 0
) -> Segment:
    models = UnitModels()
    calls = []
    for number, instruction in enumerate(order):
        a, b = _operands(number, random)
        function = number_of(instruction)
        calls.append(Call(instruction.name, function, a, b, models.function(instruction)(a, b)))
    return Segment(name=name, pace=pace, calls=tuple(calls), cut=cut, seed=random.getrandbits(32))


def number_of(instruction: Instruction) -> int:
    """Return the number by which the port names an instruction."""
    major = tuple(OPCODES.values()).index(instruction.opcode)
    return major << 10 | instruction.funct7 << 3 | instruction.funct3


def _operands(number: int, random: Random) -> tuple[int, int]:
    edges = len(_EDGES)
    if number % 3 == 0:
        return _EDGES[number // 3 % edges], random.choice(_EDGES)
    if number % 3 == 1:
        return random.getrandbits(32), random.choice((random.getrandbits(5), *_EDGES))
    return random.getrandbits(32), random.getrandbits(32)


def _trials(
    unit: FunctionUnit, segments: Sequence[Segment], answers: Sequence[Answer], seconds: float
) -> Iterator[AcceleratorTrial]:
    pairs = tuple(zip(segments, answers, strict=True))
    total = sum(len(each.calls) for each in segments)
    groups: dict[str, list[tuple[Segment, Answer]]] = {
        f"instruction {each.name}": [p for p in pairs if p[0].name == each.name]
        for each in unit.instructions
    }
    for pace in PACES:
        found = [p for p in pairs if not p[0].name and p[0].pace == pace and not p[0].cut]
        groups[f"instructions mixed, waits {pace}"] = found
    groups["reset in between"] = [p for p in pairs if p[0].cut]
    for name, found in groups.items():
        tried = sum(len(segment.calls) for segment, _ in found)
        wrong = (fault for segment, answer in found for fault in _wrong(segment, answer))
        faults = tuple(f"device {unit.name}, {fault}" for fault in wrong)
        yield AcceleratorTrial(name, tried, faults, seconds * tried / total)


def _wrong(segment: Segment, answer: Answer) -> Iterator[str]:
    yield from answer.faults
    for number, (call, result) in enumerate(zip(segment.calls, answer.results, strict=False)):
        if result != call.right:
            yield (
                f"{call.name}({call.a:#010x}, {call.b:#010x}), call {number + 1} with waits"
                f" {segment.pace}, is {result:#010x}, not {call.right:#010x} (A12)"
            )
            return


def _latencies(
    unit: FunctionUnit, segments: Sequence[Segment], answers: Sequence[Answer]
) -> Iterator[FeatureCoverage]:
    """Yield the cycles from each request to its answer, where nobody waits."""
    found: Mapping[str, list[int]] = {each.name: [] for each in unit.instructions}
    for segment, answer in zip(segments, answers, strict=True):
        if segment.pace == "none" and segment.name:
            found[segment.name].extend(answer.cycles)
    for each in unit.instructions:
        if found[each.name]:
            said = each.latency or None
            yield FeatureCoverage(
                operator=each.name,
                feature="cycles to the answer",
                least=min(found[each.name]),
                most=max(found[each.name]),
                limits=(said, said),
            )
