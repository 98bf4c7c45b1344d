# SPDX-License-Identifier: Apache-2.0
"""K1, K4, K5: models that run on the stack of a thread, and both stacks in the budget."""

import re
from pathlib import Path

import numpy as np
import pytest
from tests.requests import load_requests

from atoll.artifacts.build_tree import build
from atoll.diagnostics.errors import PlanError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.report.text import render
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, Outcome, run_models

CRAB = Path(__file__).parents[1] / "data" / "crab.yaml"
DEEP = Path(__file__).parents[1] / "data" / "deep.yaml"
DIGITS = Path(__file__).parents[2] / "examples" / "01_digits"
MODEL = DIGITS / "digits_int8.tflite"
ON_IO = "devices.cpu.stack.runs=io"


def compiled(*overrides: str) -> Compiled:
    return compile_file(load_soc(DEEP, overrides), MODEL)


def run(network: Compiled) -> Outcome:
    (name,) = network.graph.inputs
    image = np.load(DIGITS / "digits_test.npz")["x"][0]
    sample = {name: image.reshape(network.graph.tensor(name).shape)}
    return run_models((network,), ([sample],), cpu=CpuKind.RTL, accelerator=AcceleratorKind.RTL)[0]


@pytest.mark.rtl
def test_k1_k5_a_run_on_a_thread_uses_its_stack_within_bound_and_limit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The main stack holds less than when models run on it; the bytes are the same."""
    network, plain = compiled(ON_IO), compiled()
    on_thread, on_main = run(network), run(plain)
    name = network.graph.outputs[0]
    assert on_thread.report.passed
    assert on_thread.outputs[0][name].tobytes() == on_main.outputs[0][name].tobytes()
    uses = on_thread.report.stack
    assert list(uses) == ["cpu", "cpu.io"]
    for use in uses.values():
        assert use.watermark is not None
        assert use.bound is not None
        assert 0 < use.watermark <= use.bound <= use.limit
    assert uses["cpu.io"].limit == 2048
    assert list(on_main.report.stack) == ["cpu"]
    before = on_main.report.stack["cpu"]
    assert before.watermark is not None
    assert before.bound is not None
    assert (uses["cpu"].watermark or 0) < before.watermark
    assert (uses["cpu"].bound or 0) < before.bound
    from rich.console import Console

    Console(width=200).print(render(on_thread.report, brief=True))
    assert "stack cpu.io" in capsys.readouterr().out


@pytest.mark.rtl
@pytest.mark.slow
def test_k1_k5_a_core_with_a_mailbox_runs_on_its_thread_in_rtl() -> None:
    """`audio_dsp.thread0.stack`, beside three threads of the host and two accelerators."""
    requests = load_requests(None, ["softmax_9=audio_dsp"])
    outcome = run(compile_file(load_soc(CRAB), MODEL, BuildOptions(requests=requests)))
    assert outcome.report.passed
    uses = outcome.report.stack
    assert set(uses) == {"cpu", "cpu.net", "audio_dsp", "audio_dsp.thread0"}
    for use in uses.values():
        assert use.watermark is not None
        assert use.bound is not None
        assert 0 < use.watermark <= use.bound <= use.limit


def test_k1_the_stack_of_the_main_thread_needs_no_room_for_models(tmp_path: Path) -> None:
    """1.5 KiB hold reset, main and interrupts; the run needs its own 2 KiB beside them."""
    small = ("devices.cpu.stack.size=1184", "devices.cpu.limits.max_stack_alloca_size=0")
    tree = build((compiled(ON_IO, *small),), tmp_path / "built")
    ((name, size),) = tree.firmware.stack.others
    assert name == "cpu.io.stack"
    assert tree.firmware.stack.bytes + 1024 <= 1184
    assert 0 < size <= 2048 - 1024


def test_k4_what_a_thread_may_not_hold_is_refused_by_the_layer_that_says_so(tmp_path: Path) -> None:
    """The remedy names the key that wins, not one that the thread's own limit overrides."""
    limit = "devices.cpu.limits.threads.io.max_stack_size"
    with pytest.raises(PlanError, match=r"'cpu.io.stack'.* is 1056 B \(from --set\)") as caught:
        build((compiled(ON_IO, f"{limit}=1056"),), tmp_path)
    (fault,) = caught.value.faults
    assert fault.remedy is not None
    found = re.fullmatch(rf"set '{limit}' to (\d+) B", fault.remedy)
    assert found is not None
    build((compiled(ON_IO, f"{limit}={found[1]}"),), tmp_path)


def test_k4_the_bound_before_code_generation_is_that_of_the_thread() -> None:
    network = compiled(ON_IO, "devices.cpu.limits.threads.io.max_stack_alloca_size=0")
    assert "softmax_9_powers" in network.plan.placements
    assert network.soc.host_cpu.max_stack_alloca_size.layer == "--set"
