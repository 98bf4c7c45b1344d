# SPDX-License-Identifier: Apache-2.0
"""Coverage: counts of Verilator's are added and told; so is what a description lets devices do."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atoll.api.kits import FeatureCoverage
from atoll.diagnostics.errors import UsageError
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll.resolve.register_steps import SOFTWARE_LINE
from atoll.resolve.soc import Engine
from atoll_sim.coverage.bins import Group, count_run
from atoll_sim.coverage.folder import add_run, prepare_folder, read_sums
from atoll_sim.coverage.kit import add_kit
from atoll_sim.coverage.points import Point, add_counts, lcov_text, read_counts, write_counts
from atoll_sim.coverage.summary import Reached
from atoll_sim.protocol.records import AccessKind
from atoll_sim.trace.simulation import Line, Phase, SimResult, Stop, Touched

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
SOC = load_soc("lagoon")
SHARED = SOC.pool("shared").region
NPU = frozenset({"npu"})
REACHED = ("conv_2d: kernel_h at most 65535", "conv_2d: int8 at least 1")


def fields(kind: str, line: int, what: str, lines: str = "", path: str = "u_npu") -> str:
    """Return a point of Verilator's, which says first which file it is in."""
    named = {"f": "/rtl/a.sv", "l": line, "n": 3, "page": f"v_{kind}/a", "o": what, "S": lines}
    named["h"] = f"atoll_chip.{path}"
    return "".join(f"\x01{key}\x02{value}" for key, value in named.items() if value != "")


def result_of(touched: Sequence[Touched], *operators: int, **more: Any) -> SimResult:
    """Return a run with one phase."""
    phase = Phase(sample=0, operators=operators, begin=0, end=9, touched=tuple(touched))
    given = {"stop": Stop.EXIT, "exit_status": 0, "results": (0,), "outputs": (), "layers": ()}
    given |= {"phases": (phase,), "findings": (), "findings_total": 0, "stacks": {}, "text": ""}
    return SimResult(**{**given, "trapped": None, "cycles": 9, "wall_seconds": 1.0, **more})


def touch(kind: AccessKind, *spans: range) -> Touched:
    """Return what the accelerator did."""
    return Touched(master="npu", kind=kind, accesses=1, transferred=1, spans=spans)


@given(st.dictionaries(st.text("abc[]0:->\x01\x02", min_size=1), st.integers(0, 10**12)))
def test_counts_are_read_as_they_were_written(counts: Mapping[str, int]) -> None:
    assert read_counts(write_counts(counts)) == counts
    twice = add_counts(counts, counts)
    assert twice == {name: 2 * count for name, count in counts.items()}


def test_a_point_says_what_it_counts() -> None:
    point = Point.of(fields("branch", 12, "if", "12-14,20"))
    assert (point.instance, point.lines) == (("atoll_chip", "u_npu"), (12, 13, 14, 20))
    assert Point.of(fields("branch", 12, "else")).lines == ()


def test_edges_of_neighbouring_bits_are_told_as_one() -> None:
    hits = {f"a.data[{bit}]:{edge}": 0 for bit in (0, 2, 3, 10) for edge in ("0->1", "1->0")}
    hits |= {"a.data[1]:0->1": 0, "a.data[1]:1->0": 5, "a.on:1->0": 0, "a.on:0->1": 1}
    found = Reached.of(hits)
    assert (found.hit, found.total) == (2, 12)
    assert set(found.holes) == {
        *("a.data[10] never changes", "a.data[3:2] never changes", "a.data[0] never changes"),
        *("a.data[1] never rises", "a.on never falls"),
    }


def test_lcov_gets_lines_and_branches_of_all_instances_of_a_module() -> None:
    points = [
        (fields("branch", 5, "if", "5-6"), 0),
        (fields("branch", 5, "if", "5-6", path="u_other"), 7),
        (fields("branch", 5, "else"), 0),
        (fields("line", 9, "block", "9"), 0),
        (fields("toggle", 2, "on:0->1"), 0),
    ]
    text = lcov_text((Point.of(each), count) for each, count in points)
    assert text.splitlines() == [
        *("TN:", "SF:/rtl/a.sv", "BRDA:5,3,0,0", "BRDA:5,3,1,7", "BRF:2", "BRH:1"),
        *("DA:5,7", "DA:6,7", "DA:9,0", "LF:3", "LH:2", "end_of_record"),
    ]


@pytest.mark.parametrize(
    ("spans", "hit"),
    [
        ([range(SHARED.origin - 4, SHARED.origin)], ""),
        ([range(SHARED.end, SHARED.end + 4)], ""),
        ([range(SHARED.origin + 1, SHARED.end - 1)], "some"),
        ([range(SHARED.origin, SHARED.origin + 1)], "some, first"),
        ([range(SHARED.end - 1, SHARED.end)], "some, last"),
    ],
)
def test_the_ends_of_a_pool_count_when_their_byte_is_touched(spans: list[range], hit: str) -> None:
    found = count_run(SOC, [], NPU, result_of([touch(AccessKind.WRITE, *spans)]))
    names = {"some": "", "first": ": first byte", "last": ": last byte"}
    done = {name for name, count in found[Group.ACCESSES].items() if count}
    assert done == {f"npu writes shared{names[each]}" for each in filter(None, hit.split(", "))}


