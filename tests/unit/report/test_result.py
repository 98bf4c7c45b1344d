# SPDX-License-Identifier: Apache-2.0
import io
import json
import re
from dataclasses import replace

import pytest
from rich.console import Console

from atoll.memory.problem import PoolUse
from atoll.report.result import LayerCycles, Mismatch, RunReport, StackUse, Violation
from atoll.report.text import render

VIOLATION = Violation(
    rule="overlap clobber",
    number="M3",
    device="npu",
    operator="conv_2d_0",
    buffer="image",
    offset=0x10,
    pool="shared",
    address=0x2000_0010,
    size=4,
    detail="'image' is live and npu may not write it now",
    key="pools.shared.memory",
    at="socs/lagoon.yaml:29:20",
    remedy="give 'image' bytes of its own",
    cycle=12_345,
)
MISMATCH = Mismatch(
    sample=0,
    tensor="y",
    operator="conv_2d_0",
    device="npu",
    first=3,
    count=2,
    expected=-1,
    actual=7,
)
CLOCK = 100_000_000
GOOD = RunReport(
    soc="lagoon",
    model="digits",
    model_sha256="",
    cpu="rtl",
    accelerator="rtl",
    samples=1,
    layers_compared=2,
    layers_equal=2,
    mismatches=(),
    accesses=1000,
    violations=(),
    stack={"cpu": StackUse(bound=300, watermark=200, limit=400, layer="built-in")},
    pools={"shared": PoolUse(size=64, used=32, peak=16, bound=16)},
    total_cycles=500,
    cycles_by_kind={"cpu": 100, "npu": 300},
    by_layer=(
        LayerCycles(
            operator="conv_2d_0",
            kind="conv_2d",
            device="npu",
            begin=100,
            cycles=300,
            worked=300,
            clock=CLOCK,
            host_clock=CLOCK,
        ),
    ),
    wall={"simulation": 0.25},
    host_clock=CLOCK,
)


def text(report: RunReport) -> str:
    console = Console(file=io.StringIO(), width=200, highlight=False)
    with console.capture() as captured:
        console.print(render(report))
    return captured.get()


@pytest.mark.parametrize(
    ("change", "passed"),
    [
        ({}, True),
        ({"violations": (VIOLATION,)}, False),
        ({"layers_equal": 1, "mismatches": (MISMATCH,)}, False),
        ({"layers_compared": 0, "layers_equal": 0}, False),
    ],
)
def test_only_a_run_that_proves_something_passes(change: dict[str, object], passed: bool) -> None:
    assert replace(GOOD, **change).passed is passed  # type: ignore[arg-type]


def test_the_json_keys_are_an_interface() -> None:
    data = json.loads(json.dumps(replace(GOOD, violations=(VIOLATION,)).as_json()))
    assert data["placement"]["accesses"] == 1000
    violation = data["placement"]["violations"][0]
    assert violation["address"] == 0x2000_0010
    assert (violation["number"], violation["offset_bytes"], violation["count"]) == ("M3", 16, 1)
    assert violation["at"] == "socs/lagoon.yaml:29:20"
    use = {
        "bound_bytes": 300,
        "watermark_bytes": 200,
        "limit_bytes": 400,
        "layer": "built-in",
        "unmeasured": "",
    }
    assert data["stack"] == {"cpu": use}
    assert data["pools"] == {
        "shared": {"size_bytes": 64, "used_bytes": 32, "peak_bytes": 16, "bound_bytes": 16}
    }
    assert data["cycles"]["total"] == 500
    assert (data["cycles"]["cpu"], data["cycles"]["npu"]) == (100, 300)
    assert data["cycles"]["by_layer"][0]["operator"] == "conv_2d_0"
    wanted = {"soc", "model", "samples", "bit_exact", "layers_compared", "layers_equal"}
    assert wanted <= set(data)


def test_the_text_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    report = replace(GOOD, layers_equal=1, mismatches=(MISMATCH,), violations=(VIOLATION,) * 11)
    shown = text(report)
    assert "1 of 2 layers bit-exact over 1 sample" in shown
    assert "first at element 3: expected -1, got 7" in shown
    assert shown.count("address 0x20000010 (4 B) at cycle 12,345") == 10
    assert "... and 1 more violations" in shown
    assert "11 placement violations in 1,000 accesses" in shown


def test_cycles_are_summed_by_device_and_not_by_kind() -> None:
    layers = tuple(
        replace(GOOD.by_layer[0], operator=f"op_{n}", device=name, begin=n, cycles=10 + n)
        for n, name in enumerate(("core_a", "core_b", "core_a"))
    )
    shown = text(replace(GOOD, by_layer=layers, cycles_by_kind={"cpu": 33}))
    assert re.search(r"all on core_a +22\n", shown)
    assert re.search(r"all on core_b +11\n", shown)
    assert "all on cpu" not in shown


def test_a_device_with_a_clock_of_its_own_has_its_cycles_and_their_time() -> None:
    shown = text(GOOD)
    assert "cycles by layer (first sample)" in shown
    assert "own cycles" not in shown
    fast = replace(GOOD.by_layer[0], clock=250_000_000, worked=123)
    report = replace(GOOD, by_layer=(fast,))
    shown = text(report)
    assert "cycles of the host by layer (first sample)" in shown
    assert re.search(r"conv_2d_0 +npu +100 +400 +300 +123 +0 +307 +3\.00\n", shown)
    cycles = report.as_json()["cycles"]
    assert (cycles["total_ns"], cycles["clock_hz"]) == (5_000, CLOCK)
    (layer,) = cycles["by_layer"]
    assert (layer["device_cycles"], layer["time_ns"]) == (307, 3_000)
    assert layer["clock_hz"] == 250_000_000


def test_a_run_without_judged_accesses_does_not_claim_that_none_broke_the_plan() -> None:
    shown = text(replace(GOOD, cpu="native", accelerator="none", accesses=0))
    assert "placement violation" not in shown
    assert "no accesses were judged: those of a native core are not recorded" in shown
    shown = text(replace(GOOD, cpu="native", accelerator="model", accesses=0))
    assert "no accesses were judged" in shown
    assert "no operator ran on an accelerator" in shown


def test_the_text_of_a_good_run_is_short() -> None:
    assert "0 placement violations in 1,000 accesses" in text(GOOD)
    assert "not measured" not in text(GOOD)
    quiet = {"cpu": StackUse(bound=None, watermark=None, limit=400, layer="built-in")}
    assert "not measured" in text(replace(GOOD, stack=quiet))