def test_what_a_device_may_not_do_is_no_hole() -> None:
    names = count_run(SOC, [], NPU, result_of([]))[Group.ACCESSES]
    assert {name for name in names if name.endswith(" weights")} == {
        *("cpu reads weights", "npu reads weights"),
    }
    assert not any("private" in name for name in names if name.startswith("npu"))


def test_operators_interrupts_and_rules_are_those_of_hardware() -> None:
    compiled = compile_file(SOC, DIGITS)
    line = Line(source="npu", core="cpu", number=3, pulses=((1, 2), (5, None)))
    software = Line(source="dsp", core="cpu", number=SOFTWARE_LINE, pulses=((1, 2),))
    occasions = {("npu", 1): 3, ("npu", 2): 0}
    result = result_of([], 0, lines=(line, software), occasions=occasions)
    found = count_run(SOC, [compiled], NPU, result)
    assert found[Group.INTERRUPTS] == {
        "npu interrupts cpu, line 3": 2,
        "dsp interrupts cpu, the software interrupt": 1,
    }
    assert found[Group.RULES] == {"npu could break A1": 3, "npu could break A2": 0}
    ran = {name for name, count in found[Group.OPERATORS].items() if count}
    first = compiled.graph.operators[0]
    assert ran == {f"{first.device} runs {first.kind}"}
    assert not count_run(SOC, [compiled], frozenset(), result)[Group.RULES]


def test_runs_add_up_and_other_rtl_does_not(tmp_path: Path) -> None:
    compiled, result = compile_file(SOC, DIGITS), result_of([], 0)
    one = {fields("line", 9, "block", "9"): 0, fields("line", 7, "block", "7"): 2}
    add_run(tmp_path, [compiled], NPU, result, write_counts(one))
    said = add_run(tmp_path, [compiled], NPU, result, write_counts(one))
    assert said.endswith("1 of 2 lines of npu")
    assert "/rtl/a.sv:9\n" in (tmp_path / "coverage.md").read_text()
    assert read_counts((tmp_path / "lagoon.dat").read_text()) == add_counts(one, one)
    kept = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    other = {fields("line", 8, "block", "8"): 1}
    with pytest.raises(UsageError) as refused:
        add_run(tmp_path, [compiled], NPU, result, write_counts(other))
    assert refused.value.faults[0].code == "E258"
    assert kept == {file.name: file.read_bytes() for file in tmp_path.iterdir()}


@pytest.mark.parametrize("text", ["", "[]", '{"chips": {"lagoon": {}}}', '{"chips": 3}'])
def test_a_folder_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "coverage.json").write_text(text)
    with pytest.raises(UsageError) as refused:
        prepare_folder(tmp_path)
    assert refused.value.faults[0].code == "E258"


def tried(feature: str, least: int, most: int) -> FeatureCoverage:
    """Return values of a feature of convolutions that the kit drew."""
    limits = (None, None)
    return FeatureCoverage(
        operator="CONV_2D", feature=feature, least=least, most=most, limits=limits
    )


def test_the_kit_adds_up_both_instances_of_an_accelerator(tmp_path: Path) -> None:
    npu, kept, ran = SOC.device("npu"), tmp_path / "kept", tmp_path / "ran"
    assert isinstance(npu, Engine)
    name = npu.spec.name
    points = {
        fields("line", 9, "block", "9", path="u_first.u_core"): 0,
        fields("line", 9, "block", "9", path="u_second.u_core"): 4,
        fields("line", 7, "block", "7", path="u_first"): 0,
        fields("line", 5, "block", "5", path="u_first_bridge"): 1,
        fields("line", 3, "block", "3", path="u_cpu"): 1,
    }
    compiled, result = compile_file(SOC, DIGITS), result_of([], 0, occasions={("npu", 1): 3})
    add_run(ran, [compiled], NPU, result, write_counts(points))
    drawn = {"conv_2d": 2}
    seen = [tried("kernel_h", 1, 65535), tried("kernel_w", 1, 65534), tried("int8", 1, 1)]
    for runs in (1, 2):
        said = add_kit(kept, npu, ("first", "second"), drawn, seen, ran)
        (sums,) = read_sums(kept).values()
        assert sums.runs == runs
        assert sums.hits[Group.OPERATORS][f"{name} runs conv_2d"] == 2 * runs
        assert sums.hits[Group.RULES] == {f"{name} could break A1": 3 * runs}
        limits = {each: hits for each, hits in sums.hits[Group.LIMITS].items() if hits}
        assert limits == dict.fromkeys(REACHED, runs)
    assert said.endswith(f"1 of 1 rules, 1 of 2 lines of {name}")
    assert sorted(sums.counts.values()) == [0, 8]
    text = (kept / "coverage.md").read_text()
    assert text.startswith(f"# {name}-kit: 2 runs\n")
    assert "\n- conv_2d: kernel_w at most 65535\n" in text
    assert not any(f"- {each}\n" in text for each in REACHED)


def test_a_kit_without_rtl_adds_limits(tmp_path: Path) -> None:
    npu = SOC.device("npu")
    assert isinstance(npu, Engine)
    said = add_kit(tmp_path / "kept", npu, ("first",), {}, [], tmp_path / "absent")
    assert "lines" not in said
    assert not any(read_sums(tmp_path / "kept")[f"{npu.spec.name}-kit"].hits[Group.LIMITS].values())
    assert "RTL" not in (tmp_path / "kept" / "coverage.md").read_text()
